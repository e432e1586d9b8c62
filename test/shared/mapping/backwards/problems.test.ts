import { expect, test } from 'vitest';
import { backwardsProblems } from '../../../../shared/mapping/backwards/problems.ts';
import { resolved } from '../mappings.ts';

const problemsOf = (mapping: object): string[] =>
  backwardsProblems(resolved(mapping), 'mapping').map(({ path, rule, got }) => `${path}: ${rule}, got ${got}`);

const BASE = { rowKey: '${id}', families: { cf: { columns: { a: 'string' } } } };
const families = (columns: object): object => ({ cf: { columns } });

test('a mapping of JSON whose key and columns have fields of their own is read backwards', () => {
  expect(problemsOf(BASE)).toEqual([]);
  expect(problemsOf({ ...BASE, rowKey: '${id|hash:4}#${id}' })).toEqual([]);
  expect(problemsOf({ ...BASE, rowKey: '${a|lower}' })).toEqual([]);
  expect(
    problemsOf({ ...BASE, timestamp: { field: '@attributes.t', unit: 'millis', onNull: 'publish-time' } }),
  ).toEqual([]);
});

test.each([
  [
    'its mode adds',
    { ...BASE, writeMode: 'aggregate', families: { cf: { aggregate: 'int64-sum', columns: { a: 'int64' } } } },
    'mapping.writeMode: must be a mode that sets cells (upsert, keep-latest, insert-if-absent, replace-if-newest) to be read backwards, got "aggregate"',
  ],
  [
    'its format is not JSON',
    {
      ...BASE,
      format: {
        type: 'avro',
        schema: '{"type":"record","name":"R","fields":[{"name":"id","type":"string"},{"name":"a","type":"string"}]}',
      },
    },
    'mapping.format: must be json to be read backwards, got "avro"',
  ],
  [
    'it names tables',
    { ...BASE, destination: { template: '${a}', tables: ['t'] } },
    'mapping.destination: must not be set to be read backwards: a scan reads one table, got nothing',
  ],
  [
    'a column comes from outside of the record',
    { ...BASE, families: families({ a: { type: 'string', field: '@attributes.t' } }) },
    'mapping.families.cf.columns.a: must be a field of the record to be read backwards, got "@attributes.t"',
  ],
  [
    'its key comes from outside of the record',
    { ...BASE, rowKey: '${id}#${@publishTime|inverted:millis}' },
    'mapping.rowKey: must hold @publishTime in a form that can be read backwards, or a column must: the modifier inverted cannot, got "@publishTime"',
  ],
  [
    'two columns have one field',
    { ...BASE, families: families({ a: 'string', b: { type: 'int32', field: 'a' } }) },
    'mapping.families.cf.columns.b: must be a field that nothing else is written from to be read backwards; families.cf.columns.a is written from a, got "a"',
  ],
  [
    'a field lies within another',
    { ...BASE, families: families({ a: 'json', b: { type: 'int32', field: 'a.b' } }) },
    'mapping.families.cf.columns.b: must be a field that nothing else is written from to be read backwards; families.cf.columns.a is written from a, got "a.b"',
  ],
  [
    'its key has lost a field',
    { ...BASE, rowKey: '${id|hash:8}' },
    'mapping.rowKey: must hold id in a form that can be read backwards, or a column must: the modifier hash cannot, got "id"',
  ],
  [
    'its key has lost digits of a time',
    { ...BASE, rowKey: '${t|timestamp:micros|inverted:millis}' },
    'mapping.rowKey: must hold t in a form that can be read backwards, or a column must: the modifier inverted cannot, got "t"',
  ],
  [
    'nobody knows where a field of its key ends',
    { ...BASE, rowKey: { template: '${id}#${b}', onDelimiter: 'allow' } },
    'mapping.rowKey.onDelimiter: must be reject or escape to be read backwards: nobody can tell where a field ends, got "allow"',
  ],
  [
    'it would skip the record',
    {
      ...BASE,
      skipWhen: [
        { field: 'kind', in: ['x'] },
        { field: 'kind', notIn: ['order'] },
      ],
    },
    'mapping.skipWhen[1]: must not skip a record that lacks the field to be read backwards, since no column gives it, got "kind"',
  ],
  [
    'it would refuse the record',
    { ...BASE, operation: { field: 'op', values: { c: 'write', d: 'delete-row' } } },
    'mapping.operation.onMissing: must be write to be read backwards, since no column gives the field of the operation, got "reject"',
  ],
])('a mapping is not read backwards where %s', (_what, mapping, problem) => {
  expect(problemsOf(mapping)).toEqual([problem]);
});
