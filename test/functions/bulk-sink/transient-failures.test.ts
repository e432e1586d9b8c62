import { describe, expect, test } from 'vitest';
import type { StatusName } from '../../../shared/model/status.ts';
import { type SinkHarness, startSink } from '../../support/sink-harness.ts';
import { entryLine, goodEntry } from '../../support/test-entry.ts';

const THREE_LINES = ['a', 'b', 'c'].map((key) => entryLine(key, 'v')).join('\n');

const keys = async (sink: SinkHarness): Promise<string[]> => (await sink.rows()).map(({ key }) => key);

const keysOf = ({ requests }: SinkHarness): string[][] =>
  requests.map(({ entries }) => entries.map(({ rowKey }) => rowKey.toString()));

/** Statuses that are no judgement on a record and not worth waiting for, and the reason that each is counted under. */
const REDELIVERED: readonly [StatusName, 'transient' | 'refused'][] = [
  ['PERMISSION_DENIED', 'refused'],
  ['UNAUTHENTICATED', 'refused'],
  ['FAILED_PRECONDITION', 'refused'],
  ['OUT_OF_RANGE', 'refused'],
  ['UNIMPLEMENTED', 'refused'],
  ['INTERNAL', 'refused'],
  ['UNKNOWN', 'refused'],
  ['DATA_LOSS', 'refused'],
  ['ABORTED', 'transient'],
  ['RESOURCE_EXHAUSTED', 'transient'],
];

describe.each(REDELIVERED)('%s', (code, reason) => {
  test('of a whole request: redelivered after one attempt, never dead-lettered, applied once it is over', async () => {
    await using sink = await startSink({ deadLetters: 'topic' });
    const fault = sink.bigtable.faults.add({
      method: 'MutateRows',
      times: Infinity,
      effect: { kind: 'refuse', status: { code, message: 'as the test says' } },
    });
    const refused = await sink.push({ data: goodEntry('row') });
    expect(refused.status).toBe(503);
    expect(refused.text).toContain(`MutateRows on p.i.t answered ${code}: as the test says`);
    expect(fault.hits).toBe(1);
    expect(sink.count('messagesRedelivered', reason)).toBe(1);
    expect(sink.count('errorClass.errors', code)).toBe(1);

    fault.remove();
    expect((await sink.push({ data: goodEntry('row') })).status).toBe(204);
    expect(await keys(sink)).toEqual(['row']);
    expect(await sink.letters()).toEqual([]);
  });

  test('of one entry: its batch-mates are applied, the message is redelivered and not dead-lettered', async () => {
    await using sink = await startSink({ pipeline: { framing: 'ndjson' }, deadLetters: 'topic' });
    const statuses = new Map([[1, { code, message: 'as the test says' } as const]]);
    sink.bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'entry-statuses', statuses } });
    expect((await sink.push({ data: THREE_LINES })).status).toBe(503);
    expect(await keys(sink)).toEqual(['a', 'c']);
    expect(sink.count('recordsApplied')).toBe(2);

    expect((await sink.push({ data: THREE_LINES })).status).toBe(204);
    expect(await keys(sink)).toEqual(['a', 'b', 'c']);
    expect(await sink.letters()).toEqual([]);
  });
});

describe.each(['UNAVAILABLE', 'DEADLINE_EXCEEDED'] as const)('%s', (code) => {
  const status = { code, message: 'as the test says' };

  test('before anything is applied: a second attempt inside the invocation is seen and acknowledged', async () => {
    await using sink = await startSink();
    sink.bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'refuse', status } });
    expect((await sink.push({ data: goodEntry('row') })).status).toBe(204);
    expect(keysOf(sink)).toEqual([['row'], ['row']]);
    expect(sink.count('entriesRetried')).toBe(1);
  });

  test('after it was applied: sent again, and the stable timestamp leaves one version', async () => {
    await using sink = await startSink();
    sink.bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'lose-answer', status } });
    expect((await sink.push({ data: goodEntry('row') })).status).toBe(204);
    expect(keysOf(sink)).toEqual([['row'], ['row']]);
    expect(await sink.rows()).toEqual([{ key: 'row', cells: ['f:q@1000=v'] }]);
  });

  test('of one entry: only that one is sent again', async () => {
    await using sink = await startSink({ pipeline: { framing: 'ndjson' } });
    const statuses = new Map([[1, status]]);
    sink.bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'entry-statuses', statuses } });
    expect((await sink.push({ data: THREE_LINES })).status).toBe(204);
    expect(keysOf(sink)).toEqual([['a', 'b', 'c'], ['b']]);
    expect(await keys(sink)).toEqual(['a', 'b', 'c']);
  });

  test('without end: attempts go on until the invocation’s time is used up, then the message is redelivered', async () => {
    await using sink = await startSink({
      env: { CLOUD_RUN_TIMEOUT_SECONDS: '1' },
      pipeline: { writerOptions: { retryInitialBackoff: '10ms', retryMaxBackoff: '50ms' } },
      deadLetters: 'topic',
    });
    sink.bigtable.faults.add({ method: 'MutateRows', times: Infinity, effect: { kind: 'refuse', status } });
    const { status: answer, text } = await sink.push({ data: goodEntry('row') });
    expect(answer).toBe(503);
    expect(text).toContain(`the last answer was ${code}`);
    expect(sink.requests.length).toBeGreaterThan(2);
    expect(await sink.letters()).toEqual([]);
  });
});

