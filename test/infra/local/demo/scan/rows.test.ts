import { expect, test } from 'vitest';
import { planTable, rowKeyOf, tableRows } from '../../../../../infra/local/demo/scan/rows.ts';
import { flights } from '../flight.ts';

const rows = (count: number, of = 10) => [...tableRows(flights(of), planTable(count), 1000)];
const columns = ({ mutations }: ReturnType<typeof rows>[number]): string[] =>
  mutations.flatMap(({ mutation }) =>
    mutation?.$case === 'setCell'
      ? [`${mutation.value.columnQualifier.toString()} ${mutation.value.value.length}`]
      : [],
  );

test('a table has as many rows as it is planned with, each under a key of its own, also where the flights begin again', () => {
  const keys = rows(25).map(({ rowKey }) => rowKey.toString());
  expect(new Set(keys).size).toBe(25);
  expect(keys[1]).toBe('25#0000001');
  expect(keys).toContain(rowKeyOf(24));
});

test('one row is above the size that may be read, and one has a distance that is no number', () => {
  const { largeKey, refusedKey } = planTable(100);
  const named = new Map(rows(100).map((row) => [row.rowKey.toString(), columns(row)]));
  expect(named.get(largeKey)).toContain('track 1000');
  expect(named.get(refusedKey)).toContain('distance 3');
  expect([...named.values()].filter((of) => of.some((column) => /track|distance 3/.test(column)))).toHaveLength(2);
});

test('every tenth flight has an older version of its delay', () => {
  const versions = rows(20).map((row) => columns(row).filter((column) => column.startsWith('delay')).length);
  expect(versions.filter((count) => count === 2)).toHaveLength(2);
  expect(versions[10]).toBe(2);
});
