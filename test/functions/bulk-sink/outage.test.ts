import { describe, expect, test } from 'vitest';
import { startBigtableServer } from '../../../infra/local/servers/bigtable/server.ts';
import { ensureTables } from '../../../infra/local/cloud/table-resources.ts';
import { tableName } from '../../../shared/model/table-name.ts';
import { connect, readRows } from '../../support/bigtable-raw-client.ts';
import { startSink, TABLE } from '../../support/sink-harness.ts';
import { SteppedClock } from '../../support/stepped-clock.ts';
import { entryLine, goodEntry } from '../../support/test-entry.ts';

describe('a server that is slow', () => {
  test('is waited for', async () => {
    await using sink = await startSink();
    sink.bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'delay', delayMillis: 150 } });
    expect((await sink.push({ data: goodEntry('row') })).status).toBe(204);
    expect(sink.requests).toHaveLength(1);
  });

  test('beyond requestTimeout is asked again, and a request that landed after all adds no version', async () => {
    await using sink = await startSink({ pipeline: { writerOptions: { requestTimeout: '100ms' } } });
    sink.bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'never-answer', isApplied: true } });
    expect((await sink.push({ data: goodEntry('row') })).status).toBe(204);
    expect(sink.requests).toHaveLength(2);
    expect(await sink.rows()).toEqual([{ key: 'row', cells: ['f:q@1000=v'] }]);
  });
});

describe('a server that never answers', () => {
  test('ends no message: 504 before the function’s own deadline, nothing dead-lettered, and other rows go on', async () => {
    const clock = new SteppedClock();
    const env = { CLOUD_RUN_TIMEOUT_SECONDS: '30' };
    await using sink = await startSink({ clock, env, pipeline: { deadlineMargin: '2s' }, deadLetters: 'topic' });
    sink.bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'never-answer', isApplied: false } });
    const answer = sink.push({ data: goodEntry('row') });
    await expect.poll(() => sink.requests.length).toBe(1);
    await clock.advance(27_999);
    expect(sink.count('messagesRedelivered', 'deadline')).toBe(0);
    await clock.advance(1);
    const { status, text } = await answer;
    expect(status).toBe(504);
    expect(text).toContain("the invocation's 28000 ms were used up");
    expect(sink.count('messagesRedelivered', 'deadline')).toBe(1);

    expect((await sink.push({ data: goodEntry('another') })).status).toBe(204);
    expect(await sink.letters()).toEqual([]);
  });

  test('is warned of after a minute of silence and once a minute after that; then the deadline', async () => {
    const clock = new SteppedClock();
    await using sink = await startSink({ clock, env: { CLOUD_RUN_TIMEOUT_SECONDS: '600' } });
    const stalls = (): string[] =>
      sink.logs.filter(({ message }) => message.startsWith('MutateRows: no answer')).map(({ message }) => message);
    sink.bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'never-answer', isApplied: false } });
    const answer = sink.push({ data: goodEntry('secret-row') });
    await expect.poll(() => sink.requests.length).toBe(1);

    await clock.advance(59_999);
    expect(stalls()).toEqual([]);
    await clock.advance(1);
    expect(stalls()).toEqual([expect.stringContaining('no answer for 60 s')]);
    await clock.advance(59_999);
    expect(stalls()).toHaveLength(1);
    await clock.advance(1);
    expect(stalls()).toEqual([expect.anything(), expect.stringContaining('no answer for 120 s')]);

    await clock.advance(595_000 - 120_000);
    expect((await answer).status).toBe(504);
    expect(stalls()).toHaveLength(9);
    expect(JSON.stringify(stalls())).not.toContain('secret-row');
    expect(sink.count('stalls')).toBe(9);
  });
});

