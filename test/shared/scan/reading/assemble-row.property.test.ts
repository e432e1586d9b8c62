import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cellBytes, type Row, textBytes } from '../../../../shared/model/row.ts';
import { WHOLE_TABLE } from '../../../../shared/model/row-range.ts';
import { RowAssembler } from '../../../../shared/scan/reading/assemble-row.ts';
import { type Chunk, rowsMessage, rowText } from '../../../support/row-chunks.ts';

interface CellSpec {
  readonly family: string;
  readonly qualifier: string;
  readonly micros: bigint;
  readonly labels: readonly string[];
  readonly value: string;
  /** Where the value is cut into pieces. */
  readonly cuts: readonly number[];
}

interface RowSpec {
  readonly key: string;
  readonly cells: readonly CellSpec[];
  /** How many of its chunks come before it is reset and begins anew, for each reset. */
  readonly resets: readonly number[];
  readonly namesKeyAgain: boolean;
}

const text = (maxLength: number): fc.Arbitrary<string> => fc.string({ maxLength });
const cell: fc.Arbitrary<CellSpec> = fc.record({
  family: fc.constantFrom('f', 'g', 'häß'),
  qualifier: fc.oneof(fc.constantFrom('', 'q', 'r'), text(100)),
  micros: fc.oneof(fc.constant(0n), fc.bigInt({ min: -5n, max: 2n ** 63n - 1n })),
  labels: fc.array(text(5), { maxLength: 2 }),
  value: text(40),
  cuts: fc.array(fc.nat(40), { maxLength: 3 }),
});
const rows: fc.Arbitrary<RowSpec[]> = fc
  .uniqueArray(
    fc.record({
      key: fc.string({ minLength: 1, maxLength: 8 }),
      cells: fc.array(cell, { minLength: 1, maxLength: 5 }),
      resets: fc.array(fc.nat(12), { maxLength: 2 }),
      namesKeyAgain: fc.boolean(),
    }),
    { selector: ({ key }) => key, maxLength: 6 },
  )
  .map((some) => some.toSorted((left, right) => Buffer.compare(Buffer.from(left.key), Buffer.from(right.key))));

/** The chunks of a row, as a service may send it. */
function chunksOf({ key, cells, resets, namesKeyAgain }: RowSpec): Chunk[] {
  const chunks: Chunk[] = [];
  let family: string | undefined;
  let qualifier: string | undefined;
  for (const each of cells) {
    const isNewFamily = each.family !== family;
    const value = Buffer.from(each.value);
    const cuts = [...new Set(each.cuts.filter((cut) => cut < value.length))].toSorted((left, right) => left - right);
    const pieces = [0, ...cuts].map((from, index) => value.subarray(from, cuts[index] ?? value.length));
    for (const [index, piece] of pieces.entries()) {
      const isFirst = index === 0;
      chunks.push({
        ...(isFirst && (chunks.length === 0 || namesKeyAgain) && { key }),
        ...(isFirst && isNewFamily && { family: each.family }),
        ...(isFirst && (isNewFamily || each.qualifier !== qualifier) && { qualifier: each.qualifier }),
        ...(isFirst && { micros: each.micros, labels: each.labels }),
        value: piece,
        ...(index < pieces.length - 1 && { size: value.length }),
      });
    }
    ({ family, qualifier } = each);
  }
  chunks[chunks.length - 1] = { ...chunks.at(-1), status: 'commit' };
  const undone = resets.flatMap((count): Chunk[] => {
    const begun = chunks.slice(0, Math.min(count, chunks.length - 1));
    return begun.length > 0 ? [...begun, { status: 'reset' }] : [];
  });
  return [...undone, ...chunks];
}

const specText = ({ key, cells }: RowSpec): string =>
  `${key} ${cells.map(({ family, qualifier, micros, value, labels }) => `${family}:${qualifier}@${micros}=${value}${labels.map((label) => ` #${label}`).join('')}`).join(' ')}`;

/** The estimate, from the parts of the row. */
const estimate = ({ key, cells }: Row): number =>
  cells.reduce(
    (sum, { family, qualifier, timestampMicros, value, labels }) =>
      sum +
      cellBytes(Buffer.byteLength(family), qualifier.length, timestampMicros, value.length) +
      labels.reduce((labelled, label) => labelled + textBytes(Buffer.byteLength(label)), 0),
    textBytes(key.length),
  );

test('rows come out as they went in, wherever values, rows and messages are cut and whatever is reset on the way', () => {
  fc.assert(
    fc.property(
      rows,
      fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 200 }),
      (specs, messageSizes, maxRows, maxBytes) => {
        const chunks = specs.flatMap(chunksOf);
        const assembler = new RowAssembler(WHOLE_TABLE);
        const seen: Row[] = [];
        for (let from = 0, index = 0; from < chunks.length; index += 1) {
          const size = messageSizes[index % messageSizes.length] as number;
          assembler.feed(rowsMessage(chunks.slice(from, from + size)));
          from += size;
          while (assembler.hasMore) {
            const taken = assembler
              .take(maxRows, maxBytes)
              .flatMap((event) => (event.kind === 'row' ? [event.row] : []));
            expect(taken.length).toBeLessThanOrEqual(maxRows);
            if (taken.length > 1)
              expect(taken.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(maxBytes);
            seen.push(...taken);
          }
        }
        assembler.end();
        expect(assembler.openBytes).toBe(0);
        expect(seen.map(rowText)).toEqual(specs.map(specText));
        expect(seen.map(({ bytes }) => bytes)).toEqual(seen.map(estimate));
      },
    ),
    { numRuns: 1000 },
  );
});