describe('an answer that leaves entries out', () => {
  test.each([{ isRestApplied: false }, { isRestApplied: true }])(
    'a stream cut after some entries: only the unanswered are sent again (they were applied: $isRestApplied)',
    async ({ isRestApplied }) => {
      await using sink = await startSink({ pipeline: { framing: 'ndjson' } });
      const status = { code: 'UNAVAILABLE', message: 'cut' } as const;
      sink.bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'cut', entries: 1, isRestApplied, status } });
      expect((await sink.push({ data: THREE_LINES })).status).toBe(204);
      expect(keysOf(sink)).toEqual([
        ['a', 'b', 'c'],
        ['b', 'c'],
      ]);
      expect((await sink.rows()).map(({ cells }) => cells)).toEqual([['f:q@1000=v'], ['f:q@1000=v'], ['f:q@1000=v']]);
    },
  );

  test('a connection reset under the request is a transient failure, whatever status it comes as', async () => {
    await using sink = await startSink({ pipeline: { framing: 'ndjson' } });
    const status = { code: 'INTERNAL', message: 'Received RST_STREAM with code 2' } as const;
    sink.bigtable.faults.add({
      method: 'MutateRows',
      effect: { kind: 'cut', entries: 2, isRestApplied: false, status },
    });
    expect((await sink.push({ data: THREE_LINES })).status).toBe(204);
    expect(keysOf(sink)).toEqual([['a', 'b', 'c'], ['c']]);
  });

  test('a stream that ends with OK is no success for entries it does not name', async () => {
    await using sink = await startSink({
      env: { CLOUD_RUN_TIMEOUT_SECONDS: '1' },
      pipeline: { framing: 'ndjson' },
    });
    const silence = sink.bigtable.faults.add({
      method: 'MutateRows',
      times: Infinity,
      effect: { kind: 'cut', entries: 0, isRestApplied: false },
    });
    expect((await sink.push({ data: THREE_LINES })).status).toBe(503);
    expect(silence.hits).toBeGreaterThan(1);
    expect(sink.count('recordsApplied')).toBe(0);

    silence.remove();
    expect((await sink.push({ data: THREE_LINES })).status).toBe(204);
    expect(await keys(sink)).toEqual(['a', 'b', 'c']);
  });

  test('an answer without a status is no answer', async () => {
    await using sink = await startSink({ pipeline: { framing: 'ndjson' } });
    sink.bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'omit-status', index: 2 } });
    expect((await sink.push({ data: THREE_LINES })).status).toBe(204);
    expect(keysOf(sink)).toEqual([['a', 'b', 'c'], ['c']]);
  });

  test.each([
    ['a second answer for an entry', 0],
    ['an answer for an entry that was never sent', 3],
    ['an answer for an index past all counting', Number.MAX_SAFE_INTEGER],
  ])('%s changes nothing', async (_, index) => {
    await using sink = await startSink({ pipeline: { framing: 'ndjson' }, deadLetters: 'topic' });
    const status = { code: 'INVALID_ARGUMENT', message: 'stray' } as const;
    sink.bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'stray-answer', index, status } });
    expect((await sink.push({ data: THREE_LINES })).status).toBe(204);
    expect(keysOf(sink)).toEqual([['a', 'b', 'c']]);
    expect(await sink.letters()).toEqual([]);
  });
});