describe('a server that is down', () => {
  const T = tableName('p', 'i', 't');

  test('loses nothing: redelivered while it is down, applied once it is back', async () => {
    await using sink = await startSink({ env: { CLOUD_RUN_TIMEOUT_SECONDS: '1' }, deadLetters: 'topic' });
    const { address } = sink.bigtable;
    await sink.bigtable.close();
    const { status, text } = await sink.push({ data: goodEntry('row') });
    expect(status).toBe(503);
    expect(text).toContain('UNAVAILABLE');
    expect(await sink.letters()).toEqual([]);

    const back = await startBigtableServer({ port: Number(address.split(':')[1]) });
    const client = connect(address);
    await ensureTables(address, [{ name: T, families: { f: {} } }]);
    await expect.poll(async () => (await sink.push({ data: goodEntry('row') })).status, { timeout: 5000 }).toBe(204);
    expect(await readRows(client, TABLE)).toEqual([{ key: 'row', cells: ['f:q@1000=v'] }]);
    client.close();
    await back.close();
  });

  test('for less than the invocation’s time costs a wait and no redelivery', async () => {
    await using sink = await startSink();
    const { address } = sink.bigtable;
    expect((await sink.push({ data: goodEntry('before') })).status).toBe(204);
    await sink.bigtable.close();
    const answer = sink.push({ data: goodEntry('row') });
    await expect.poll(() => sink.arrivals.length).toBe(2);

    const back = await startBigtableServer({ port: Number(address.split(':')[1]) });
    const isMissing = back.faults.add({
      method: 'MutateRows',
      times: Infinity,
      effect: { kind: 'refuse', status: { code: 'UNAVAILABLE', message: 'starting' } },
    });
    await ensureTables(address, [{ name: T, families: { f: {} } }]);
    isMissing.remove();
    expect((await answer).status).toBe(204);
    expect(back.tables().map(({ rows }) => rows)).toEqual([1]);
    await back.close();
  });
});

describe('a server that asks for less', () => {
  /** Fifty rows at once are 200 a second of the quarter of a second that a rate is measured over at least. */
  const lines = (count: number): string =>
    Array.from({ length: count }, (_, i) => entryLine(`row-${i}`, 'v')).join('\n');

  test('by RESOURCE_EXHAUSTED is sent half as much', async () => {
    const clock = new SteppedClock();
    await using sink = await startSink({ clock, pipeline: { framing: 'ndjson' } });
    const status = { code: 'RESOURCE_EXHAUSTED', message: 'too much' } as const;
    sink.bigtable.faults.add({ method: 'MutateRows', effect: { kind: 'refuse', status } });
    expect((await sink.push({ data: lines(50) })).status).toBe(503);
    // 100 a second now: the next fifty leave at once and use up half a second.
    expect((await sink.push({ data: lines(50) })).status).toBe(204);
    const third = sink.push({ data: lines(1) });
    await expect.poll(() => sink.arrivals.length).toBe(3);
    await clock.advance(499);
    expect(sink.requests).toHaveLength(2);
    await clock.advance(1);
    expect((await third).status).toBe(204);
    expect(sink.count('throttledTime')).toBeGreaterThanOrEqual(499);
  });

  test.each([
    { flowControl: true, isThrottled: true },
    { flowControl: false, isThrottled: false },
  ])('by RateLimitInfo is obeyed where flowControl is on: $flowControl', async ({ flowControl, isThrottled }) => {
    const clock = new SteppedClock();
    await using sink = await startSink({ clock, pipeline: { framing: 'ndjson', writerOptions: { flowControl } } });
    sink.bigtable.faults.add({
      method: 'MutateRows',
      effect: { kind: 'rate-limit', factor: 0.7, periodMillis: 10_000 },
    });
    expect((await sink.push({ data: lines(50) })).status).toBe(204);
    // 0.7 of 200 a second.
    expect((await sink.push({ data: lines(140) })).status).toBe(204);
    const third = sink.push({ data: lines(1) });
    await expect.poll(() => sink.arrivals.length).toBe(3);
    await clock.advance(999);
    if (!isThrottled) await third;
    expect(sink.requests).toHaveLength(isThrottled ? 2 : 3);
    await clock.advance(1);
    expect((await third).status).toBe(204);
  });
});
