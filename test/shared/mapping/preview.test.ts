import { describe, expect, test } from 'vitest';
import type { CompiledMapping } from '../../../shared/mapping/compile-mapping.ts';
import { previewRecord } from '../../../shared/mapping/preview.ts';
import { compiled } from './mappings.ts';
import { jsonRecord, recordOf } from './records.ts';

async function lines(
  options: unknown,
  record = recordOf({ k: 'a#\u0000', n: 1, m: { x: 1 } }),
): Promise<readonly string[]> {
  return previewRecord(await compiled(options), record).lines;
}

describe('a preview shows', () => {
  test('the table, the escaped key and every mutation of an entry', async () => {
    const options = {
      rowKey: '${k}',
      writeMode: 'keep-latest',
      timestamp: { field: 'n', unit: 'micros' },
      destination: { template: 't-${n}', tables: ['t-1'] },
      families: {
        f: { columns: { n: 'int64', s: { type: 'string', field: 'k' } } },
        g: { dynamic: { field: 'm', type: 'int8', update: 'replace' } },
      },
    };
    expect(await lines(options)).toEqual([
      'table    t-1',
      String.raw`row key  "a#\x00"`,
      'delete   f:n before 1000 µs',
      String.raw`set      f:n = "\x00\x00\x00\x00\x00\x00\x00\x01" @ 1 µs`,
      'delete   f:s before 1000 µs',
      String.raw`set      f:s = "a#\x00" @ 1 µs`,
      'delete   family g',
      String.raw`set      g:x = "\x01" @ 1 µs`,
    ]);
  });

  test('added integers and deleted rows', async () => {
    const families = { f: { aggregate: 'int64-sum', columns: { n: 'int64' } } };
    const timestamp = { field: 'n', unit: 'seconds' };
    expect(await lines({ rowKey: 'k${n}', writeMode: 'aggregate', timestamp, families })).toEqual([
      'row key  "k1"',
      'add      f:n + 1 @ 1000000 µs',
    ]);
    const operation = { field: 'n', values: { 1: 'delete-row' } };
    expect(await lines({ rowKey: 'k${n}', operation, families: { f: { columns: { n: 'int64' } } } })).toEqual([
      'row key  "k1"',
      'delete   row',
    ]);
  });

  test('predicate and branches of a conditional request', async () => {
    const column = { family: 'f', qualifier: 'q' };
    const conditional = {
      predicate: { type: 'latest-cell-value-equals', ...column, value: { field: 'n', type: 'int8' } },
      then: [
        { type: 'delete-cells', ...column, start: { micros: 1000 }, end: { micros: 2000 } },
        { type: 'set-cell', ...column, value: { utf8: 'v' }, timestamp: { micros: -1 } },
        { type: 'merge-to-cell', ...column, value: { utf8: 'v' }, timestamp: { micros: 3000 } },
      ],
    };
    expect(await lines({ rowKey: 'k${n}', writeMode: 'conditional', conditional })).toEqual([
      'row key  "k1"',
      String.raw`if       family f → qualifier "q" → newest 1 per column → value "\x01"`,
      'then',
      '  delete   f:q from 1000 µs before 2000 µs',
      '  set      f:q = "v" @ server time',
      '  merge    f:q + "v" @ 3000 µs',
      'otherwise',
      '  nothing',
    ]);
  });

  test('what the single-row modes ask', async () => {
    const families = { f: { columns: { n: 'int64' } }, g: { columns: { k: 'string' } } };
    const timestamp = { field: 'n', unit: 'millis' };
    const newest = await lines({ rowKey: 'k${n}', writeMode: 'replace-if-newest', timestamp, families });
    expect(newest[1]).toBe('if       (family f or family g) → timestamp from 1000 µs');
    const absent = await lines({ rowKey: 'k${n}', writeMode: 'insert-if-absent', families });
    expect(absent[1]).toBe('if       the row holds any cell');
    expect(
      await lines({ rowKey: 'k${n}', writeMode: 'increment', families: { f: { columns: { n: 'int64' } } } }),
    ).toEqual(['row key  "k1"', 'increment f:n + 1']);
    expect(
      await lines({ rowKey: 'k${n}', writeMode: 'append', families: { g: { columns: { k: 'string' } } } }),
    ).toEqual(['row key  "k1"', String.raw`append   g:k + "a#\x00"`]);
  });
});

test('a skipped and a refused record say so', async () => {
  const mapping = await compiled({
    rowKey: '${k}',
    families: { f: { columns: { n: 'int64' } } },
    skipWhen: [{ field: 'k', equals: 'skip' }],
  });
  expect(previewRecord(mapping, recordOf({ k: 'skip' }))).toEqual({
    outcome: 'skipped',
    lines: ['skipped: acknowledged, and nothing is written'],
  });
  expect(previewRecord(mapping, jsonRecord('{"k":"a","n":1e30}'))).toEqual({
    outcome: 'refused',
    lines: ['refused  n: must be an integer from −2^63 to 2^63 − 1, got a number'],
  });
});

test('a long write is cut and says by how much', async () => {
  const mapping = await compiled({ rowKey: 'k${n}', families: { f: { dynamic: { field: 'm', type: 'int32' } } } });
  const members = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`m${at}`, at]));
  const { lines: shown } = previewRecord(mapping, recordOf({ n: 1, m: members }));
  expect(shown).toHaveLength(201);
  expect(shown.at(-1)).toBe('… and 301 more');
});

test('a fault of the mapping itself is no refusal of the record', () => {
  const broken: CompiledMapping = {
    prepare: () => {
      throw new TypeError('a fault');
    },
  };
  expect(() => previewRecord(broken, recordOf({}))).toThrow('a fault');
});
