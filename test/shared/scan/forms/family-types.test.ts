import { expect, test } from 'vitest';
import { readFamilyTypes } from '../../../../shared/scan/forms/family-types.ts';

const table = { project: 'p', instance: 'i', table: 't' };
const { signal } = new AbortController();

test('the types of families are those of the table', async () => {
  const families = new Map([
    ['cf', { type: 'raw', keptMillis: Infinity }],
    ['totals', { type: 'int64-sum', keptMillis: 1 }],
  ]);
  expect(await readFamilyTypes({ readFamilies: () => Promise.resolve(families) }, table, signal)).toEqual(
    new Map([
      ['cf', 'raw'],
      ['totals', 'int64-sum'],
    ]),
  );
});

test('a table that is not there is said to be missing', async () => {
  await expect(readFamilyTypes({ readFamilies: () => Promise.resolve(undefined) }, table, signal)).rejects.toThrow(
    'GetTable: the table p.i.t does not exist: restore it, or cancel the run',
  );
});
