import { expect, test } from 'vitest';
import { cellsIn, compareSnapshots, rowText } from '../../../../../infra/local/demo/scan/cells.ts';

const cell = (qualifier: string, timestampMicros: string, value: string) => ({
  ...{ qualifier, timestampMicros, value: Buffer.from(value) },
});

test('a row has one text, in whatever order its cells were read', () => {
  const cells = [cell('b', '1', 'x y'), cell('a', '2', ''), cell('a', '1', '')];
  expect(rowText(cells)).toBe('a@1= a@2= b@1=eCB5');
  expect(rowText(cells.toReversed())).toBe(rowText(cells));
  expect(cellsIn(new Map([['row', rowText(cells)]]))).toBe(3);
});

test('snapshots differ by rows that one of them lacks, and by cells of rows that both have', () => {
  const left = new Map([
    ['both', 'a@1='],
    ['other', 'a@1='],
    ['left', 'a@1='],
  ]);
  const right = new Map([
    ['both', 'a@1='],
    ['other', 'a@2='],
    ['right', 'a@1='],
    ['right too', 'a@1='],
  ]);
  expect(compareSnapshots(left, left)).toEqual({ rows: 0, cells: 0 });
  expect(compareSnapshots(left, right)).toEqual({ rows: 3, cells: 1 });
});
