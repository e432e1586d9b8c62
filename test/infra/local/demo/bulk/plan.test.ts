import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Flight } from '../../../../../infra/local/demo/base/flights.ts';
import { messageData, planMessages, type PlannedRecord } from '../../../../../infra/local/demo/bulk/plan.ts';
import { flight, flights } from '../flight.ts';

const recordOf = (planned: PlannedRecord): Record<string, string> => JSON.parse(planned.line) as Record<string, string>;
const planOne = (planned: Flight): PlannedRecord => planMessages([planned])[0]!.records[0]!;

describe('the plan', () => {
  test('publishes every flight in exactly one message, in order where they travel together', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3000 }), (count) => {
        const planned = planMessages(flights(count)).flatMap(({ records }) => records.map((record) => record.flight));
        expect(planned.map(({ number }) => number).toSorted((left, right) => left - right)).toEqual(
          flights(count).map(({ number }) => number),
        );
      }),
      { seed: 7, numRuns: 40 },
    );
  });

  test('packs a hundred records a message, sends every twentieth flight alone and some messages twice', () => {
    const plan = planMessages(flights(6000));
    const sizes = plan.map(({ records }) => records.length);
    expect(sizes.filter((size) => size === 100)).toHaveLength(56);
    expect(sizes.filter((size) => size === 1)).toHaveLength(301);
    expect(plan.filter(({ copies }) => copies === 2).length).toBe(Math.ceil((plan.length - 3) / 20));
    expect(
      messageData(plan.find(({ records }) => records.length === 100)!)
        .toString()
        .split('\n'),
    ).toHaveLength(100);
  });

  test('breaks a record in the way its fate says', () => {
    expect(recordOf(planOne(flight(101))).key).toBe('');
    expect(Buffer.byteLength(recordOf(planOne(flight(202))).key!)).toBe(4097);
    expect(BigInt(recordOf(planOne(flight(303))).departureMicros!) % 1000n).toBe(1n);
    expect(() => recordOf(planOne(flight(404)))).toThrow(SyntaxError);
    expect(recordOf(planOne(flight(5))).family).toBe('review');
  });
});
