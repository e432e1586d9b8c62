import { describe, expect, test } from 'vitest';
import { MAX_COALESCED_ENVELOPES } from '../../../../shared/staged/write/coalesce.ts';
import type { Outcome } from '../../../../shared/markers/outcome.ts';
import type { RowReply } from '../../../../shared/model/row-call.ts';
import { MarkedWrites, MAX_ATTEMPTS } from '../../../../shared/staged/write/marked-writes.ts';
import type { Mishap } from '../../../support/fake-marked-table.ts';
import { addition, cell, envelopeOf, identityNumber, rowEntry } from '../../../support/envelopes.ts';
import { conditionalReply } from '../../../support/fake-row-calls.ts';
import { forEver, markedWrites, submitOne, WRITES_OPTIONS } from '../../../support/marked-writes-harness.ts';
import { testRuntime } from '../../../support/runtime.ts';

/** Adds one to the row's sum; its number is its identity. */
const counting = (number: number, row = 'k') => envelopeOf(number, rowEntry(row, addition(1n), cell(String(number))));

/** A port that a test has no use for. */
const forbidden = (): never => {
  throw new Error('no markers are read here');
};

/** Goes wrong the first so many times. */
function firstTimes(count: number, mishap: Mishap): () => Mishap | undefined {
  let left = count;
  return () => (left-- > 0 ? mishap : undefined);
}

describe('one envelope', () => {
  test('is applied with its marker, as the bytes that were stored', async () => {
    const { table, writes, metrics } = markedWrites();
    const envelope = counting(1);
    expect(await submitOne(writes, envelope, forEver())).toEqual({ kind: 'applied' });
    expect(table.sum).toBe(1n);
    expect([...table.row('k').markers.keys()]).toEqual([identityNumber(1)]);
    expect(metrics.snapshot().counters).toEqual({ recordsApplied: 1, requestsCompleted: 1 });
  });

  test('that is applied already changes nothing', async () => {
    const { table, writes, another, metrics } = markedWrites();
    await submitOne(writes, counting(1), forEver());
    expect(await submitOne(another(), counting(1), forEver())).toEqual({ kind: 'deduplicated' });
    expect(table.sum).toBe(1n);
    expect(metrics.snapshot().counters).toMatchObject({ requestsCompleted: 2, requestsDeduplicated: 1 });
  });

  test('whose answer was lost after it was applied counts once: the same bytes meet their marker', async () => {
    const { table, writes, clock, metrics } = markedWrites({
      mishap: firstTimes(1, { when: 'after', code: 'UNAVAILABLE' }),
    });
    const result = submitOne(writes, counting(1), forEver());
    await clock.advance(1000);
    expect(await result).toEqual({ kind: 'deduplicated' });
    expect(table.sum).toBe(1n);
    expect(table.requests[0]).toEqual(table.requests[1]);
    expect(metrics.snapshot().counters).toMatchObject({ writesRetried: 1, requestsDeduplicated: 1 });
  });

  test.each([
    'UNAVAILABLE',
    'DEADLINE_EXCEEDED',
    'ABORTED',
    'CANCELLED',
    'RESOURCE_EXHAUSTED',
    'INTERNAL',
    'UNKNOWN',
  ] as const)('that meets %s is sent again, and after the last attempt given back', async (code) => {
    const { table, writes, clock } = markedWrites({ mishap: () => ({ when: 'before', code }) });
    const result = submitOne(writes, counting(1), forEver());
    await clock.advance(60_000);
    expect(await result).toMatchObject({ kind: 'unfinished', reason: 'transient', status: { code } });
    expect(table.requests).toHaveLength(MAX_ATTEMPTS);
    expect(clock.pending).toBe(0);
  });

  test.each([
    ['NOT_FOUND', 'missing-table', /table or the app profile does not exist/],
    ['PERMISSION_DENIED', 'refused', /roles\/bigtable\.user/],
    ['FAILED_PRECONDITION', 'refused', /single-cluster routing/],
  ] as const)('that is answered %s is given back at once, with what to do', async (code, reason, words) => {
    const { table, writes, metrics } = markedWrites({ mishap: () => ({ when: 'before', code }) });
    const result = await submitOne(writes, counting(1), forEver());
    expect(result).toMatchObject({ kind: 'unfinished', reason, status: { code } });
    expect(result.kind === 'unfinished' && result.message).toMatch(words);
    expect(table.requests).toHaveLength(1);
    expect(metrics.snapshot().labelled).toEqual([{ metric: 'errorClass.errors', label: code, value: 1 }]);
  });

  test('that is refused for what it is is rejected', async () => {
    const { writes } = markedWrites();
    const result = await submitOne(writes, envelopeOf(1, rowEntry('k', cell('bad'))), forEver());
    expect(result).toMatchObject({ kind: 'rejected', status: { code: 'INVALID_ARGUMENT' } });
  });

  test('that waits for another attempt when its invocation ends is given back at once, with the last answer', async () => {
    const { table, writes, clock } = markedWrites({ mishap: () => ({ when: 'before', code: 'UNAVAILABLE' }) });
    const controller = new AbortController();
    const result = submitOne(writes, counting(1), controller.signal);
    await clock.advance(5);
    controller.abort(new Error('the time is used up'));
    expect(await result).toMatchObject({ kind: 'unfinished', reason: 'transient' });
    expect((await result) satisfies object).toHaveProperty('message', expect.stringMatching(/^the time .*UNAVAILABLE/));
    const sent = table.requests.length;
    await clock.advance(60_000);
    expect(table.requests).toHaveLength(sent);
    expect(clock.pending).toBe(0);
  });

  test('of an invocation that has ended is not sent', async () => {
    const { table, writes } = markedWrites();
    const signal = AbortSignal.abort(new Error('too late'));
    expect(await submitOne(writes, counting(1), signal)).toEqual({
      kind: 'unfinished',
      reason: 'deadline',
      message: 'too late',
    });
    expect(table.requests).toEqual([]);
  });
});

