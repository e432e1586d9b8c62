import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Bound,
  closedBound,
  coalesce,
  containsKey,
  isEmptyRange,
  openBound,
  prefixRange,
  type RowRange,
  truncateAfter,
  UNBOUNDED,
} from '../../../shared/model/row-range.ts';
import { countsByRange, cutAtBounds } from '../../../shared/scan/count-ranges.ts';
import { splitRanges } from '../../../shared/scan/plan/split-ranges.ts';
import { NO_COUNTS } from '../../../shared/scan/runs/split.ts';

/** Keys of up to three bytes out of two letters and the zero byte: all of them are rows. */
const LETTERS = [0, 0x61, 0x62];
const KEYS = LETTERS.flatMap((first) => [
  Buffer.of(first),
  ...LETTERS.flatMap((second) => [
    Buffer.of(first, second),
    ...LETTERS.map((third) => Buffer.of(first, second, third)),
  ]),
]);

const anyKey = fc.constantFrom(...KEYS);
const anyBound: fc.Arbitrary<Bound> = fc.oneof(
  fc.constant(UNBOUNDED),
  anyKey.map((key) => closedBound(key)),
  anyKey.map((key) => openBound(key)),
);
const anyRange: fc.Arbitrary<RowRange> = fc
  .oneof(fc.record({ start: anyBound, end: anyBound }), anyKey.map(prefixRange))
  .filter((range) => !isEmptyRange(range));
const anyRanges = fc.array(anyRange, { minLength: 1, maxLength: 5 });

const rowsIn = (range: RowRange): number => KEYS.filter((key) => containsKey(range, key)).length;
const countsOf = (rows: number) => ({ ...NO_COUNTS, rows, cells: 2 * rows, bytes: 10 * rows });

test('cut where a range begins or ends, the pieces hold every row of the ranges once, and each lies in a range or outside', () => {
  fc.assert(
    fc.property(anyRanges, (written) => {
      const pieces = cutAtBounds(coalesce(written), written);
      for (const key of KEYS) {
        const holders = pieces.filter((piece) => containsKey(piece, key)).length;
        expect(holders).toBe(written.some((range) => containsKey(range, key)) ? 1 : 0);
      }
      for (const piece of pieces) {
        const keys = KEYS.filter((key) => containsKey(piece, key));
        for (const range of written) {
          expect(new Set(keys.map((key) => containsKey(range, key))).size).toBeLessThan(2);
        }
      }
    }),
  );
});

test('every range counts the rows that lie in it, however ranges overlap, tablets lie and splits have moved', () => {
  fc.assert(
    fc.property(anyRanges, fc.array(anyKey), fc.array(anyKey), (written, tablets, moved) => {
      const samples = tablets.map((key) => ({ key, offsetBytes: 0n }));
      const splits = splitRanges(cutAtBounds(coalesce(written), written), samples).map(({ range }) => {
        const position = moved.find((key) => containsKey(range, key));
        return { range: position ? truncateAfter(range, position) : range, counts: countsOf(rowsIn(range)) };
      });
      expect(countsByRange(written, splits.toReversed())).toEqual(
        written.map((range) => {
          const { rows, cells, bytes } = countsOf(rowsIn(range));
          return { range, rows, cells, bytes };
        }),
      );
    }),
    { numRuns: 1000 },
  );
});

test('twenty thousand prefixes beside each other are cut and counted each for itself, in time', () => {
  const written = Array.from({ length: 20_000 }, (_, at) => prefixRange(Buffer.from(String(at + 10_000))));
  const pieces = cutAtBounds(coalesce(written), written);
  const counted = countsByRange(
    written,
    pieces.map((range) => ({ range, counts: countsOf(1) })),
  );
  expect(pieces).toHaveLength(20_000);
  expect(counted.every(({ rows }) => rows === 1)).toBe(true);
});
