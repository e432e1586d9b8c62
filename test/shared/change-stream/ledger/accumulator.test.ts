import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Accumulator } from '../../../../shared/change-stream/ledger/accumulator.ts';
import { meets, tiles } from '../../../../shared/change-stream/ledger/cover.ts';
import type { Token } from '../../../../shared/change-stream/ledger/partition.ts';
import { type RowRange, WHOLE_TABLE } from '../../../../shared/model/row-range.ts';
import { range, token } from '../../../support/partitions.ts';

const of = (target: RowRange, ...tokens: Token[]): Accumulator => {
  const accumulator = new Accumulator(target);
  for (const each of tokens) accumulator.add(each);
  return accumulator;
};

describe('tokens of a target', () => {
  test('are complete once they tile it, in whatever order they come, and stand in the order of the keys', () => {
    const accumulator = of(range('a', 'd'), token('c', 'd'), token('a', 'b'));
    expect(accumulator.isComplete).toBe(false);
    accumulator.add(token('b', 'c'));
    expect(accumulator.isComplete).toBe(true);
    expect(accumulator.tokens.map(({ token: text }) => text)).toEqual(['a-b', 'b-c', 'c-d']);
  });

  test('are never complete where two of them overlap', () => {
    expect(of(range('a', 'd'), token('a', 'c'), token('b', 'd')).isComplete).toBe(false);
  });

  test('of one range are both kept where they differ, and then they are never complete', () => {
    const accumulator = of(range('a', 'c'), token('a', 'b', '1'), token('a', 'b', '2'), token('b', 'c'));
    expect(accumulator.tokens).toHaveLength(3);
    expect(accumulator.isComplete).toBe(false);
  });

  test('that come twice count once', () => {
    const accumulator = of(range('a', 'c'), token('a', 'b'));
    expect(accumulator.add(token('a', 'b'))).toBe(false);
    accumulator.add(token('b', 'c'));
    expect(accumulator.isComplete).toBe(true);
    expect(accumulator.tokens).toHaveLength(2);
  });

  test('that are kept in another order are read in theirs', () => {
    const stored = [token('b', 'c'), token('a', 'b')];
    expect(new Accumulator(range('a', 'c'), stored).tokens).toEqual([token('a', 'b'), token('b', 'c')]);
  });

  test('without an end are no error, twice neither', () => {
    expect(of(WHOLE_TABLE, token('b', '', '1'), token('b', '', '2'), token('', 'b')).isComplete).toBe(false);
    expect(of(WHOLE_TABLE, token('', 'b'), token('b', '')).isComplete).toBe(true);
  });
});

test('a range that holds its end is refused as a target and as a token', () => {
  const closed: RowRange = { start: { kind: 'unbounded' }, end: { kind: 'closed', key: Buffer.from('k') } };
  expect(() => new Accumulator(closed)).toThrow(RangeError);
  expect(() => of(WHOLE_TABLE, { range: closed, token: 't' })).toThrow('is no partition');
});

test('a thousand parents cost three looks at neighbours each at most, in any order', () => {
  const keys = Array.from({ length: 1001 }, (_, index) => String(index).padStart(4, '0'));
  const tokens = keys.slice(1).map((end, index) => token(keys[index] ?? '', end));
  const shuffled = tokens.toSorted(
    (left, right) => ((Number(left.token.slice(-3)) * 7) % 997) - ((Number(right.token.slice(-3)) * 7) % 997),
  );
  let looks = 0;
  const accumulator = new Accumulator(range('0000', '1000'), [], (left, right) => {
    looks += 1;
    return meets(left, right);
  });
  for (const each of shuffled) accumulator.add(each);
  expect(accumulator.isComplete).toBe(true);
  expect(looks).toBeLessThanOrEqual(3 * tokens.length);
});

test('any tokens in any order come to what a look at all of them says', () => {
  const keys = fc.constantFrom('', 'b', 'c', 'd', 'e');
  const tokens = fc
    .tuple(keys, keys, fc.constantFrom('1', '2'))
    .filter(([start, end]) => end === '' || start < end)
    .map(([start, end, text]) => token(start, end, text));
  fc.assert(
    fc.property(fc.array(tokens, { maxLength: 7 }), fc.constantFrom(WHOLE_TABLE, range('b', 'd')), (all, target) => {
      const accumulator = of(target, ...all);
      const distinct = new Map(all.map((each) => [JSON.stringify(each), each]));
      expect(accumulator.tokens).toHaveLength(distinct.size);
      expect(accumulator.isComplete).toBe(
        tiles(
          target,
          [...distinct.values()].map((each) => each.range),
        ),
      );
      expect(new Accumulator(target, all.toReversed()).tokens).toEqual(accumulator.tokens);
    }),
    { numRuns: 500 },
  );
});