test('a request that cannot be made is given back with the reason, and its row is free again', async () => {
  const { clock, metrics } = markedWrites();
  let isBroken = true;
  const send = (): Promise<RowReply> =>
    isBroken ? Promise.reject(new Error('no channel')) : Promise.resolve(conditionalReply(false));
  const writes = new MarkedWrites(
    { ...WRITES_OPTIONS, maxInFlightRequests: 1 },
    { send, readMarkers: forbidden, runtime: testRuntime({ clock, metrics, random: () => 0.5 }) },
  );
  expect(await submitOne(writes, counting(1), forEver())).toEqual({
    kind: 'unfinished',
    reason: 'client',
    message: 'CheckAndMutateRow on p.i.t could not be sent: no channel',
  });
  isBroken = false;
  expect(await submitOne(writes, counting(1), forEver())).toEqual({ kind: 'applied' });
});

test('an answer that cannot be read is no answer', async () => {
  const { clock, metrics } = markedWrites();
  const writes = new MarkedWrites(
    { ...WRITES_OPTIONS, maxInFlightRequests: 1, perDestinationMetrics: true },
    {
      readMarkers: forbidden,
      send: () => Promise.resolve({ kind: 'answered', answer: Buffer.from([0xff]) }),
      runtime: testRuntime({ clock, metrics, random: () => 0.5 }),
    },
  );
  expect(await submitOne(writes, counting(1), forEver())).toMatchObject({ kind: 'unfinished', reason: 'refused' });
  expect(metrics.snapshot().labelled).toContainEqual({ metric: 'destination.sendErrors', label: 'p.i.t', value: 1 });
});

