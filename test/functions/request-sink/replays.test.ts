import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noCell, type RowFilter, timestampRange, valueEquals } from '../../../shared/model/filter/filter.ts';
import type { Mutation } from '../../../shared/model/mutation.ts';
import type { Status } from '../../../shared/model/status.ts';
import { aggregateFamily } from '../../support/bigtable-raw-client.ts';
import { type RequestSinkHarness, requestData, startRequests } from '../../support/request-sink-harness.ts';
import { addToQ, conditional, hasQ, increment } from '../../support/row-requests.ts';
import { newestCells, shownInt64 } from '../../support/stored-rows.ts';

/**
 * What a redelivery does to a request whose answer was lost: without protection it is a second request, with a marker it
 * is the same one.
 */

const LOST: Status = { code: 'UNAVAILABLE', message: 'the connection broke after the request was applied' };

const FAMILIES = { f: {}, sum: aggregateFamily('sum'), m: {} };
const PROTECTED = { replayProtection: { markerFamily: 'm' } };
/** `{"key":…,"amount":…}`: the amount is added to the sum of the row. */
const SUMS = {
  rowKey: '${key}',
  writeMode: 'aggregate',
  families: { sum: { aggregate: 'int64-sum', columns: { q: { type: 'int64', field: 'amount' } } } },
};

const loseAnswer = (sink: RequestSinkHarness, method: 'CheckAndMutateRow' | 'ReadModifyWriteRow') =>
  sink.bigtable.faults.add({ method, effect: { kind: 'lose-answer', status: LOST } });

const cell = async (sink: RequestSinkHarness, column: string, row = 'k'): Promise<string | undefined> =>
  (await newestCells(sink.bigtable.address, 't'))[row]?.[column];

describe('without protection', () => {
  test('an increment whose answer is lost is ambiguous, is redelivered, and counts twice', async () => {
    await using sink = await startRequests({ families: FAMILIES });
    loseAnswer(sink, 'ReadModifyWriteRow');
    const message = { data: requestData(increment(1n)), messageId: 'm' };
    const { status, text } = await sink.push(message);
    expect(status).toBe(503);
    expect(text).toContain('it may or may not be applied');
    expect(text).toContain('a replay appends or increments again');
    expect(sink.count('messagesRedelivered', 'ambiguous')).toBe(1);
    expect(sink.count('errorClass.errors', 'UNAVAILABLE')).toBe(1);
    expect(await sink.letters()).toEqual([]);
    expect((await sink.push(message)).status).toBe(204);
    expect(await cell(sink, 'f:q')).toBe(shownInt64(2n));
  });

  test('a request that runs into its timeout is ambiguous too, and counted as timed out', async () => {
    await using sink = await startRequests({ pipeline: { requestOptions: { requestTimeout: '150ms' } } });
    sink.bigtable.faults.add({ method: 'ReadModifyWriteRow', effect: { kind: 'never-answer', isApplied: true } });
    expect((await sink.push({ data: requestData(increment(1n)) })).status).toBe(503);
    expect(sink.count('requestsTimedOut')).toBe(1);
    expect(await cell(sink, 'f:q')).toBe(shownInt64(1n));
  });

  test('counters are exact under concurrency while every answer arrives', async () => {
    await using sink = await startRequests({ families: FAMILIES });
    let rows = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.bigInt({ min: -1000n, max: 2n ** 40n }), { minLength: 1, maxLength: 30 }),
        async (amounts) => {
          const row = `row-${(rows += 1)}`;
          const answers = await Promise.all(
            amounts.map((amount) => sink.push({ data: requestData(increment(amount, row)) })),
          );
          expect(answers.every(({ status }) => status === 204)).toBe(true);
          expect(await cell(sink, 'f:q', row)).toBe(shownInt64(amounts.reduce((sum, amount) => sum + amount, 0n)));
        },
      ),
      { numRuns: 15 },
    );
  });
});

