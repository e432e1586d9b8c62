import { expect, test } from 'vitest';
import { textTable } from '../../../shared/base/text-table.ts';

const rows = [
  ['what', 'got', ''],
  ['a', '1,200', 'ok'],
  ['longer', '7', ''],
];

test('a table has columns as wide as their widest cell, and no space at the end of a line', () => {
  expect(textTable(rows)).toBe('what    got\na       1,200  ok\nlonger  7');
});

test('a column of numbers stands to the right on request, its heading with it', () => {
  expect(textTable(rows, { numbersToTheRight: true })).toBe('what      got\na       1,200  ok\nlonger      7');
});

test('a table of no rows is empty, and rows may be of different lengths', () => {
  expect(textTable([])).toBe('');
  expect(textTable([['a'], ['longer', 'b']])).toBe('a\nlonger  b');
});