describe('one effect for which two wait', () => {
  test('counts once: the second is told that it was there', async () => {
    const { table, writes, metrics } = markedWrites();
    const results = await Promise.all([
      submitOne(writes, counting(1), forEver()),
      submitOne(writes, counting(1), forEver()),
    ]);
    expect(results.map(({ kind }) => kind)).toEqual(['applied', 'deduplicated']);
    expect(table.requests).toHaveLength(1);
    expect(metrics.snapshot().counters).toMatchObject({ requestsCompleted: 2, requestsDeduplicated: 1 });
  });

  test('outlives the first of them', async () => {
    const { table, writes, clock } = markedWrites({ delayMillis: () => 100 });
    const controller = new AbortController();
    const first = submitOne(writes, counting(1), controller.signal);
    await clock.advance(10);
    const second = submitOne(writes, counting(1), forEver());
    controller.abort(new Error('the time is used up'));
    expect(await first).toMatchObject({ kind: 'unfinished', reason: 'deadline' });
    await clock.advance(100);
    expect(await second).toEqual({ kind: 'applied' });
    expect(table.requests).toHaveLength(1);
  });

  test('is two effects in two rows: a marker is of its row', async () => {
    const { table, writes } = markedWrites();
    const results = await Promise.all([
      submitOne(writes, counting(1, 'a'), forEver()),
      submitOne(writes, counting(1, 'b'), forEver()),
    ]);
    expect(results).toEqual([{ kind: 'applied' }, { kind: 'applied' }]);
    expect(table.sum).toBe(2n);
  });
});

