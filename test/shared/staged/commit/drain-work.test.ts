import { describe, expect, test } from 'vitest';
import { RedeliverError } from '../../../../shared/base/errors.ts';
import { encodeEntry } from '../../../../shared/mapping/rows/entry-wire.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import { encodeSegment } from '../../../../shared/staged/envelope/segment.ts';
import { segmentId } from '../../../../shared/staged/segment-id.ts';
import { committing, keepingPolicy } from '../../../support/committer-harness.ts';
import { addition, cell, envelopeOf, rowEntry } from '../../../support/envelopes.ts';

const counting = (number: number, row = `row-${number % 3}`) =>
  envelopeOf(number, rowEntry(row, addition(1n), cell(String(number))));
const bad = (number: number) => envelopeOf(number, rowEntry('row', cell('bad')));
const { signal } = new AbortController();
const HALF_A_MINUTE = 30_000;

describe('the work of a checkpoint', () => {
  test('is written and deleted', async () => {
    const { table, store, checkpoint, commit, metrics } = committing();
    await checkpoint(1, { a: [counting(1), counting(2)], b: [counting(3)] });
    await commit();
    expect(table.sum).toBe(3n);
    expect(store.segments).toEqual([]);
    const { counters, distributions } = metrics.snapshot();
    expect(counters).toMatchObject({ segmentsCommitted: 2, recordsApplied: 3, requestsCompleted: 3 });
    expect(counters.requestsFailed).toBeUndefined();
    expect(distributions.publishToAppliedLatency?.count).toBe(3);
  });

  test('costs a read and a delete for each segment, and nothing is written to one', async () => {
    const { store, checkpoint, commit, idOf } = committing();
    await checkpoint(1, { a: [counting(1)], b: [counting(2)], c: [counting(3)] });
    await commit({ segments: [] });
    store.isLogging = true;
    Object.assign(store.billed, { reads: 0, writes: 0, deletes: 0 });
    await commit({ segments: ['a', 'b', 'c'].map(idOf) });
    // And of an instance that knows nothing yet: a read of the pipeline, and one of its cluster, which the first notes.
    expect(store.billed).toEqual({ reads: 3 + 2, writes: 1, deletes: 3 });
    expect(store.log.map(({ document }) => document).filter((document) => document.startsWith('segments/'))).toEqual(
      ['a', 'b', 'c'].map((name) => `segments/${idOf(name)}`),
    );
  });

  test('that is finished already is nothing to do', async () => {
    const { table, checkpoint, commit, metrics } = committing();
    await checkpoint(1, { a: [counting(1)] });
    await commit();
    await commit();
    await commit({ segments: ['never-there'] });
    expect(table.sum).toBe(1n);
    expect(metrics.snapshot().counters).toMatchObject({ segmentsCommitted: 1 });
  });

  test('done by two at once counts once', async () => {
    const { table, store, clock, checkpoint, commit, newCommitter } = committing({ delayMillis: () => 10 });
    await checkpoint(1, { a: [counting(1), counting(2)], b: [counting(2), counting(3)] });
    const both = Promise.all([commit(), commit(1, { committer: newCommitter() })]);
    await clock.advance(1000);
    await both;
    expect(table.sum).toBe(3n);
    expect(store.segments).toEqual([]);
  });

  test('of more segments than fit in memory is done page by page', async () => {
    const { table, store, checkpoint, commit } = committing();
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`s${index}`, [counting(index + 1)]]));
    await checkpoint(1, many);
    const before = store.calls.length;
    await commit();
    expect(table.sum).toBe(500n);
    expect(store.segments).toEqual([]);
    expect(store.calls.slice(before).filter(({ method }) => method === 'readRange').length).toBeGreaterThan(8);
  });

  test('takes what comes into its range while it is done', async () => {
    const { table, store, clock, checkpoint, commit } = committing({ delayMillis: () => 100 });
    await checkpoint(
      1,
      Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`s${index}`, [counting(index + 1)]])),
    );
    const work = commit({ ranges: [{ from: '0-000000000001-', to: '0-000000000001.' }] });
    await clock.advance(50);
    const late = segmentId(0, 1, 'f'.repeat(16));
    await store.staging.stage(
      [{ id: late, envelopes: 1, payload: encodeSegment([counting(99)]), stagedAt: 0 }],
      signal,
    );
    await clock.advance(1000);
    await work;
    // Eight of the lane were a full page, so the range was asked again.
    expect(table.sum).toBe(9n);
    expect(store.segments.map(({ id }) => id)).not.toContain(late);
  });
});

