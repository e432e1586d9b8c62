import { describe, expect, test } from 'vitest';
import { RedeliverError } from '../../../../shared/base/errors.ts';
import { encodeEntry } from '../../../../shared/mapping/rows/entry-wire.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import { commitSegments } from '../../../../shared/staged/commit/commit-segments.ts';
import { SEGMENT_LEASE_MILLIS } from '../../../../shared/staged/commit/held-segments.ts';
import { committing, keepingPolicy } from '../../../support/committer-harness.ts';
import { addition, cell, envelopeOf, rowEntry } from '../../../support/envelopes.ts';

const counting = (number: number, row = `row-${number % 3}`) =>
  envelopeOf(number, rowEntry(row, addition(1n), cell(String(number))));
const bad = (number: number) => envelopeOf(number, rowEntry('row', cell('bad')));

describe('the work of a checkpoint', () => {
  test('is written, deleted and counted down', async () => {
    const { table, store, checkpoint, commit, metrics } = committing();
    await checkpoint(1, { a: [counting(1), counting(2)], b: [counting(3)] });
    await commit(['a', 'b']);
    expect(table.sum).toBe(3n);
    expect(store.segments).toEqual([]);
    expect(store.checkpoints).toMatchObject([
      { remainingSegments: 0, remainingEnvelopes: 0, remainingBytes: 0, state: 'completed' },
    ]);
    const { counters, distributions } = metrics.snapshot();
    expect(counters).toMatchObject({ segmentsCommitted: 2, recordsApplied: 3, requestsCompleted: 3 });
    expect(counters.requestsFailed).toBeUndefined();
    expect(distributions.publishToAppliedLatency?.count).toBe(3);
  });

  test('costs one claim and one end for all of its segments', async () => {
    const { store, checkpoint, commit } = committing();
    await checkpoint(1, { a: [counting(1)], b: [counting(2)], c: [counting(3)] });
    const before = store.calls.length;
    await commit(['a', 'b', 'c']);
    expect(store.calls.slice(before).map(({ method }) => method)).toEqual(['readSegments', 'lease', 'finish']);
  });

  test('that is finished already is nothing to do', async () => {
    const { table, checkpoint, commit, metrics } = committing();
    await checkpoint(1, { a: [counting(1)] });
    await commit(['a']);
    await commit(['a', 'never-there']);
    expect(table.sum).toBe(1n);
    expect(metrics.snapshot().counters).toMatchObject({ segmentsCommitted: 1 });
  });

  test('of two segments that hold the same effect counts once', async () => {
    const { table, checkpoint, commit } = committing();
    await checkpoint(1, { a: [counting(1)], b: [counting(1)] });
    await commit(['a', 'b']);
    expect(table.sum).toBe(1n);
  });

  test('is on its way to a committer, and any may take it', async () => {
    const { store, checkpoint, commit } = committing();
    await checkpoint(1, { a: [counting(1)] });
    expect(store.segments[0]?.lease).toMatchObject({ holder: '', expiresAt: expect.any(Number) as number });
    await commit(['a']);
    expect(store.segments).toEqual([]);
  });
});

