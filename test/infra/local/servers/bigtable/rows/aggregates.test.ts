import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  addInput,
  estimateDistinct,
  int64Bytes,
  mergeState,
  type Aggregate,
} from '../../../../../../infra/local/servers/bigtable/rows/aggregates.ts';

const int64 = (aggregator: Aggregate['aggregator']): Aggregate => ({ aggregator, input: 'int64' });

const stateOf = (aggregate: Aggregate, inputs: readonly bigint[]): Buffer | undefined =>
  inputs.reduce<Buffer | undefined>((state, input) => addInput(aggregate, state, input), undefined);

test.each([
  { aggregator: 'sum', expected: 11n },
  { aggregator: 'min', expected: 3n },
  { aggregator: 'max', expected: 5n },
] as const)('$aggregator of 3, 5, 3 is $expected', ({ aggregator, expected }) => {
  expect(stateOf(int64(aggregator), [3n, 5n, 3n])?.readBigInt64BE()).toBe(expected);
});

test('a sum outside int64 wraps around', () => {
  expect(stateOf(int64('sum'), [2n ** 63n - 1n, 1n])?.readBigInt64BE()).toBe(-(2n ** 63n));
});

test('merging two states is the same as adding all their inputs', () => {
  const inputs = fc.array(fc.bigInt({ min: -(2n ** 40n), max: 2n ** 40n }), { minLength: 1, maxLength: 20 });
  const aggregators = fc.constantFrom<Aggregate['aggregator']>('sum', 'min', 'max', 'distinct');
  fc.assert(
    fc.property(aggregators, inputs, inputs, (aggregator, left, right) => {
      const aggregate = int64(aggregator);
      const merged = mergeState(aggregate, stateOf(aggregate, left), stateOf(aggregate, right) ?? Buffer.alloc(0));
      expect(merged).toEqual(stateOf(aggregate, [...left, ...right]));
    }),
    { seed: 1, numRuns: 200 },
  );
});

test.each([2, 30, 1000, 5000])('the distinct count of %i inputs, each seen twice, is close', (count) => {
  const inputs = Array.from({ length: count }, (_, index) => BigInt(index));
  const estimate = estimateDistinct(stateOf(int64('distinct'), [...inputs, ...inputs]) ?? Buffer.alloc(0));
  expect(Math.abs(estimate - count)).toBeLessThanOrEqual(Math.ceil(count * 0.05));
});

test('adding does not change the state that a reader may hold', () => {
  const aggregate: Aggregate = { aggregator: 'distinct', input: 'bytes' };
  const state = addInput(aggregate, undefined, int64Bytes(1n));
  const copy = Buffer.from(state);
  addInput(aggregate, state, int64Bytes(2n));
  expect(state).toEqual(copy);
});