describe('a segment whose checkpoint is not complete', () => {
  test('is left alone, whoever asks for it, and written once it is', async () => {
    const { table, store, checkpoint, commit, logs } = committing();
    await checkpoint(1, {});
    const id = segmentId(0, 2, '0'.repeat(16));
    await store.staging.stage([{ id, envelopes: 1, payload: encodeSegment([counting(1)]), stagedAt: 0 }], signal);
    await commit({ segments: [id] });
    await commit(2);
    expect(table.requests).toEqual([]);
    expect(logs).toMatchObject([
      { completed: 1, asked: 2, segments: 1 },
      { completed: 1, asked: 2 },
    ]);
    await checkpoint(2, {});
    await commit(2);
    expect(table.sum).toBe(1n);
  });

  test('of the format before has no number, and may be written at once', async () => {
    const { table, store, commit } = committing();
    const id = '0b8e4d0a-93d5-4c4e-8d0f-5a5b1d0c7a11';
    await store.staging.stage([{ id, envelopes: 1, payload: encodeSegment([counting(1)]), stagedAt: 0 }], signal);
    await commit({ segments: [id] });
    expect(table.sum).toBe(1n);
    expect(store.segments).toEqual([]);
  });
});

describe('what is only unavailable', () => {
  test('stays as it is and asks for redelivery, and the others are finished', async () => {
    const { table, store, clock, checkpoint, commit, idOf, metrics } = committing({
      mishap: ({ rowKey }) => (rowKey.toString() === 'ill' ? { when: 'before', code: 'UNAVAILABLE' } : undefined),
    });
    await checkpoint(1, { a: [counting(1), counting(2, 'ill')], b: [counting(3)] });
    store.isLogging = true;
    const work = expect(commit()).rejects.toMatchObject({
      reason: 'transient',
      message: expect.stringMatching(/^1 segments are not finished: .* UNAVAILABLE/) as string,
    });
    await clock.advance(60_000);
    await work;
    expect(table.sum).toBe(2n);
    expect(store.segments.map(({ id }) => id)).toEqual([idOf('a')]);
    expect(store.rests).toEqual([]);
    // The cluster, which the first instance notes, and the end of the one that is finished.
    expect(store.log.map(({ document }) => document)).toEqual(['pipeline', `segments/${idOf('b')}`]);
    expect(metrics.snapshot().counters).toMatchObject({ requestsFailed: 1, segmentsCommitted: 1 });
  });

  test('keeps its segment whole, also where something else of it is refused: a letter is not filed twice', async () => {
    let isIll = true;
    const { store, clock, checkpoint, commit, newCommitter } = committing({
      mishap: ({ rowKey }) =>
        isIll && rowKey.toString() === 'ill' ? { when: 'before', code: 'UNAVAILABLE' } : undefined,
    });
    const policy = keepingPolicy();
    const committer = newCommitter(policy);
    await checkpoint(1, { a: [counting(1, 'ill'), bad(2)] });
    const work = expect(commit(1, { committer })).rejects.toThrow(RedeliverError);
    await clock.advance(60_000);
    await work;
    expect(policy.handled).toEqual([]);
    expect(store.segments).toHaveLength(1);
    isIll = false;
    await commit(1, { committer });
    expect(policy.handled).toHaveLength(1);
    expect(store.segments).toEqual([]);
  });

  test('because its invocation has ended stays, and the finished are finished', async () => {
    const { table, store, clock, checkpoint, commit, idOf } = committing({
      delayMillis: () => 100,
      mishap: ({ rowKey }) => (rowKey.toString() === 'ill' ? { when: 'before', code: 'UNAVAILABLE' } : undefined),
    });
    await checkpoint(1, { a: [counting(1, 'ill')], b: [counting(2)] });
    const controller = new AbortController();
    const work = expect(commit({ segments: [idOf('a'), idOf('b')] }, { signal: controller.signal })).rejects.toThrow(
      RedeliverError,
    );
    await clock.advance(250);
    controller.abort(new Error('the time is used up'));
    await clock.advance(10);
    await work;
    expect(store.segments.map(({ id }) => id)).toEqual([idOf('a')]);
    expect(table.sum).toBe(1n);
    // Nothing goes on in the background.
    await clock.advance(60_000);
    expect(clock.pending).toBe(0);
  });

  test('because the store failed leaves its envelopes to the next attempt', async () => {
    for (const fault of ['error-before', 'error-after'] as const) {
      for (const failing of ['readPipeline', 'readRange', 'finish']) {
        const { table, store, checkpoint, commit, newCommitter } = committing();
        await checkpoint(1, { a: [counting(1), counting(2)] });
        store.fault = ({ method }) => (method === failing ? fault : undefined);
        await expect(commit(), `${failing} ${fault}`).rejects.toMatchObject({ reason: 'transient' });
        store.fault = () => undefined;
        await commit(1, { committer: newCommitter() });
        expect(store.segments).toEqual([]);
        expect(table.sum).toBe(2n);
      }
    }
  });

  test('because its payload cannot be read stays for a version that can, and holds up no other', async () => {
    const { table, store, checkpoint, commit, logs } = committing();
    await checkpoint(1, { a: [counting(1)] });
    const id = segmentId(0, 1, 'f'.repeat(16));
    await store.staging.stage([{ id, envelopes: 1, payload: Buffer.from('0802', 'hex'), stagedAt: 0 }], signal);
    await expect(commit()).rejects.toMatchObject({ reason: 'unexpected' });
    expect(JSON.stringify(logs)).toMatch(/format version 2 cannot be read/);
    expect(store.segments.map((segment) => segment.id)).toEqual([id]);
    expect(table.sum).toBe(1n);
  });
});