describe('a row that many envelopes are for', () => {
  test('takes what waits for it in one request, in order', async () => {
    const { table, writes, clock, metrics } = markedWrites({ delayMillis: () => 10 });
    const first = submitOne(writes, counting(0), forEver());
    await clock.advance(1);
    const others = Array.from({ length: 9 }, (_, index) => submitOne(writes, counting(index + 1), forEver()));
    await clock.advance(100);
    expect(new Set((await Promise.all([first, ...others])).map(({ kind }) => kind))).toEqual(new Set(['applied']));
    expect(table.requests.map(({ falseMutations }) => falseMutations.length)).toEqual([3, 27]);
    expect(table.row('k').written).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    expect(table.row('k').markers.size).toBe(10);
    expect(metrics.snapshot().counters).toMatchObject({ coalescedWrites: 9, recordsApplied: 10 });
  });

  test('takes no more in one request than a row filter may name', async () => {
    const { table, writes } = markedWrites();
    const many = Array.from({ length: 2 * MAX_COALESCED_ENVELOPES }, (_, index) => counting(index));
    await Promise.all(many.map((envelope) => submitOne(writes, envelope, forEver())));
    expect(table.requests).toHaveLength(2);
    expect(table.sum).toBe(BigInt(many.length));
  });

  test.each([
    [0, 6],
    [1, 20],
    [50, 20],
    [100, 12],
  ])('of 3,000 envelopes of which %i %% are applied already costs at most %i requests', async (percent, atMost) => {
    const { table, writes, another } = markedWrites();
    const envelopes = Array.from({ length: 3000 }, (_, number) => counting(number));
    const before = envelopes.filter((_, number) => (number * 7919) % 100 < percent);
    await another().submit(before, forEver());
    const calls = table.calls;
    const results = await writes.submit(envelopes, forEver());
    expect(results.filter(({ kind }) => kind === 'deduplicated')).toHaveLength(before.length);
    expect(results.filter(({ kind }) => kind === 'applied')).toHaveLength(3000 - before.length);
    expect(table.calls - calls).toBeLessThanOrEqual(atMost);
    expect(table.sum).toBe(3000n);
    expect(table.violations).toEqual([]);
  });

  test('goes on in the order in which it came, without those that are there', async () => {
    const { table, writes, another, metrics } = markedWrites();
    await another().submit([counting(3), counting(5)], forEver());
    const results = await writes.submit(
      Array.from({ length: 8 }, (_, number) => counting(number)),
      forEver(),
    );
    expect(results.flatMap(({ kind }, number) => (kind === 'deduplicated' ? [number] : []))).toEqual([3, 5]);
    expect(table.row('k').written).toEqual(['3', '5', '0', '1', '2', '4', '6', '7']);
    expect(table.looks).toHaveLength(1);
    expect(metrics.snapshot().counters).toMatchObject({ markerReads: 1 });
  });

  test('of which another instance applies some between the look and the write is looked at again', async () => {
    const looked: (() => Promise<unknown>)[] = [];
    const { table, writes, another } = markedWrites();
    const other = another();
    looked.push(
      () => other.submit([counting(2)], forEver()),
      () => other.submit([counting(3)], forEver()),
    );
    const meddling = new MarkedWrites(WRITES_OPTIONS, {
      send: table.send,
      readMarkers: async (question) => {
        const reply = await table.readMarkers(question);
        await looked.shift()?.();
        return reply;
      },
      runtime: testRuntime(),
    });
    await writes.submit([counting(1)], forEver());
    const results = await meddling.submit(
      Array.from({ length: 6 }, (_, number) => counting(number)),
      forEver(),
    );
    expect(results.flatMap(({ kind }, number) => (kind === 'deduplicated' ? [number] : []))).toEqual([1, 2, 3]);
    expect(table.sum).toBe(6n);
    expect(table.looks).toHaveLength(3);
  });

  test('whose markers may not be read is taken apart by halves, and everything counts once', async () => {
    const { table, writes, another } = markedWrites({ lookMishap: () => 'PERMISSION_DENIED' });
    await another().submit([counting(100), counting(377)], forEver());
    const before = table.calls;
    const results = await writes.submit(
      Array.from({ length: 512 }, (_, number) => counting(number)),
      forEver(),
    );
    expect(results.flatMap(({ kind }, number) => (kind === 'deduplicated' ? [number] : []))).toEqual([100, 377]);
    expect(table.sum).toBe(512n);
    expect(table.calls - before).toBeLessThanOrEqual(4 * (1 + 2 * 9));
  });

  test('whose markers cannot be read now is looked at again, and given back after the last attempt', async () => {
    let isDown = true;
    const { table, writes, another, clock } = markedWrites({ lookMishap: () => (isDown ? 'UNAVAILABLE' : undefined) });
    await another().submit([counting(1)], forEver());
    const envelopes = [counting(0), counting(1), counting(2)];
    const results = writes.submit(envelopes, forEver());
    await clock.advance(60_000);
    expect(await results).toEqual(
      envelopes.map(() => expect.objectContaining({ kind: 'unfinished', reason: 'transient' }) as Outcome),
    );
    expect(table.looks).toHaveLength(MAX_ATTEMPTS);
    isDown = false;
    const again = await writes.submit(envelopes, forEver());
    expect(again.map(({ kind }) => kind)).toEqual(['applied', 'deduplicated', 'applied']);
    expect(clock.pending).toBe(0);
  });

  test('that takes a request a quarter of its time gets smaller ones, and larger ones again later', async () => {
    let delay = 5000;
    const { table, writes, clock } = markedWrites({ delayMillis: () => delay });
    const sizesOf = async (from: number): Promise<number[]> => {
      const envelopes = Array.from({ length: 1200 }, (_, index) => counting(from + index));
      const results = writes.submit(envelopes, forEver());
      await clock.advance(60_000);
      await results;
      return table.requests.splice(0).map(({ falseMutations }) => falseMutations.length / 3);
    };
    expect(await sizesOf(0)).toEqual([600, 300, 150, 75, 38, 19, 10, 5, 3]);
    delay = 1;
    await clock.advance(10 * 60_000);
    expect(await sizesOf(2000)).toEqual([600, 600]);
  });

  test('whose large requests never come to an end is written by smaller ones', async () => {
    const isLarge = (): boolean => (table.requests.at(-1)?.falseMutations.length ?? 0) > 2 * 200;
    const { table, writes, clock } = markedWrites({
      delayMillis: () => (isLarge() ? 20_000 : 1),
      mishap: () => (isLarge() ? { when: 'before', code: 'DEADLINE_EXCEEDED' } : undefined),
    });
    const envelopes = Array.from({ length: 600 }, (_, number) => envelopeOf(number, rowEntry('k', addition(1n))));
    const results = writes.submit(envelopes, forEver());
    await clock.advance(120_000);
    expect(new Set((await results).map(({ kind }) => kind))).toEqual(new Set(['applied']));
    expect(table.requests.map(({ falseMutations }) => falseMutations.length / 2)).toEqual([
      600, 300, 150, 150, 150, 150,
    ]);
  });

  test('with one that is refused among 2,000 costs few requests, and less when it is tried again by itself', async () => {
    const { table, writes, another } = markedWrites();
    const bad = envelopeOf(5000, rowEntry('k', cell('bad')));
    const envelopes = [...Array.from({ length: 2000 }, (_, number) => counting(number)), bad];
    const results = await writes.submit(envelopes, forEver());
    expect(results.at(-1)).toMatchObject({ kind: 'rejected' });
    expect(table.sum).toBe(2000n);
    expect(table.calls).toBeLessThanOrEqual(40);

    const before = table.calls;
    await another().submit([bad], forEver(), { areSuspects: true });
    expect(table.calls - before).toBe(1);
    await another().submit(envelopes, forEver());
    expect(table.calls - before).toBeLessThanOrEqual(30);
  });

  test('sends each of those that were refused before by itself', async () => {
    const { table, writes } = markedWrites();
    const bad = [7, 11].map((number) => envelopeOf(number, rowEntry('k', cell('bad'))));
    const envelopes = [...Array.from({ length: 6 }, (_, number) => counting(number)), ...bad];
    const results = await writes.submit(envelopes, forEver(), { areSuspects: true });
    expect(results.map(({ kind }) => kind)).toEqual([...Array<string>(6).fill('applied'), 'rejected', 'rejected']);
    expect(table.calls).toBe(8);
  });

  test('with one that is refused blames that one alone', async () => {
    const { table, writes, clock } = markedWrites();
    const bad = envelopeOf(7, rowEntry('k', cell('bad')));
    const results = Promise.all(
      Array.from({ length: 20 }, (_, index) => submitOne(writes, index === 7 ? bad : counting(index), forEver())),
    );
    await clock.advance(1);
    const kinds = (await results).map(({ kind }) => kind);
    expect(kinds.flatMap((kind, index) => (kind === 'rejected' ? [index] : []))).toEqual([7]);
    expect(table.sum).toBe(19n);
  });

  test('goes out without those whose invocation has ended while they waited', async () => {
    const { table, writes, clock } = markedWrites({ delayMillis: () => 10 });
    const controller = new AbortController();
    const first = submitOne(writes, counting(1), forEver());
    await clock.advance(1);
    const given = [submitOne(writes, counting(2), controller.signal), submitOne(writes, counting(3), forEver())];
    controller.abort(new Error('the time is used up'));
    await clock.advance(100);
    await Promise.all([first, ...given]);
    expect([...table.row('k').markers.keys()]).toEqual([identityNumber(1), identityNumber(3)]);
  });
});

