import { expect, test } from 'vitest';
import { liveCells, sweepColumn, type GcRule } from '../../../../../../infra/local/servers/bigtable/rows/gc.ts';
import { columnRun, putCell, type Row } from '../../../../../../infra/local/servers/bigtable/rows/row.ts';

const NOW_MICROS = 10_000_000n;

/** A row with one column of versions of these ages in seconds, in family f, and one cell of family g. */
function rowOf(...agesSeconds: readonly bigint[]): Row {
  const row: Row = { key: 'r', cells: [] };
  const cell = (family: string, age: bigint) => ({
    family,
    qualifier: 'q',
    timestampMicros: NOW_MICROS - age * 1_000_000n,
    value: Buffer.alloc(0),
  });
  for (const age of agesSeconds) putCell(row, cell('f', age));
  putCell(row, cell('g', 9n));
  return row;
}

const agesLeft = (row: Row, rule: GcRule | undefined): bigint[] =>
  liveCells(row.cells, (family) => (family === 'f' ? rule : undefined), NOW_MICROS)
    .filter(({ family }) => family === 'f')
    .map(({ timestampMicros }) => (NOW_MICROS - timestampMicros) / 1_000_000n);

const versions = (count: number): GcRule => ({ kind: 'maxVersions', versions: count });
const age = (seconds: bigint): GcRule => ({ kind: 'maxAge', micros: seconds * 1_000_000n });

test.each<{ name: string; rule: GcRule | undefined; left: bigint[] }>([
  { name: 'no rule keeps everything', rule: undefined, left: [0n, 2n, 4n, 6n] },
  { name: 'a maximum of versions keeps the newest', rule: versions(2), left: [0n, 2n] },
  { name: 'a maximum of age keeps what is no older', rule: age(4n), left: [0n, 2n, 4n] },
  { name: 'a union condemns what either does', rule: { kind: 'union', rules: [versions(3), age(2n)] }, left: [0n, 2n] },
  {
    name: 'an intersection condemns what both do',
    rule: { kind: 'intersection', rules: [versions(1), age(2n)] },
    left: [0n, 2n],
  },
  { name: 'an empty intersection condemns nothing', rule: { kind: 'intersection', rules: [] }, left: [0n, 2n, 4n, 6n] },
])('$name', ({ rule, left }) => {
  expect(agesLeft(rowOf(6n, 0n, 4n, 2n), rule)).toEqual(left);
});

test('other families keep their own rules', () => {
  const row = rowOf(1n, 2n);
  const live = liveCells(row.cells, (family) => (family === 'g' ? age(1n) : undefined), NOW_MICROS);
  expect(live.map(({ family }) => family)).toEqual(['f', 'f']);
});

test('a sweep frees what the rule condemns and nothing of other columns', () => {
  const row = rowOf(0n, 1n, 2n, 3n);
  sweepColumn(row, columnRun(row, 'f', 'q'), versions(1), NOW_MICROS);
  expect(row.cells.map(({ family }) => family)).toEqual(['f', 'g']);
});

test('a column written forever under a maximum of versions stays small', () => {
  const row: Row = { key: 'r', cells: [] };
  for (let version = 1; version <= 1000; version += 1) {
    putCell(row, { family: 'f', qualifier: 'q', timestampMicros: BigInt(version) * 1000n, value: Buffer.alloc(0) });
    sweepColumn(row, columnRun(row, 'f', 'q'), versions(3), NOW_MICROS);
    expect(row.cells.length).toBeLessThanOrEqual(4);
  }
  expect(row.cells[0]?.timestampMicros).toBe(1_000_000n);
});