describe('what is refused for its own sake', () => {
  test('is set apart, with what is open of it and nothing else, and the message is acknowledged', async () => {
    const { table, store, clock, checkpoint, commit, idOf, metrics, logs } = committing();
    await checkpoint(1, { a: [...Array.from({ length: 500 }, (_, index) => counting(index + 1)), bad(1000)] });
    await commit();
    expect(table.sum).toBe(500n);
    expect(store.segments).toEqual([]);
    expect(store.rests).toMatchObject([
      {
        id: idOf('a'),
        envelopes: 1,
        attempts: 0,
        tryAt: clock.now() + HALF_A_MINUTE,
        problem: expect.stringMatching(/INVALID_ARGUMENT/) as string,
      },
    ]);
    expect(store.rests[0]?.bytes).toBeLessThan(500);
    expect(metrics.snapshot().counters).toMatchObject({ envelopesSetApart: 1, segmentsCommitted: 1 });
    expect(logs).toMatchObject([{ severity: 'ERROR', envelopes: 1 }]);
  });

  test('is tried again alone, after half a minute and then at doubling distances up to a quarter of an hour', async () => {
    const { table, store, clock, checkpoint, commit, idOf } = committing();
    await checkpoint(1, { a: [counting(1), bad(2)] });
    await commit();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const wait = (store.rests[0]?.tryAt ?? 0) - clock.now();
      waits.push(wait);
      await clock.advance(wait);
      const before = table.requests.length;
      await commit({ rests: [idOf('a')] });
      expect(table.requests.length - before).toBe(1);
    }
    expect(waits.map((millis) => millis / 1000)).toEqual([30, 60, 120, 240, 480, 900, 900, 900]);
    expect(store.rests).toMatchObject([{ attempts: 8 }]);
  });

  test('is not tried before its time, whoever asks', async () => {
    const { table, clock, checkpoint, commit, idOf } = committing();
    await checkpoint(1, { a: [bad(2)] });
    await commit();
    const before = table.requests.length;
    await clock.advance(20_000);
    await commit({ rests: [idOf('a'), 'never-there'] });
    expect(table.requests.length).toBe(before);
  });

  test('goes once its cause is fixed, with no hand on a document', async () => {
    let isMissing = true;
    const { table, store, clock, checkpoint, commit, idOf, metrics } = committing({
      mishap: ({ rowKey }) =>
        isMissing && rowKey.toString() === 'ill' ? { when: 'before', code: 'PERMISSION_DENIED' } : undefined,
    });
    await checkpoint(1, { a: [counting(1), counting(2, 'ill'), counting(3, 'ill')] });
    await commit();
    expect(store.rests).toMatchObject([
      { envelopes: 2, problem: expect.stringMatching(/roles\/bigtable.user/) as string },
    ]);
    isMissing = false;
    await clock.advance(HALF_A_MINUTE);
    await commit({ rests: [idOf('a')] });
    expect(table.sum).toBe(3n);
    expect(store.rests).toEqual([]);
    expect(metrics.snapshot().counters).toMatchObject({ restsFinished: 1 });
  });

  test('of two who try it again one writes it, and both count once', async () => {
    const { table, store, clock, checkpoint, commit, idOf, newCommitter } = committing({ delayMillis: () => 10 });
    await checkpoint(1, { a: [bad(2)] });
    const first = commit();
    await clock.advance(100);
    await first;
    await clock.advance(HALF_A_MINUTE);
    const both = Promise.all([
      commit({ rests: [idOf('a')] }),
      commit({ rests: [idOf('a')] }, { committer: newCommitter(keepingPolicy()) }),
    ]);
    await clock.advance(100);
    await both;
    expect(store.rests.length).toBeLessThanOrEqual(1);
    expect(table.sum).toBe(0n);
  });

  test('as one large envelope keeps its parts', async () => {
    let isMissing = true;
    const { table, store, clock, checkpoint, commit, idOf } = committing({
      mishap: () => (isMissing ? { when: 'before', code: 'NOT_FOUND' } : undefined),
    });
    const large = envelopeOf(1, rowEntry('row', addition(1n), cell('v'.repeat(2_000_000))));
    await checkpoint(1, { a: [large] });
    await commit();
    expect(store.rests).toMatchObject([{ parts: 2, envelopes: 1 }]);
    isMissing = false;
    await clock.advance(2 * HALF_A_MINUTE);
    await commit({ rests: [idOf('a')] });
    expect(table.sum).toBe(1n);
    expect(store.rests).toEqual([]);
  });

  test('comes back when the client repeats the commit that set it apart, and goes again', async () => {
    let isMissing = true;
    const { table, store, clock, checkpoint, commit, idOf } = committing({
      mishap: () => (isMissing ? { when: 'before', code: 'NOT_FOUND' } : undefined),
    });
    await checkpoint(1, { a: [counting(1)] });
    store.fault = ({ method }) => (method === 'finish' ? { againAfterMillis: 300_000 } : undefined);
    await commit();
    isMissing = false;
    await clock.advance(HALF_A_MINUTE);
    await commit({ rests: [idOf('a')] });
    expect(store.rests).toEqual([]);
    await clock.advance(300_000);
    expect(store.rests).toHaveLength(1);
    await commit({ rests: [idOf('a')] });
    expect(store.rests).toEqual([]);
    expect(table.sum).toBe(1n);
  });
});

