import fc from 'fast-check';
import { expect, test } from 'vitest';
import { USUAL_SCANS } from '../../../../../../infra/local/servers/bigtable/database.ts';
import { rowChunks } from '../../../../../../infra/local/servers/bigtable/requests/chunks.ts';
import { type ReadCell, compareCells } from '../../../../../../infra/local/servers/bigtable/rows/row.ts';
import { assemble } from '../../../../../support/bigtable-raw-client.ts';

const PIECE_BYTES = USUAL_SCANS.pieceBytes;

const cell = (family: string, qualifier: string, value: Buffer, timestampMicros = 1000n): ReadCell => ({
  family,
  qualifier,
  timestampMicros,
  value,
});

test('family and qualifier are named where they change, the row in its first chunk, the commit in its last', () => {
  const value = Buffer.from('v');
  const cells = [cell('f', 'p', value, 2000n), cell('f', 'p', value), cell('f', 'q', value), cell('g', 'q', value)];
  const chunks = rowChunks('key', cells, PIECE_BYTES);
  expect(chunks.map(({ rowKey }) => rowKey.toString())).toEqual(['key', '', '', '']);
  expect(chunks.map(({ familyName }) => familyName)).toEqual(['f', undefined, undefined, 'g']);
  expect(chunks.map(({ qualifier }) => qualifier?.toString())).toEqual(['p', undefined, 'q', 'q']);
  expect(chunks.map(({ rowStatus }) => rowStatus?.$case)).toEqual([undefined, undefined, undefined, 'commitRow']);
});

test.each([
  { bytes: PIECE_BYTES, sizes: [0] },
  { bytes: PIECE_BYTES + 1, sizes: [PIECE_BYTES + 1, 0] },
  { bytes: 3 * PIECE_BYTES, sizes: [3 * PIECE_BYTES, 3 * PIECE_BYTES, 0] },
])('a value of $bytes bytes announces its size with all pieces but the last', ({ bytes, sizes }) => {
  const chunks = rowChunks('key', [cell('f', 'q', Buffer.alloc(bytes))], PIECE_BYTES);
  expect(chunks.map(({ valueSize }) => valueSize)).toEqual(sizes);
  expect(chunks.map(({ rowStatus }) => rowStatus?.$case).at(-1)).toBe('commitRow');
});

test('a reader that checks the rules gets back the cells that went in', () => {
  const anyCell = fc.record({
    family: fc.constantFrom('f', 'g'),
    qualifier: fc.constantFrom('', 'p', '\xff'),
    timestampMicros: fc.constantFrom(0n, 1000n, 2000n),
    value: fc.constantFrom(0, 1, PIECE_BYTES, PIECE_BYTES + 1).map((bytes) => Buffer.alloc(bytes, 'v')),
  });
  const property = fc.property(fc.array(anyCell, { minLength: 1, maxLength: 6 }), (unsorted) => {
    const cells = unsorted.toSorted(compareCells);
    const [row] = assemble([
      { chunks: rowChunks('key', cells, PIECE_BYTES), lastScannedRowKey: Buffer.alloc(0), requestStats: undefined },
    ]);
    const expected = cells.map(
      (each) => `${each.family}:${each.qualifier}@${each.timestampMicros}=${each.value.toString('latin1')}`,
    );
    expect(row?.cells).toEqual(expected);
  });
  fc.assert(property, { seed: 5, numRuns: 50 });
});