describe('with protection', () => {
  test('an addition whose answer is lost is redelivered and counts once, and the result says that it is a replay', async () => {
    await using sink = await startRequests({
      families: FAMILIES,
      pipeline: { ...PROTECTED, serializer: undefined, mapping: SUMS },
    });
    loseAnswer(sink, 'CheckAndMutateRow');
    const message = { data: '{"key":"k","amount":5}', messageId: 'm' };
    const { status, text } = await sink.push(message);
    expect(status).toBe(503);
    expect(text).toContain('A replay meets its marker if it was applied');
    expect(sink.count('messagesRedelivered', 'ambiguous')).toBe(1);
    expect((await sink.push(message)).status).toBe(204);
    expect(await cell(sink, 'sum:q')).toBe(shownInt64(5n));
    expect(sink.count('requestsDeduplicated')).toBe(1);
    const [result] = (await sink.results.pull()).map(({ data }) => JSON.parse(data.toString()) as object);
    expect(result).toMatchObject({ replayed: true, outcome: { conditional: { predicateMatched: false } } });
  });

  test('a conditional request is decided once: its first decision stands whatever the row becomes', async () => {
    await using sink = await startRequests({ families: FAMILIES, pipeline: PROTECTED });
    const addOnce = {
      data: requestData(conditional({ predicate: hasQ, otherwise: [addToQ(1n, 'sum')] })),
      messageId: 'm',
    };
    loseAnswer(sink, 'CheckAndMutateRow');
    expect((await sink.push(addOnce)).status).toBe(503);
    expect((await sink.push(addOnce)).status).toBe(204);
    expect((await sink.push(addOnce)).status).toBe(204);
    expect(await cell(sink, 'sum:q')).toBe(shownInt64(1n));
    // The same request of another message is another effect.
    expect((await sink.push({ ...addOnce, messageId: 'n' })).status).toBe(204);
    expect(await cell(sink, 'sum:q')).toBe(shownInt64(2n));
    const results = (await sink.results.pull()).map(({ data }) => JSON.parse(data.toString()) as object);
    expect(results).toMatchObject([
      { mayBeReplayed: true },
      { mayBeReplayed: true },
      { outcome: { conditional: { predicateMatched: false } } },
    ]);
  });

  test.each<[string, RowFilter | undefined, string]>([
    ['a value that a marker has', valueEquals(Buffer.from('1')), 'a'],
    ['a time that a marker has', timestampRange(0n, 1000n), 'b'],
    ['nothing', undefined, 'c'],
  ])('a new request that asks for %s does not see the markers of others', async (_what, predicate, row) => {
    await using sink = await startRequests({ families: FAMILIES, pipeline: PROTECTED });
    const addOnce = (messageId: string, asked: RowFilter | undefined) =>
      sink.push({
        data: requestData(
          conditional({ rowKey: row, ...(asked && { predicate: asked }), otherwise: [addToQ(1n, 'sum')] }),
        ),
        messageId,
      });
    // Its predicate matches nothing and leaves a marker beside data that no later predicate here asks for.
    const clear: Mutation = { kind: 'deleteFromFamily', family: 'sum' };
    expect(
      (await sink.push({ data: requestData(conditional({ rowKey: row, predicate: noCell(), otherwise: [clear] })) }))
        .status,
    ).toBe(204);
    expect((await addOnce('new', predicate)).status).toBe(204);
    expect((await addOnce('new', predicate)).status).toBe(204);
    expect(await cell(sink, 'sum:q', row)).toBe(shownInt64(1n));
  });

  test('a request that cannot carry a marker is refused with the alternative, and sent nowhere', async () => {
    await using sink = await startRequests({ families: FAMILIES, pipeline: PROTECTED });
    expect((await sink.push({ data: requestData(increment(1n)) })).status).toBe(204);
    const [letter] = await sink.letters();
    expect(letter?.attributes['dlq-error']).toContain('keep the counter in an aggregate family');
    expect(await newestCells(sink.bigtable.address, 't')).toEqual({});
  });

  test('a marker family that would lose markers is refused before anything is written', async () => {
    const gcRule = { rule: { $case: 'maxNumVersions' as const, value: 1 } };
    await using sink = await startRequests({
      families: { ...FAMILIES, m: { gcRule } },
      pipeline: { ...PROTECTED, serializer: undefined, mapping: SUMS },
    });
    const { status, text } = await sink.push({ data: '{"key":"k","amount":5}' });
    expect(status).toBe(503);
    expect(text).toContain('m');
    expect(await newestCells(sink.bigtable.address, 't')).toEqual({});
    expect(await sink.letters()).toEqual([]);
  });

  describe('whatever answers are lost and however often messages come', () => {
    let sink: RequestSinkHarness;
    let rows = 0;
    beforeAll(async () => {
      sink = await startRequests({
        families: FAMILIES,
        pipeline: { ...PROTECTED, serializer: undefined, mapping: SUMS },
      });
    });
    afterAll(() => sink[Symbol.asyncDispose]());

    const fate = fc.constantFrom('answered', 'lost', 'refused');
    const message = fc.record({
      amount: fc.integer({ min: -50, max: 50 }),
      fates: fc.array(fate, { maxLength: 3 }),
      copies: fc.integer({ min: 1, max: 3 }),
    });

    test('the sum is that of the distinct messages', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 8 }), async (messages) => {
          const row = `row-${(rows += 1)}`;
          sink.bigtable.faults.clear();
          for (const wanted of messages.flatMap(({ fates }) => fates)) {
            const effect =
              wanted === 'lost'
                ? ({ kind: 'lose-answer', status: LOST } as const)
                : ({ kind: 'refuse', status: LOST } as const);
            if (wanted !== 'answered') sink.bigtable.faults.add({ method: 'CheckAndMutateRow', effect });
          }
          const deliver = async (id: number, amount: number): Promise<void> => {
            const data = JSON.stringify({ key: row, amount });
            for (let attempt = 0; (await sink.push({ data, messageId: `${row}-${id}` })).status !== 204; attempt += 1) {
              if (attempt === 30) throw new Error('the faults are used up by now');
            }
          };
          await Promise.all(
            messages.flatMap(({ amount, copies }, id) => Array.from({ length: copies }, () => deliver(id, amount))),
          );
          const expected = messages.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
          expect(await cell(sink, 'sum:q', row)).toBe(shownInt64(expected));
        }),
        { numRuns: 25 },
      );
    });
  });
});