describe('an envelope that can never be applied', () => {
  test('is handed to the policy as its entry, and its segment is finished when that is done', async () => {
    const { store, checkpoint, commit, newCommitter, metrics } = committing();
    const policy = keepingPolicy();
    await checkpoint(1, { a: [counting(1), bad(2)] });
    await commit(1, { committer: newCommitter(policy) });
    expect(store.segments).toEqual([]);
    expect(store.rests).toEqual([]);
    expect(policy.handled).toMatchObject([
      {
        reason: 'rejected',
        destination: tableName('p', 'i', 't'),
        record: { index: 0, message: { messageId: '2', publishTimeMicros: 1_700_000_000_000_000n } },
      },
    ]);
    const [failed] = policy.handled;
    expect(failed?.entry && encodeEntry(failed.entry)).toEqual(encodeEntry(rowEntry('row', cell('bad'))));
    expect(metrics.snapshot().counters).toMatchObject({ numRecordsSendErrors: 1 });
  });

  test('is set apart when its letter was not confirmed, and filed once it can be', async () => {
    const { store, clock, checkpoint, commit, idOf, newCommitter } = committing();
    const refusal = new RedeliverError('dead-letter-unconfirmed', 'no topic');
    await checkpoint(1, { a: [counting(1), bad(2)] });
    await commit(1, { committer: newCommitter(keepingPolicy(refusal)) });
    expect(store.rests).toMatchObject([{ envelopes: 1, problem: 'no topic' }]);
    const policy = keepingPolicy();
    await clock.advance(HALF_A_MINUTE);
    await commit({ rests: [idOf('a')] }, { committer: newCommitter(policy) });
    expect(policy.handled).toHaveLength(1);
    expect(store.rests).toEqual([]);
  });

  test.each([
    ['UNAVAILABLE', 14],
    ['DEADLINE_EXCEEDED', 4],
    ['ABORTED', 10],
    ['INTERNAL', 13],
    ['RESOURCE_EXHAUSTED', 8],
  ])('stays as it is while the topic of letters is only away: %s rewrites nothing', async (name, code) => {
    const { store, table, checkpoint, commit, idOf, newCommitter } = committing();
    const cause = Object.assign(new Error(`${code} ${name}: away`), { code });
    const outage = new RedeliverError('dead-letter-unconfirmed', 'no topic', { cause });
    await checkpoint(1, { a: [counting(1), bad(2)], b: [counting(3)] });
    const before = store.segments.filter(({ id }) => id === idOf('a'));
    await expect(commit(1, { committer: newCommitter(keepingPolicy(outage)) })).rejects.toThrow(RedeliverError);
    expect(store.rests).toEqual([]);
    expect(before).toHaveLength(1);
    expect(store.segments).toEqual(before);
    const policy = keepingPolicy();
    await commit(1, { committer: newCommitter(policy) });
    expect(policy.handled).toHaveLength(1);
    expect(table.sum).toBe(2n);
    expect([store.segments, store.rests]).toEqual([[], []]);
  });

  test.each([
    ['NOT_FOUND', 5],
    ['PERMISSION_DENIED', 7],
    ['INVALID_ARGUMENT', 3],
  ])('is set apart where the topic refuses its letter: %s', async (name, code) => {
    const { store, checkpoint, commit, newCommitter } = committing();
    const cause = Object.assign(new Error(`${code} ${name}`), { code });
    await checkpoint(1, { a: [counting(1), bad(2)] });
    const refusal = new RedeliverError('dead-letter-unconfirmed', 'refused', { cause });
    await commit(1, { committer: newCommitter(keepingPolicy(refusal)) });
    expect(store.rests).toMatchObject([{ envelopes: 1, problem: 'refused' }]);
    expect(store.segments).toEqual([]);
  });

  test('because it is too old is quarantined, never applied', async () => {
    const DAY = 24 * 3_600_000;
    const { table, clock, checkpoint, commit, newCommitter, metrics } = committing(
      {},
      { markerHorizonMillis: 8 * DAY },
    );
    const policy = keepingPolicy();
    const stampedAt = (millis: number) => ({ markerTimestampMicros: BigInt(millis) * 1000n });
    const old = envelopeOf(1, rowEntry('k', addition(1n)), stampedAt(clock.now() - 9 * DAY));
    const young = envelopeOf(2, rowEntry('k', addition(1n)), stampedAt(clock.now() - 7 * DAY));
    await checkpoint(1, { a: [old, young] });
    await commit(1, { committer: newCommitter(policy) });
    expect(table.sum).toBe(1n);
    expect(policy.handled).toMatchObject([{ reason: 'beyond-horizon', record: { message: { messageId: '1' } } }]);
    expect(metrics.snapshot().counters).toMatchObject({ envelopesBeyondHorizon: 1 });
  });
});

