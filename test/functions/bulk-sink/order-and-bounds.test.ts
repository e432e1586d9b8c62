import { describe, expect, test } from 'vitest';
import type { MutateRowsRequest } from '../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { startSink } from '../../support/sink-harness.ts';
import { badEntry, entryLine, goodEntry } from '../../support/test-entry.ts';

/** The values that the requests carried, in the order of requests, entries and mutations. */
const valuesOf = (requests: readonly MutateRowsRequest[]): string[] =>
  requests.flatMap(({ entries }) =>
    entries.flatMap(({ mutations }) =>
      mutations.map(({ mutation }) => (mutation?.$case === 'setCell' ? mutation.value.value.toString() : '')),
    ),
  );

describe('two hundred messages for one row, pushed at once', () => {
  const pushAll = (sink: Awaited<ReturnType<typeof startSink>>) =>
    Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        sink.push({ messageId: `v${index}`, data: goodEntry('hot', `v${index}`) }),
      ),
    );

  test.each([
    ['admitted as they come', { maxInFlightEntries: 1000 }],
    ['admitted ten at a time', { maxInFlightEntries: 10 }],
    ['with a linger', { linger: '5ms' }],
  ])('%s: written in the order of arrival, the last one wins', async (_, writerOptions) => {
    await using sink = await startSink({ pipeline: { writerOptions } });
    const answers = await pushAll(sink);
    expect(answers.every(({ status }) => status === 204)).toBe(true);
    expect(valuesOf(sink.requests)).toEqual(sink.arrivals);
    expect(await sink.rows()).toEqual([{ key: 'hot', cells: [`f:q@1000=${sink.arrivals.at(-1) ?? ''}`] }]);
    // A hot row costs requests, not one each.
    expect(sink.requests.length).toBeLessThan(100);
  });

  test('under transient failures: what is sent again comes before what arrived later', async () => {
    await using sink = await startSink();
    const status = { code: 'UNAVAILABLE', message: 'as the test says' } as const;
    sink.bigtable.faults.add({ method: 'MutateRows', times: 3, effect: { kind: 'lose-answer', status } });
    expect((await pushAll(sink)).every((answer) => answer.status === 204)).toBe(true);
    const last = new Map(valuesOf(sink.requests).map((value, index) => [value, index]));
    const inOrder = [...last].toSorted(([, a], [, b]) => a - b).map(([value]) => value);
    expect(inOrder).toEqual(sink.arrivals);
    expect(await sink.rows()).toEqual([{ key: 'hot', cells: [`f:q@1000=${sink.arrivals.at(-1) ?? ''}`] }]);
  });

  test('with bad ones among them: the good ones are written in the order of arrival', async () => {
    await using sink = await startSink({ pipeline: { failurePolicy: 'log-and-drop' } });
    const pushes = Array.from({ length: 60 }, (_, index) =>
      sink.push({ messageId: `v${index}`, data: index % 25 === 10 ? badEntry('hot') : goodEntry('hot', `v${index}`) }),
    );
    expect((await Promise.all(pushes)).every(({ status }) => status === 204)).toBe(true);
    const good = sink.arrivals.filter((id) => !['v10', 'v35'].includes(id));
    expect(await sink.rows()).toEqual([{ key: 'hot', cells: [`f:q@1000=${good.at(-1) ?? ''}`] }]);
    expect(sink.count('recordsDropped')).toBe(2);
  });
});

describe('what is in flight', () => {
  /** How long every request stays at the server at least, which makes what overlaps measurable from outside. */
  const HELD_MILLIS = 15;

  test('never exceeds maxInFlightEntries, and everything is applied', async () => {
    await using sink = await startSink({
      pipeline: { framing: 'ndjson', writerOptions: { maxInFlightEntries: 10, maxConcurrentBatches: 100 } },
    });
    const seen: { readonly at: number; readonly entries: number }[] = [];
    sink.bigtable.faults.add({
      method: 'MutateRows',
      times: Infinity,
      where: ({ entries }) => {
        seen.push({ at: performance.now(), entries: entries.length });
        return true;
      },
      effect: { kind: 'delay', delayMillis: HELD_MILLIS },
    });
    const pushes = Array.from({ length: 5 }, (_, message) => {
      const lines = Array.from({ length: 100 }, (__, index) => entryLine(`row-${message}-${index}`, 'v'));
      return sink.push({ data: lines.join('\n') });
    });
    expect((await Promise.all(pushes)).every(({ status }) => status === 204)).toBe(true);
    expect(sink.bigtable.tables().map(({ rows }) => rows)).toEqual([500]);
    const together = seen.map(({ at }) =>
      seen
        .filter((other) => other.at <= at && at < other.at + HELD_MILLIS)
        .reduce((sum, { entries }) => sum + entries, 0),
    );
    expect(Math.max(...together)).toBeLessThanOrEqual(10);
    expect(Math.max(...together)).toBeGreaterThan(1);
  });

  test('an entry above maxInFlightBytes is admitted alone and moves', async () => {
    await using sink = await startSink({ pipeline: { writerOptions: { maxInFlightBytes: '1KiB' } } });
    const pushes = ['a', 'b', 'c'].map((key) => sink.push({ data: goodEntry(key, Buffer.alloc(5000)) }));
    expect((await Promise.all(pushes)).every(({ status }) => status === 204)).toBe(true);
    expect(sink.requests.map(({ entries }) => entries.length)).toEqual([1, 1, 1]);
  });

  test('no request holds more entries or concurrent requests than configured', async () => {
    await using sink = await startSink({
      pipeline: { framing: 'ndjson', writerOptions: { batchElementCountThreshold: 7, maxConcurrentBatches: 2 } },
    });
    sink.bigtable.faults.stall();
    const lines = Array.from({ length: 50 }, (_, index) => entryLine(`row-${index}`, 'v'));
    const answer = sink.push({ data: lines.join('\n') });
    await expect.poll(() => sink.bigtable.requestCounts().MutateRows).toBe(2);
    sink.bigtable.faults.resume();
    expect((await answer).status).toBe(204);
    expect(sink.requests.map(({ entries }) => entries.length)).toEqual([7, 7, 7, 7, 7, 7, 7, 1]);
  });
});
