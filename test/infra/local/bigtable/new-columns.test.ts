import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyMutations } from '../../../../infra/local/bigtable/apply.ts';
import { putCell, type Row } from '../../../../infra/local/bigtable/row.ts';
import { parseFamily } from '../../../../infra/local/bigtable/schema.ts';
import type { Mutation } from '../../../../infra/local/proto/google/bigtable/v2/data.ts';

const FAMILIES = new Map(
  ['f', 'g'].map((name) => [
    name,
    parseFamily(name, {
      gcRule: name === 'f' ? { rule: { $case: 'maxNumVersions', value: 2 } } : undefined,
      valueType: undefined,
    }),
  ]),
);
const CONTEXT = { families: FAMILIES, nowMicros: 10_000n, isReplay: false };

/** A row that is long enough for its new columns to be gathered: every other qualifier of `f` and of `g`. */
function longRow(): Row {
  const row: Row = { key: 'r', cells: [] };
  for (const family of ['f', 'g']) {
    for (let at = 0; at < 1200; at += 2) {
      putCell(row, { family, qualifier: String(at).padStart(4, '0'), timestampMicros: 3000n, value: Buffer.alloc(0) });
    }
  }
  return row;
}

const familyName = fc.constantFrom('f', 'g');
const columnQualifier = fc.nat(1300).map((at) => Buffer.from(String(at).padStart(4, '0')));
/** Few of them, so that a list meets its own columns again. */
const nearQualifier = fc.constantFrom('', '0000', '0003', '0004', '9999').map((each) => Buffer.from(each));

const setCell = fc
  .record({
    familyName,
    columnQualifier: fc.oneof(columnQualifier, nearQualifier),
    timestampMicros: fc.constantFrom(-1n, 1000n, 2000n, 3000n, 4000n),
    value: fc.nat(9).map((digit) => Buffer.from(String(digit))),
  })
  .map((value): Mutation => ({ mutation: { $case: 'setCell', value } }));
const deletion = fc.oneof(
  { weight: 6, arbitrary: fc.record({ familyName, columnQualifier: nearQualifier }) },
  { weight: 1, arbitrary: fc.record({ familyName }) },
  { weight: 1, arbitrary: fc.constant({}) },
);
const asMutation = fc.oneof(
  { weight: 10, arbitrary: setCell },
  {
    weight: 1,
    arbitrary: deletion.map((value): Mutation => {
      if ('columnQualifier' in value) {
        return { mutation: { $case: 'deleteFromColumn', value: { ...value, timeRange: undefined } } };
      }
      return 'familyName' in value
        ? { mutation: { $case: 'deleteFromFamily', value } }
        : { mutation: { $case: 'deleteFromRow', value: {} } };
    }),
  },
);

test('a list of mutations leaves a long row as the same mutations one by one leave it', () => {
  const property = fc.property(fc.array(asMutation, { maxLength: 60 }), (mutations) => {
    const [together, apart] = [longRow(), longRow()];
    applyMutations(together, mutations, CONTEXT);
    // A list of one gathers nothing that another mutation could meet.
    for (const mutation of mutations) applyMutations(apart, [mutation], CONTEXT);
    expect(together.cells).toEqual(apart.cells);
  });
  fc.assert(property, { seed: 17, numRuns: 150 });
});

test('gathered cells stand where putting each in its place puts them', () => {
  const property = fc.property(fc.uniqueArray(fc.nat(1300), { minLength: 1, maxLength: 200 }), (places) => {
    const row = longRow();
    const expected = longRow();
    const cells = places.map((at) => ({
      family: 'g',
      qualifier: String(at).padStart(4, '0'),
      timestampMicros: 5000n,
      value: Buffer.from('new'),
    }));
    for (const cell of cells) putCell(expected, cell);
    const mutations = cells.map(({ family, qualifier, ...cell }): Mutation => ({
      mutation: {
        $case: 'setCell',
        value: { familyName: family, columnQualifier: Buffer.from(qualifier), ...cell },
      },
    }));
    applyMutations(row, mutations, CONTEXT);
    expect(row.cells).toEqual(expected.cells);
  });
  fc.assert(property, { seed: 23, numRuns: 50 });
});
