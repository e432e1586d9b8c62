import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createTableAdmin } from '../../../../shared/bulk/repair/ensure-table.ts';
import { FamilyTypeError, UnstableTableError } from '../../../../shared/bulk/repair/table-errors.ts';
import { TableAdminError } from '../../../../shared/model/table-admin-error.ts';
import type { FamilyType, ResolvedTableCreateOptions } from '../../../../shared/config/resolved.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import { FakeTableCalls } from '../../../support/fake-table-calls.ts';

const TABLE = tableName('p', 'i', 't');
const never = new AbortController().signal;

const options = (families: Readonly<Record<string, FamilyType>>): ResolvedTableCreateOptions => ({
  families: Object.fromEntries(Object.entries(families).map(([name, type]) => [name, { type }])),
});

const RAW = options({ a: 'raw', b: 'raw' });
const MIXED = options({ sum: 'int64-sum', a: 'raw' });

const ensure = (calls: FakeTableCalls, declared: ResolvedTableCreateOptions) =>
  createTableAdmin(calls).ensure(TABLE, declared, never);

describe('ensuring a table', () => {
  test('creates a missing one with every family, and asks nothing more', async () => {
    const calls = new FakeTableCalls();
    expect(await ensure(calls, MIXED)).toEqual({ created: true, familiesAdded: 0, families: new Set(['sum', 'a']) });
    expect(calls.log).toEqual(['create']);
    expect(calls.families).toEqual(new Map(Object.entries({ sum: 'int64-sum', a: 'raw' })));
  });

  test('adds only the missing families of an existing one, in one request, and reports all that it has', async () => {
    const calls = new FakeTableCalls({ a: 'raw', other: 'raw' });
    const result = await ensure(calls, options({ a: 'raw', b: 'raw', c: 'raw' }));
    expect(result).toEqual({ created: false, familiesAdded: 2, families: new Set(['a', 'other', 'b', 'c']) });
    expect(calls.log).toEqual(['create', 'read', 'add b c']);
  });

  test('adds nothing where nothing is missing', async () => {
    const calls = new FakeTableCalls({ a: 'raw', b: 'raw' });
    expect(await ensure(calls, RAW)).toMatchObject({ created: false, familiesAdded: 0 });
    expect(calls.log).toEqual(['create', 'read']);
  });

  test('after another instance added one of them, reads again and adds the rest', async () => {
    const calls = new FakeTableCalls({});
    calls.before = (call) => {
      if (call === 'add a b') calls.families?.set('a', 'raw');
    };
    expect(await ensure(calls, RAW)).toEqual({ created: false, familiesAdded: 1, families: new Set(['a', 'b']) });
    expect(calls.log).toEqual(['create', 'read', 'add a b', 'read', 'add b']);
  });

  test('gives up after one round more than families are declared, where they vanish between reading and adding', async () => {
    const calls = new FakeTableCalls({});
    calls.before = (call) => {
      if (call.startsWith('add')) calls.families = new Map([['a', 'raw']]);
      if (call === 'read') calls.families = new Map();
    };
    const failure = ensure(calls, RAW);
    await expect(failure).rejects.toThrow(UnstableTableError);
    await expect(failure).rejects.toThrow('p.i.t still lacked a, b after 3 rounds');
    expect(calls.log.filter((call) => call === 'read')).toHaveLength(3);
  });

  test('a table that was deleted meanwhile is an error that may be tried again', async () => {
    const calls = new FakeTableCalls({});
    calls.before = (call) => {
      if (call === 'read') calls.families = undefined;
    };
    await expect(ensure(calls, RAW)).rejects.toThrow(UnstableTableError);
  });

  test('passes on what the admin API refuses', async () => {
    const calls = new FakeTableCalls();
    calls.failWith(TABLE, 'PERMISSION_DENIED');
    const failure = ensure(calls, RAW);
    await expect(failure).rejects.toThrow(TableAdminError);
    await expect(failure).rejects.toThrow('create on p.i.t answered PERMISSION_DENIED: on request');
  });

  test('any number of instances at once all succeed, and their counts add up', async () => {
    const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(fc.array(names, { minLength: 1, maxLength: 6 }), fc.boolean(), async (fleet, exists) => {
        const calls = new FakeTableCalls(exists ? { a: 'raw' } : undefined);
        const results = await Promise.all(
          fleet.map((declared) => ensure(calls, options(Object.fromEntries(declared.map((name) => [name, 'raw']))))),
        );
        const all = new Set([...fleet.flat(), ...(exists ? ['a'] : [])]);
        expect(new Set(calls.families?.keys())).toEqual(all);
        expect(results.filter(({ created }) => created)).toHaveLength(exists ? 0 : 1);
        const made = results.reduce((sum, { created, familiesAdded, families }) => {
          return sum + (created ? families.size : familiesAdded);
        }, 0);
        expect(made).toBe(all.size - (exists ? 1 : 0));
      }),
      { seed: 7, numRuns: 200 },
    );
  });
});

describe('types', () => {
  test('are compared, those of bytes too, where an aggregate is declared: before anything is added', async () => {
    const calls = new FakeTableCalls({ a: 'int64-sum' });
    const failure = ensure(calls, MIXED);
    await expect(failure).rejects.toThrow(FamilyTypeError);
    await expect(failure).rejects.toThrow(
      'the column family a of p.i.t is of the type int64-sum, but the pipeline declares raw',
    );
    expect(calls.log).toEqual(['create', 'read']);
  });

  test('are compared again after a lost race', async () => {
    const calls = new FakeTableCalls({ a: 'raw' });
    calls.before = (call) => {
      if (call === 'add sum') calls.families?.set('sum', 'int64-max');
    };
    await expect(ensure(calls, MIXED)).rejects.toThrow('sum of p.i.t is of the type int64-max');
  });

  test('of existing families are left alone where only bytes are declared', async () => {
    const calls = new FakeTableCalls({ a: 'int64-sum' });
    expect(await ensure(calls, RAW)).toMatchObject({ familiesAdded: 1 });
  });

  test('are checked without changing anything; a missing family or table is no error', async () => {
    const check = (calls: FakeTableCalls) => createTableAdmin(calls).checkTypes(TABLE, MIXED, never);
    await check(new FakeTableCalls());
    const lacking = new FakeTableCalls({ a: 'raw' });
    await check(lacking);
    expect(lacking.log).toEqual(['read']);
    await expect(check(new FakeTableCalls({ sum: 'raw' }))).rejects.toThrow(FamilyTypeError);
  });
});