describe('a target that is not sound', () => {
  test('gets nothing, is named with what to do, and is written once it is fixed', async () => {
    const { table, store, clock, admin, checkpoint, commit, idOf } = committing();
    admin.profile = { kind: 'found', isSingleCluster: false, isTransactional: false };
    await checkpoint(1, { a: [counting(1)] });
    await commit();
    expect(table.requests).toEqual([]);
    expect(store.rests).toMatchObject([
      { problem: expect.stringMatching(/app profile default.*several clusters.*--transactional-writes/) as string },
    ]);
    admin.profile = { kind: 'found', isSingleCluster: true, isTransactional: true };
    await clock.advance(HALF_A_MINUTE);
    await commit({ rests: [idOf('a')] });
    expect(table.sum).toBe(1n);
    expect(store.rests).toEqual([]);
  });

  test('holds up no envelope of another', async () => {
    const { table, store, admin, checkpoint, commit } = committing();
    admin.missing.add('gone');
    const lost = envelopeOf(1, rowEntry('k', addition(1n)), { table: tableName('p', 'i', 'gone') });
    await checkpoint(1, { a: [lost, counting(2)] });
    await commit();
    expect(table.sum).toBe(1n);
    expect(store.rests).toMatchObject([
      { envelopes: 1, problem: expect.stringMatching(/p\.i\.gone does not exist/) as string },
    ]);
  });
});