test('what is refused together for a missing family is asked for one by one', async () => {
  const isOdd = (key: string): boolean => key.includes('missing');
  const { writes, table, clock } = markedWrites({
    mishap: ({ falseMutations }) =>
      falseMutations.some(({ mutation }) => mutation?.$case === 'setCell' && isOdd(mutation.value.familyName))
        ? { when: 'before', code: 'NOT_FOUND', message: 'Requested column family not found.' }
        : undefined,
  });
  const results = Promise.all([
    submitOne(writes, counting(1), forEver()),
    submitOne(writes, envelopeOf(2, rowEntry('k', cell('v', 'missing'))), forEver()),
  ]);
  await clock.advance(1);
  expect(await results).toMatchObject([{ kind: 'applied' }, { kind: 'unfinished', reason: 'missing-family' }]);
  expect(table.sum).toBe(1n);
});

describe('the requests of an instance', () => {
  test('are never more than allowed, and rows take turns in the order they came', async () => {
    const { table, writes, clock } = markedWrites({ delayMillis: () => 10 }, { maxInFlightRequests: 3 });
    const rows = Array.from({ length: 10 }, (_, index) => `row-${index}`);
    const results = Promise.all(rows.map((row, index) => submitOne(writes, counting(index, row), forEver())));
    await clock.advance(200);
    await results;
    expect(table.mostInFlight).toBe(3);
    expect(table.requests.map(({ rowKey }) => rowKey.toString())).toEqual(rows);
  });

  test('leave their place to others while one waits for another attempt', async () => {
    const { writes, clock } = markedWrites(
      { mishap: ({ rowKey }) => (rowKey.toString() === 'ill' ? { when: 'before', code: 'UNAVAILABLE' } : undefined) },
      { maxInFlightRequests: 1 },
    );
    const ill = submitOne(writes, counting(1, 'ill'), forEver());
    await clock.advance(1);
    expect(await submitOne(writes, counting(2, 'well'), forEver())).toEqual({ kind: 'applied' });
    await clock.advance(60_000);
    expect(await ill).toMatchObject({ kind: 'unfinished' });
  });

  test('are counted while they are out', async () => {
    const { writes, clock, metrics } = markedWrites({ delayMillis: () => 10 }, { perDestinationMetrics: true });
    const result = submitOne(writes, counting(1), forEver());
    await clock.advance(5);
    expect(metrics.snapshot()).toMatchObject({
      gauges: { inFlightRequests: 1 },
      labelled: [{ metric: 'destination.recordsSend', label: 'p.i.t', value: 1 }],
    });
    await clock.advance(5);
    await result;
    expect(metrics.snapshot()).toMatchObject({
      gauges: { inFlightRequests: 0 },
      distributions: { rowRequestLatency: { count: 1, max: 10 } },
    });
  });
});

