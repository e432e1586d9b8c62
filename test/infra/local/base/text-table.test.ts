import { expect, test } from 'vitest';
import { textTable } from '../../../../infra/local/base/text-table.ts';

test('a table has columns as wide as their widest cell, numbers to the right', () => {
  const table = textTable(
    ['what', 'got', ''],
    [
      ['a', '1,200', 'ok'],
      ['longer', '7', ''],
    ],
  );
  expect(table).toBe('what      got\na       1,200  ok\nlonger      7\n');
});
