import { expect, test } from 'vitest';
import { createTableAdmin } from '../../../../shared/bulk/repair/ensure-table.ts';
import { FamilyTypes } from '../../../../shared/bulk/repair/family-types.ts';
import { FamilyTypeError } from '../../../../shared/bulk/repair/table-errors.ts';
import type { FamilyType } from '../../../../shared/config/resolved.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import { FakeTableCalls } from '../../../support/fake-table-calls.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { testRuntime } from '../../../support/runtime.ts';

const TABLE = tableName('p', 'i', 't');

function setUp(declared: Readonly<Record<string, FamilyType>>, live?: Readonly<Record<string, FamilyType>>) {
  const clock = new ManualClock(0);
  const calls = new FakeTableCalls(live);
  const families = Object.fromEntries(Object.entries(declared).map(([name, type]) => [name, { type }]));
  const types = new FamilyTypes(
    { families },
    { recoveryInitialBackoffMillis: 500, recoveryMaxBackoffMillis: 10_000 },
    { runtime: testRuntime({ clock }), admin: createTableAdmin(calls) },
  );
  return { clock, calls, types };
}

test('a pipeline that sets cells looks at nothing before it writes, and once a minute while records are refused', async () => {
  const { clock, calls, types } = setUp({ f: 'raw' }, { f: 'raw' });
  expect(types.check(TABLE)).toBeUndefined();
  await Promise.all([types.confirm(TABLE), types.confirm(TABLE)]);
  expect(types.confirm(TABLE)).toBeUndefined();
  expect(calls.log).toEqual(['read']);
  await clock.advance(60_000);
  await types.confirm(TABLE);
  expect(calls.log).toEqual(['read', 'read']);
});

test('a family that aggregates is no place for cells that are set', async () => {
  const { types } = setUp({ f: 'raw' }, { f: 'int64-sum' });
  await expect(types.confirm(TABLE)).rejects.toThrow(FamilyTypeError);
  await expect(types.confirm(TABLE)).rejects.toThrow('is of the type int64-sum, but the pipeline declares raw');
});

test('a family that came with another type after the first write takes no further one', async () => {
  const { clock, calls, types } = setUp({ f: 'int64-sum' }, {});
  await types.check(TABLE);
  expect(types.check(TABLE)).toBeUndefined();
  calls.families = new Map([['f', 'raw']]);
  await clock.advance(60_000);
  await expect(types.confirm(TABLE)).rejects.toThrow(FamilyTypeError);
  await expect(types.check(TABLE)).rejects.toThrow(FamilyTypeError);
  expect(calls.log).toEqual(['read', 'read']);
});