test('an envelope that was frozen under another setting of the horizon is not sent', async () => {
  const { table, writes, clock } = markedWrites();
  const stamped = envelopeOf(1, rowEntry('k'), { markerTimestampMicros: BigInt(clock.now()) * 1000n });
  expect(await submitOne(writes, stamped, forEver())).toEqual({ kind: 'beyond-horizon' });
  const other = markedWrites({}, { markerHorizonMillis: 8 * 24 * 3_600_000 });
  expect(await submitOne(other.writes, counting(1), forEver())).toEqual({ kind: 'beyond-horizon' });
  expect([...table.requests, ...other.table.requests]).toEqual([]);
});

test('an envelope that is beyond the horizon is not sent, at no attempt', async () => {
  const DAY = 24 * 60 * 60 * 1000;
  const { table, writes, clock, metrics } = markedWrites(
    { mishap: () => ({ when: 'before', code: 'UNAVAILABLE' }) },
    { markerHorizonMillis: 8 * DAY },
  );
  const stampedAt = (millis: number) => envelopeOf(1, rowEntry('k'), { markerTimestampMicros: BigInt(millis) * 1000n });
  expect(await submitOne(writes, stampedAt(clock.now() - 8 * DAY), forEver())).toEqual({ kind: 'beyond-horizon' });
  expect(table.requests).toEqual([]);

  const almost = clock.now() - 8 * DAY + 60 * 60 * 1000 + 40;
  const result = submitOne(writes, stampedAt(almost), forEver());
  await clock.advance(60_000);
  expect(await result).toEqual({ kind: 'beyond-horizon' });
  expect(table.requests.length).toBeLessThan(MAX_ATTEMPTS);
  expect(metrics.snapshot().counters).toMatchObject({ envelopesBeyondHorizon: 2 });
});