describe('a segment that another invocation holds', () => {
  test('is left to it while its claim lasts, and taken when it has run out', async () => {
    const { table, store, clock, checkpoint, commit, newCommitter } = committing({ delayMillis: () => 10 });
    await checkpoint(1, { a: [counting(1)], b: [counting(2)] });
    const [a] = await store.committing.readSegments(['a'], new AbortController().signal);
    if (!a) throw new Error('the segment is there');
    const lease = { holder: 'zombie', expiresAt: clock.now() + SEGMENT_LEASE_MILLIS, attempts: 0 };
    await store.committing.lease([{ id: 'a', version: a.version, lease }], new AbortController().signal);

    const first = commit(['a', 'b']);
    await clock.advance(100);
    await first;
    expect(store.segments.map(({ id }) => id)).toEqual(['a']);
    expect(table.sum).toBe(1n);

    await clock.advance(SEGMENT_LEASE_MILLIS + 5000);
    const second = commit(['a', 'b'], { committer: newCommitter() });
    await clock.advance(100);
    await second;
    expect(store.segments).toEqual([]);
    expect(table.sum).toBe(2n);
  });

  test('is claimed without the others when somebody was faster with it', async () => {
    const { table, store, checkpoint, commit } = committing();
    await checkpoint(1, { a: [counting(1)], b: [counting(2)] });
    let claims = 0;
    store.fault = ({ method }) => (method === 'lease' && (claims += 1) <= 2 ? 'conflict' : undefined);
    await commit(['a', 'b']);
    expect(table.sum).toBe(1n);
    expect(store.segments.map(({ id }) => id)).toEqual(['a']);
  });

  test('is given up when the claim is lost, without harm', async () => {
    const { table, store, clock, checkpoint, commit } = committing({ delayMillis: () => 40_000 });
    await checkpoint(1, { a: [counting(1)], b: [counting(2)] });
    const work = commit(['a', 'b']);
    await clock.advance(1000);
    const [a] = await store.committing.readSegments(['a'], new AbortController().signal);
    const lease = { holder: 'other', expiresAt: clock.now() + SEGMENT_LEASE_MILLIS, attempts: 1 };
    await store.committing.lease([{ id: 'a', version: a?.version ?? '', lease }], new AbortController().signal);
    await clock.advance(60_000);
    await work;
    expect(store.segments).toMatchObject([{ id: 'a', lease: { holder: 'other' } }]);
    expect(store.segments[0]?.problem).toBeUndefined();
    expect(table.sum).toBe(2n);
  });

  test('stays held by renewal for as long as it is drained', async () => {
    const { store, clock, checkpoint, commit } = committing({ delayMillis: () => 100_000 });
    await checkpoint(1, { a: [counting(1)] });
    const work = commit(['a']);
    for (let seconds = 0; seconds < 90; seconds += 10) {
      await clock.advance(10_000);
      expect(store.segments[0]?.lease?.expiresAt).toBeGreaterThan(clock.now());
    }
    await clock.advance(20_000);
    await work;
    expect(store.segments).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});

describe('a segment that cannot be finished', () => {
  test('is given back with the problem, and the others are finished', async () => {
    const { table, store, clock, checkpoint, commit, metrics } = committing({
      mishap: ({ rowKey }) => (rowKey.toString() === 'ill' ? { when: 'before', code: 'PERMISSION_DENIED' } : undefined),
    });
    await checkpoint(1, { a: [counting(1), counting(2, 'ill')], b: [counting(3)] });
    await expect(commit(['a', 'b'])).rejects.toThrow(RedeliverError);
    expect(table.sum).toBe(2n);
    expect(store.segments).toMatchObject([
      {
        id: 'a',
        lease: { holder: '', attempts: 1, expiresAt: clock.now() },
        problem: expect.stringMatching(/roles\/bigtable.user/) as string,
      },
    ]);
    expect(store.checkpoints).toMatchObject([{ remainingSegments: 1, remainingEnvelopes: 2 }]);
    expect(metrics.snapshot().counters).toMatchObject({ requestsFailed: 1, segmentsCommitted: 1 });
  });

  test('because its payload cannot be read keeps it', async () => {
    const { table, store, checkpoint, commit } = committing();
    const signal = new AbortController().signal;
    const payload = Buffer.from('0802', 'hex');
    await checkpoint(1, { a: [counting(1)] });
    await store.staging.stage([{ id: 'odd', envelopes: 1, payload, stagedAt: 0 }], signal);
    await checkpoint(2, {});
    await expect(commit(['a', 'odd'])).rejects.toThrow(/format version 2 cannot be read/);
    expect(store.segments).toMatchObject([{ id: 'odd', problem: expect.stringMatching(/version 2/) as string }]);
    expect(table.sum).toBe(1n);
  });

  test('because its invocation has ended is given back still, and the finished are finished', async () => {
    const { table, store, clock, checkpoint, commit } = committing({
      delayMillis: () => 100,
      mishap: ({ rowKey }) => (rowKey.toString() === 'ill' ? { when: 'before', code: 'UNAVAILABLE' } : undefined),
    });
    await checkpoint(1, { a: [counting(1, 'ill')], b: [counting(2)] });
    const controller = new AbortController();
    const work = expect(commit(['a', 'b'], { signal: controller.signal })).rejects.toMatchObject({
      reason: 'transient',
      message: expect.stringMatching(/^1 of 2 segments of checkpoint 1 .* UNAVAILABLE/) as string,
    });
    await clock.advance(250);
    controller.abort(new Error('the time is used up'));
    await clock.advance(10);
    await work;
    expect(store.segments).toMatchObject([{ id: 'a', lease: { holder: '', attempts: 1 } }]);
    expect(table.sum).toBe(1n);
    // Nothing goes on in the background.
    await clock.advance(60_000);
    expect(clock.pending).toBe(0);
  });

  test('because the store failed leaves its envelopes to the next attempt', async () => {
    for (const fault of ['error-before', 'error-after'] as const) {
      for (const failing of ['readSegments', 'lease', 'finish']) {
        const { table, store, clock, checkpoint, commit, newCommitter } = committing();
        await checkpoint(1, { a: [counting(1), counting(2)] });
        store.fault = ({ method }) => (method === failing ? fault : undefined);
        await expect(commit(['a']), `${failing} ${fault}`).rejects.toMatchObject({ reason: 'transient' });
        store.fault = () => undefined;
        await clock.advance(2 * SEGMENT_LEASE_MILLIS);
        await commit(['a'], { committer: newCommitter() });
        expect(store.segments).toEqual([]);
        expect(store.checkpoints).toMatchObject([{ remainingSegments: 0, remainingEnvelopes: 0 }]);
        expect(table.sum).toBe(2n);
      }
    }
  });
});

describe('an envelope that can never be applied', () => {
  test('keeps its segment under the policy fail, however often it comes', async () => {
    const { table, store, checkpoint, commit } = committing();
    await checkpoint(1, { a: [counting(1), bad(2)] });
    for (let round = 0; round < 2; round += 1) {
      await expect(commit(['a'])).rejects.toMatchObject({ reason: 'failure-policy' });
    }
    expect(store.segments).toMatchObject([
      { id: 'a', lease: { attempts: 2 }, problem: expect.stringMatching(/INVALID_ARGUMENT/) as string },
    ]);
    expect(table.sum).toBe(1n);
  });

  test('is handed to the policy as its entry, and its segment is finished when that is done', async () => {
    const { store, checkpoint, commit, newCommitter, metrics } = committing();
    const policy = keepingPolicy();
    await checkpoint(1, { a: [counting(1), bad(2)] });
    await commit(['a'], { committer: newCommitter(policy) });
    expect(store.segments).toEqual([]);
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

  test('is not handed over while anything else of its segment is unfinished', async () => {
    let isIll = true;
    const { checkpoint, commit, newCommitter } = committing({
      mishap: ({ rowKey }) =>
        isIll && rowKey.toString() === 'ill' ? { when: 'before', code: 'NOT_FOUND' } : undefined,
    });
    const policy = keepingPolicy();
    const committer = newCommitter(policy);
    await checkpoint(1, { a: [counting(1, 'ill'), bad(2)] });
    await expect(commit(['a'], { committer })).rejects.toMatchObject({ reason: 'missing-table' });
    expect(policy.handled).toEqual([]);
    isIll = false;
    await commit(['a'], { committer });
    expect(policy.handled).toHaveLength(1);
  });

  test('keeps its segment when its letter was not confirmed', async () => {
    const { store, checkpoint, commit, newCommitter } = committing();
    const refusal = new RedeliverError('dead-letter-unconfirmed', 'no topic');
    await checkpoint(1, { a: [bad(2)] });
    await expect(commit(['a'], { committer: newCommitter(keepingPolicy(refusal)) })).rejects.toMatchObject({
      reason: 'dead-letter-unconfirmed',
    });
    expect(store.segments).toMatchObject([{ id: 'a', problem: 'no topic' }]);
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
    await commit(['a'], { committer: newCommitter(policy) });
    expect(table.sum).toBe(1n);
    expect(policy.handled).toMatchObject([{ reason: 'beyond-horizon', record: { message: { messageId: '1' } } }]);
    expect(metrics.snapshot().counters).toMatchObject({ envelopesBeyondHorizon: 1 });
  });
});

describe('a target that is not sound', () => {
  test('gets nothing, is named with what to do, and is written once it is fixed', async () => {
    const { table, store, admin, checkpoint, commit } = committing();
    admin.profile = { kind: 'found', isSingleCluster: false, isTransactional: false };
    await checkpoint(1, { a: [counting(1)] });
    await expect(commit(['a'])).rejects.toThrow(/several clusters.*--transactional-writes/);
    expect(table.requests).toEqual([]);
    expect(store.segments).toMatchObject([{ problem: expect.stringMatching(/app profile default/) as string }]);
    admin.profile = { kind: 'found', isSingleCluster: true, isTransactional: true };
    await commit(['a']);
    expect(table.sum).toBe(1n);
  });

  test('holds up no envelope of another', async () => {
    const { table, admin, checkpoint, commit } = committing();
    admin.missing.add('gone');
    const lost = envelopeOf(1, rowEntry('k', addition(1n)), { table: tableName('p', 'i', 'gone') });
    await checkpoint(1, { a: [lost, counting(2)] });
    await expect(commit(['a'])).rejects.toThrow(/p\.i\.gone does not exist/);
    expect(table.sum).toBe(1n);
  });
});

test('every problem is told, and the rows of none', async () => {
  const { store, checkpoint, newCommitter } = committing({
    mishap: ({ rowKey }) =>
      rowKey.toString().startsWith('secret') ? { when: 'before', code: 'PERMISSION_DENIED' } : undefined,
  });
  await checkpoint(1, { a: [counting(1, 'secret-1'), counting(2, 'secret-2')] });
  const work = { pipeline: 'p', checkpoint: 1, segments: ['a'] };
  const failure = commitSegments(work, newCommitter(), new AbortController().signal);
  await expect(failure).rejects.toThrow(/1 of 1 segments of checkpoint 1 are not finished: .*\(one of 2\)/);
  await expect(failure).rejects.not.toThrow(/secret/);
  expect(JSON.stringify(store.segments)).not.toContain('secret');
});