describe('an envelope that names a family which is missing', () => {
  test('is set apart alone, the others of its segment are written, and it goes once there is the family', async () => {
    const { table, store, clock, admin, checkpoint, commit, idOf } = committing();
    const good = Array.from({ length: 500 }, (_, index) => counting(index + 1, `r${index}`));
    const lost = envelopeOf(5000, rowEntry('other', addition(1n), cell('v', 'nope')));
    await checkpoint(1, { a: [...good, lost] });
    await commit();
    expect(table.sum).toBe(500n);
    expect(store.segments).toEqual([]);
    expect(store.rests).toMatchObject([
      { envelopes: 1, problem: expect.stringMatching(/the column family nope of p\.i\.t does not exist/) as string },
    ]);
    admin.families.set('nope', { type: 'raw', keptMillis: Infinity });
    await clock.advance(HALF_A_MINUTE);
    await commit({ rests: [idOf('a')] });
    expect(table.sum).toBe(501n);
    expect(store.rests).toEqual([]);
  });
});

describe('one that Bigtable refuses among 2,000 of one row', () => {
  test('costs at most 40 requests at first, and one at each retry; of several refused each costs one', async () => {
    const { table, store, clock, checkpoint, commit, idOf, newCommitter } = committing();
    const good = Array.from({ length: 2000 }, (_, index) => counting(index + 1, 'row'));
    await checkpoint(1, { a: [...good, bad(5000)], b: [bad(5001), bad(5002), bad(5003)] });
    await commit({ segments: [idOf('a')] });
    expect(table.sum).toBe(2000n);
    expect(table.calls).toBeLessThanOrEqual(40);
    await commit({ segments: [idOf('b')] });
    for (const [name, requests] of [
      ['a', 1],
      ['b', 3],
    ] as const) {
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const rest = store.rests.find(({ id }) => id === idOf(name));
        await clock.advance(Math.max(0, (rest?.tryAt ?? 0) - clock.now()));
        const before = table.calls;
        await commit({ rests: [idOf(name)] }, { committer: newCommitter() });
        expect(table.calls - before).toBe(requests);
      }
    }
  });
});

test('every problem is told, and the rows of none', async () => {
  const { store, checkpoint, commit, logs } = committing({
    mishap: ({ rowKey }) =>
      rowKey.toString().startsWith('secret') ? { when: 'before', code: 'PERMISSION_DENIED' } : undefined,
  });
  await checkpoint(1, { a: [counting(1, 'secret-1'), counting(2, 'secret-2')] });
  await commit();
  expect(logs).toMatchObject([{ envelopes: 2, message: expect.stringMatching(/roles\/bigtable.user/) as string }]);
  expect(JSON.stringify([store.rests, logs])).not.toContain('secret');
});
