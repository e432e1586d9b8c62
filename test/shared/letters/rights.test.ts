import { describe, expect, test } from 'vitest';
import { resolveMapping } from '../../../shared/mapping/declared/resolve.ts';
import { tableName } from '../../../shared/model/table-name.ts';
import { checkTouched, LetterError, letterRights, type LetterRights } from '../../../shared/letters/rights.ts';

const HOME = { project: 'p', instance: 'i' };
const FIXED = tableName('p', 'i', 'orders');

const mappingOf = (written: object): LetterRights => {
  const { mapping } = resolveMapping({ rowKey: '${k}', ...written }, 'mapping');
  if (!mapping) throw new Error('the mapping is right');
  return letterRights({ destination: { table: FIXED, home: HOME }, mapping, namesTables: false });
};
const tablesOf = ({ mayWriteTo }: LetterRights): string[] =>
  [FIXED, tableName('p', 'i', 'eu'), tableName('p', 'i', 'other'), tableName('q', 'j', 'orders')]
    .filter(mayWriteTo)
    .map(({ project, table }) => `${project}.${table}`);
const CELLS = { families: { cells: { columns: { n: 'int64' } } } };

describe('tables', () => {
  test('a pipeline of one table writes that, and no other of its instance', () => {
    expect(tablesOf(letterRights({ destination: { table: FIXED, home: HOME }, namesTables: false }))).toEqual([
      'p.orders',
    ]);
    expect(tablesOf(mappingOf(CELLS))).toEqual(['p.orders']);
  });

  test.each([
    [{ table: FIXED, home: HOME, attribute: 'table' }, false],
    [{ table: FIXED, home: HOME }, true],
    [{}, true],
  ])('records that name their table may name any: %j', (destination, namesTables) => {
    expect(tablesOf(letterRights({ destination, namesTables }))).toEqual(['p.orders', 'p.eu', 'p.other', 'q.orders']);
  });

  test('a mapping names the tables that it lists, of its own instance', () => {
    const listed = mappingOf({ ...CELLS, destination: { template: '${region}', tables: ['eu', 'us'] } });
    expect(tablesOf(listed)).toEqual(['p.orders', 'p.eu']);
    const matched = mappingOf({ ...CELLS, destination: { template: '${region}', pattern: '[a-z]+', maxTables: 9 } });
    expect(tablesOf(matched)).toEqual(['p.orders', 'p.eu', 'p.other']);
  });
});

describe('families', () => {
  const isAllowed = (rights: LetterRights, families: readonly string[], isRowDeleted = false): boolean => {
    try {
      checkTouched({ families, isRowDeleted }, rights);
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(LetterError);
      return false;
    }
  };

  test('of a mapping are those that it declares, and rows are deleted where it deletes rows', () => {
    const operation = { field: 'op', values: { w: 'write', f: { deleteFamilies: ['cells'] }, d: 'delete-row' } };
    const plain = mappingOf(CELLS);
    expect([isAllowed(plain, ['cells']), isAllowed(plain, ['cells', 'old']), isAllowed(plain, [], true)]).toEqual([
      true,
      false,
      false,
    ]);
    const deleting = mappingOf({ ...CELLS, operation });
    expect([isAllowed(deleting, ['old']), isAllowed(deleting, [], true)]).toEqual([false, true]);
    const byFamily = mappingOf({ ...CELLS, operation: { ...operation, rowDelete: 'declared-families' } });
    expect([isAllowed(byFamily, ['cells']), isAllowed(byFamily, [], true)]).toEqual([true, false]);
  });

  test('of a serializer that declares none are any', () => {
    const rights = letterRights({ destination: { table: FIXED }, namesTables: false });
    expect([isAllowed(rights, ['whatever']), isAllowed(rights, [], true)]).toEqual([true, true]);
  });
});
