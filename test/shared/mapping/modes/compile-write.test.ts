import { describe, expect, test } from 'vitest';
import { RecordError } from '../../../../shared/base/errors.ts';
import type { MappedWrite } from '../../../../shared/mapping/modes/write.ts';
import type { AggregateValue, Mutation } from '../../../../shared/model/mutation.ts';
import { mapRecord } from '../mappings.ts';
import { PUBLISH_TIME_MICROS, recordOf } from '../records.ts';

/** The publish time of the samples, floored to the millisecond. */
const AT = (PUBLISH_TIME_MICROS / 1000n) * 1000n;

const q = (text: string): Buffer => Buffer.from(text);
const int64 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
};
const set = (family: string, qualifier: string, value: string | Buffer, timestampMicros = AT): Mutation => ({
  kind: 'setCell',
  family,
  qualifier: q(qualifier),
  timestampMicros,
  value: typeof value === 'string' ? q(value) : value,
});
/** What of a column is deleted: up to the publish time, its own millisecond included. */
const removeCell = (family: string, qualifier: string, endTimestampMicros = AT + 1000n): Mutation => ({
  kind: 'deleteFromColumn',
  family,
  qualifier: q(qualifier),
  endTimestampMicros,
});
const removeAllVersions = (family: string, qualifier: string): Mutation => ({
  kind: 'deleteFromColumn',
  family,
  qualifier: q(qualifier),
});
const removeFamily = (family: string): Mutation => ({ kind: 'deleteFromFamily', family });
const add = (family: string, qualifier: string, input: AggregateValue, timestampMicros = AT): Mutation => ({
  kind: 'addToCell',
  family,
  qualifier: q(qualifier),
  timestampMicros,
  input,
});
const entry = (...mutations: Mutation[]): MappedWrite => ({ kind: 'entry', entry: { rowKey: q('k'), mutations } });

interface Case {
  readonly name: string;
  readonly record: Readonly<Record<string, unknown>>;
  readonly expected: MappedWrite | null;
}

/** Runs a table of records through one mapping. */
function cases(options: Readonly<Record<string, unknown>>, table: readonly Case[]): void {
  test.each(table)('$name', async ({ record, expected }) => {
    expect(await mapRecord({ rowKey: '${key}', ...options }, recordOf({ key: 'k', ...record }))).toEqual(expected);
  });
}

/** Runs records that a mapping must refuse. */
function refusals(
  options: Readonly<Record<string, unknown>>,
  table: readonly (readonly [string, Readonly<Record<string, unknown>>, string])[],
): void {
  test.each(table)('refuses %s', async (_name, record, rule) => {
    const mapped = mapRecord({ rowKey: '${key}', ...options }, recordOf({ key: 'k', ...record }));
    await expect(mapped).rejects.toThrow(RecordError);
    await expect(mapped).rejects.toThrow(rule);
    await expect(mapped).rejects.not.toThrow('secret');
  });
}

const families = {
  f: { columns: { s: 'string', n: { type: 'int64', field: 'deep.n' } } },
  g: { field: 'more', columns: { b: 'boolean' } },
};
const record = { s: 'x', deep: { n: 1 }, more: { b: true } };

describe('upsert', () => {
  cases({ families }, [
    { name: 'sets every declared cell in declared order', record, expected: entry(set('f', 's', 'x'), set('f', 'n', int64(1n)), set('g', 'b', Buffer.of(0xff))) },
    { name: 'writes the encoding of nulls', record: { ...record, s: null, deep: null }, expected: entry(set('f', 's', 'null'), set('f', 'n', ''), set('g', 'b', Buffer.of(0xff))) },
    { name: 'writes nothing of a null family', record: { ...record, more: null }, expected: entry(set('f', 's', 'x'), set('f', 'n', int64(1n))) },
  ]); // prettier-ignore
  cases({ families: { f: { columns: { s: { type: 'string', onNull: 'delete' }, t: { type: 'string', onNull: 'ignore', onMissing: 'null' } } } } }, [
    { name: 'deletes or ignores nulls where a column says so', record: { s: null }, expected: entry(removeCell('f', 's')) },
  ]); // prettier-ignore
  cases({ nullString: '', onNull: 'encode', onMissing: 'null', families }, [
    { name: 'takes the defaults of the mapping for nulls and missing fields', record: {}, expected: entry(set('f', 's', ''), set('f', 'n', ''), set('g', 'b', '')) },
  ]); // prettier-ignore
  refusals({ families }, [
    ['a missing field by its path', { ...record, deep: {} }, 'deep.n: must be there, got nothing'],
    ['a missing family by the path of its field', { s: 'x', deep: { n: 1 } }, 'more.b: must be there'],
    ['a family that is no object', { ...record, more: 'secret' }, 'more.b: must be there'],
    ['a value of another type', { ...record, deep: { n: 'secret' } }, 'deep.n: must be an integer from −2^63'],
    ['a null key', { ...record, key: null }, 'key: must not be null'],
  ]);
  refusals({ families: { f: { columns: { s: { type: 'string', onNull: 'ignore' } } } } }, [
    ['a record that maps to nothing', { s: null }, 'record: must map to 1 to 100000 mutations, got 0'],
  ]);
  refusals({ families: { f: { columns: { s: { type: 'string', onNull: 'reject' } } } } }, [
    ['a null where a column has none', { s: null }, 's: must not be null, got null'],
  ]);
});

describe('dynamic columns', () => {
  const dynamic = (more: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> => ({
    families: { f: { dynamic: { field: 'tags', type: 'int32', ...more } }, g: { columns: { s: 'string' } } },
  });
  const one = Buffer.from([0, 0, 0, 1]);
  cases(dynamic(), [
    { name: 'merge: one cell a member, in the order of the object', record: { tags: { b: 1, a: null }, s: 'x' }, expected: entry(set('f', 'b', one), set('f', 'a', ''), set('g', 's', 'x')) },
    { name: 'merge: an empty object writes nothing', record: { tags: {}, s: 'x' }, expected: entry(set('g', 's', 'x')) },
    { name: 'a null object leaves the family alone', record: { tags: null, s: 'x' }, expected: entry(set('g', 's', 'x')) },
    { name: 'an empty name is an empty qualifier', record: { tags: { '': 1 }, s: 'x' }, expected: entry(set('f', '', one), set('g', 's', 'x')) },
  ]); // prettier-ignore
  cases(dynamic({ update: 'replace', onNull: 'delete' }), [
    { name: 'replace: the family is deleted first', record: { tags: { b: 1, a: null }, s: 'x' }, expected: entry(removeFamily('f'), set('f', 'b', one), set('g', 's', 'x')) },
    { name: 'replace: an empty object clears the family', record: { tags: {}, s: 'x' }, expected: entry(removeFamily('f'), set('g', 's', 'x')) },
  ]); // prettier-ignore
  cases({ writeMode: 'keep-latest', ...dynamic({ update: 'replace' }) }, [
    { name: 'keep-latest and replace: no deletion a cell', record: { tags: { b: 1 }, s: 'x' }, expected: entry(removeFamily('f'), set('f', 'b', one), removeCell('g', 's'), set('g', 's', 'x')) },
  ]); // prettier-ignore
  refusals(dynamic(), [
    ['a list', { tags: [1], s: 'x' }, 'tags: must be an object, got a list'],
    ['a missing object', { s: 'x' }, 'tags: must be there'],
    ['a nested object, without naming the member', { tags: { secret: {} }, s: 'x' }, 'tags.*: must be an integer'],
    ['more than 100,000 members', { tags: Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [n, 1])), s: 'x' }, 'must map to 1 to 100000 mutations, got 100001'],
  ]); // prettier-ignore
});

describe('keep-latest', () => {
  cases({ writeMode: 'keep-latest', families }, [
    { name: 'deletes the versions of each cell up to its own time before it sets it', record: { ...record, more: null }, expected: entry(removeCell('f', 's'), set('f', 's', 'x'), removeCell('f', 'n'), set('f', 'n', int64(1n))) },
  ]); // prettier-ignore
  cases({ writeMode: 'keep-latest', onNull: 'delete', families: { f: { columns: { s: 'string' } } } }, [
    { name: 'deletes a null once', record: { s: null }, expected: entry(removeCell('f', 's')) },
  ]);
  cases({ writeMode: 'keep-latest', timestamp: { field: 'ts', unit: 'micros' }, onNull: 'delete', families: { f: { columns: { s: 'string' } } } }, [
    { name: 'ends a deletion behind the millisecond of the record, wherever in it the record is', record: { s: null, ts: 1999 }, expected: entry(removeCell('f', 's', 2000n)) },
    { name: 'deletes the first millisecond of the epoch', record: { s: null, ts: 0 }, expected: entry(removeCell('f', 's', 1000n)) },
  ]); // prettier-ignore
  cases({ writeMode: 'keep-latest', timestamp: { field: 'ts', unit: 'micros', maxFuture: 'none' }, onNull: 'delete', families: { f: { columns: { s: 'string' } } } }, [
    { name: 'needs no end behind the last millisecond that there is', record: { s: null, ts: (2n ** 63n - 1n).toString() }, expected: entry(removeAllVersions('f', 's')) },
  ]); // prettier-ignore
  cases({ writeMode: 'keep-latest', columnDeletes: 'all-versions', families }, [
    { name: 'deletes all versions where the mapping says so', record: { ...record, more: null }, expected: entry(removeAllVersions('f', 's'), set('f', 's', 'x'), removeAllVersions('f', 'n'), set('f', 'n', int64(1n))) },
  ]); // prettier-ignore
  refusals({ writeMode: 'keep-latest', families: { f: { dynamic: { field: 'tags', type: 'int8' } } } }, [
    ['more than 50,000 cells', { tags: Object.fromEntries(Array.from({ length: 50_001 }, (_, n) => [n, 1])) }, 'got 100002'],
  ]); // prettier-ignore
});

describe('deletes', () => {
  const operation = {
    field: 'op',
    values: {
      c: 'write',
      '2': 'write',
      d: 'delete-row',
      clear: { deleteFamilies: ['g', 'f'] },
      unset: { deleteColumns: ['f:s', 'f:a:b'] },
      noop: 'skip',
    },
  };
  const written = entry(set('f', 's', 'x'), set('f', 'n', int64(1n)), set('g', 'b', Buffer.of(0xff)));
  cases({ families, operation }, [
    { name: 'write', record: { ...record, op: 'c' }, expected: written },
    { name: 'a number is compared by its value', record: { ...record, op: 2 }, expected: written },
    { name: 'the row, which needs the key alone', record: { op: 'd' }, expected: entry({ kind: 'deleteFromRow' }) },
    { name: 'families', record: { op: 'clear' }, expected: entry(removeFamily('g'), removeFamily('f')) },
    { name: 'columns; the first colon ends the family', record: { op: 'unset' }, expected: entry(removeCell('f', 's'), removeCell('f', 'a:b')) },
    { name: 'nothing', record: { op: 'noop' }, expected: null },
  ]); // prettier-ignore
  cases({ writeMode: 'keep-latest', families, timestamp: { field: 'ts', unit: 'micros' }, operation: { ...operation, rowDelete: 'declared-families' } }, [
    { name: 'every declared family where rows may not be deleted, without a timestamp', record: { op: 'd' }, expected: entry(removeFamily('f'), removeFamily('g')) },
  ]); // prettier-ignore
  const dated = { families, timestamp: { field: 'ts', unit: 'millis' }, operation };
  cases(dated, [
    { name: 'columns up to the time that the record names', record: { op: 'unset', ts: 5 }, expected: entry(removeCell('f', 's', 6000n), removeCell('f', 'a:b', 6000n)) },
  ]); // prettier-ignore
  refusals(dated, [['a deletion of columns without the time that bounds it', { op: 'unset' }, 'ts: must be there']]);
  cases({ ...dated, columnDeletes: 'all-versions' }, [
    { name: 'all versions of columns, without a timestamp', record: { op: 'unset' }, expected: entry(removeAllVersions('f', 's'), removeAllVersions('f', 'a:b')) },
  ]); // prettier-ignore
  cases({ families, operation: { ...operation, onMissing: 'write' } }, [
    { name: 'a missing operation writes where it may', record, expected: written },
  ]);
  refusals({ families, operation }, [
    ['a value that is not listed, as before-images', { ...record, op: 'secret' }, 'op: must be one of the values of the operation'],
    ['a missing operation', record, 'op: must be there and not null'],
    ['a delete without a key', { key: '', op: 'd' }, 'key: must not be empty'],
  ]); // prettier-ignore
});

describe('aggregate', () => {
  const aggregate = {
    writeMode: 'aggregate',
    families: { sum: { aggregate: 'int64-sum', columns: { a: 'int8', b: 'int16', c: 'int32', d: 'int64' } } },
  };
  const value = (amount: bigint): AggregateValue => ({ kind: 'int64', value: amount });
  cases(aggregate, [
    { name: 'adds every integer, widened', record: { a: -1, b: 300, c: -70000, d: '9223372036854775807' }, expected: entry(add('sum', 'a', value(-1n)), add('sum', 'b', value(300n)), add('sum', 'c', value(-70000n)), add('sum', 'd', value(2n ** 63n - 1n))) },
    { name: 'leaves nulls out', record: { a: null, b: null, c: 0, d: null }, expected: entry(add('sum', 'c', value(0n))) },
  ]); // prettier-ignore
  cases({ ...aggregate, timestamp: { field: 'ts', unit: 'seconds' } }, [
    { name: 'takes the epoch as a timestamp', record: { a: 1, b: null, c: null, d: null, ts: 0 }, expected: entry(add('sum', 'a', value(1n), 0n)) },
  ]); // prettier-ignore
  refusals(aggregate, [
    ['a record of nulls', { a: null, b: null, c: null, d: null }, 'must map to 1 to 100000 mutations, got 0'],
    ['a value beyond its own type', { a: 128, b: null, c: null, d: null }, 'a: must be an integer from −2^7'],
  ]);
});

describe('insert-if-absent', () => {
  const options = { writeMode: 'insert-if-absent', families: { f: { columns: { s: 'string' } }, g: { dynamic: { field: 'tags', type: 'int8', update: 'replace' } } } }; // prettier-ignore
  cases(options, [
    { name: 'sets the cells in the branch of a row without any; nothing is deleted', record: { s: null, tags: { a: 1 } }, expected: { kind: 'conditional', request: { rowKey: q('k'), then: [], otherwise: [set('f', 's', 'null'), set('g', 'a', Buffer.of(1))] } } },
  ]); // prettier-ignore
  refusals({ ...options, families: { f: { columns: { s: { type: 'string', onNull: 'ignore' } } } } }, [
    ['a record that maps to nothing', { s: null }, 'got 0'],
  ]);
});

describe('replace-if-newest', () => {
  const options = { writeMode: 'replace-if-newest', timestamp: { field: 'ts', unit: 'millis' }, families };
  cases(options, [
    {
      name: 'replaces the declared families unless one holds a cell as new',
      record: { ...record, ts: 5 },
      expected: {
        kind: 'conditional',
        request: {
          rowKey: q('k'),
          predicate: { kind: 'chain', filters: [{ kind: 'interleave', filters: [{ kind: 'family', family: 'f' }, { kind: 'family', family: 'g' }] }, { kind: 'timestampRange', startMicros: 5000n }] },
          then: [],
          otherwise: [removeFamily('f'), removeFamily('g'), set('f', 's', 'x', 5000n), set('f', 'n', int64(1n), 5000n), set('g', 'b', Buffer.of(0xff), 5000n)],
        },
      },
    },
  ]); // prettier-ignore
  cases({ ...options, families: { f: { columns: { s: 'string' } } } }, [
    {
      name: 'asks one family without a union',
      record: { s: 'x', ts: 0 },
      expected: {
        kind: 'conditional',
        request: {
          rowKey: q('k'),
          predicate: { kind: 'chain', filters: [{ kind: 'family', family: 'f' }, { kind: 'timestampRange', startMicros: 0n }] },
          then: [],
          otherwise: [removeFamily('f'), set('f', 's', 'x', 0n)],
        },
      },
    },
  ]); // prettier-ignore
  refusals({ ...options, onNull: 'ignore' }, [
    ['a record that would only delete', { s: null, deep: null, more: null, ts: 1 }, 'got 0'],
  ]);
});

describe('append and increment', () => {
  cases({ writeMode: 'append', families: { f: { columns: { s: 'string', b: 'bytes', r: 'raw' } } } }, [
    {
      name: 'append: one rule for each text or bytes, in declared order',
      record: { s: 'x', b: 'AQ==', r: null },
      expected: { kind: 'readModifyWrite', request: { rowKey: q('k'), rules: [{ kind: 'append', family: 'f', qualifier: q('s'), value: q('x') }, { kind: 'append', family: 'f', qualifier: q('b'), value: Buffer.of(1) }] } },
    },
  ]); // prettier-ignore
  refusals({ writeMode: 'append', families: { f: { columns: { s: 'string' } } } }, [
    ['an empty value', { s: '' }, 's: must not be empty to be appended, got an empty text'],
    ['no rule', { s: null }, 'record: must map to 1 to 100000 rules, got 0'],
  ]);
  cases({ writeMode: 'increment', nullString: 'x', families: { f: { columns: { a: 'int64', b: 'int64', c: 'int64' } } } }, [
    {
      name: 'increment: zero and negative amounts are kept, nulls left out',
      record: { a: 0, b: null, c: '-9223372036854775808' },
      expected: { kind: 'readModifyWrite', request: { rowKey: q('k'), rules: [{ kind: 'increment', family: 'f', qualifier: q('a'), amount: 0n }, { kind: 'increment', family: 'f', qualifier: q('c'), amount: -(2n ** 63n) }] } },
    },
  ]); // prettier-ignore
  refusals({ writeMode: 'increment', families: { f: { columns: { a: 'int64' } } } }, [
    ['an amount beyond 64 bits', { a: '9223372036854775808' }, 'a: must be an integer from −2^63'],
    ['no rule', { a: null }, 'got 0'],
  ]);
});

describe('conditional', () => {
  const column = { family: 'f', qualifier: 'q' };
  const base64Column = { family: 'f', qualifierBase64: 'AP8=' };
  const conditional = {
    predicate: { type: 'latest-cell-value-equals', ...column, value: { field: 'old', type: 'int64' } },
    then: [
      { type: 'set-cell', ...column, value: { field: 'new', type: 'string' }, timestamp: { field: 'ts', unit: 'micros' } },
      { type: 'set-cell', ...base64Column, value: { utf8: 'ü' } },
      { type: 'set-cell', ...column, value: { base64: 'AP8=' }, timestamp: { micros: -1 } },
      { type: 'set-cell', ...column, value: { int64: '9223372036854775807' }, timestamp: { micros: '7000' } },
      { type: 'add-to-cell', ...column, value: { field: 'old', type: 'int64' }, timestamp: { micros: 0 } },
      { type: 'add-to-cell', ...column, value: { int64: -3 }, timestamp: { field: 'ts', unit: 'micros' } },
      { type: 'merge-to-cell', ...column, value: { field: 'sketch', type: 'bytes' }, timestamp: { micros: 1000 } },
      { type: 'delete-cells', ...column },
      { type: 'delete-cells', ...column, start: { field: 'ts', unit: 'micros' }, end: { micros: 100_000 } },
      { type: 'delete-family', family: 'g' },
      { type: 'delete-family', family: 'h' },
      { type: 'delete-row' },
    ],
    otherwise: [{ type: 'set-cell', ...column, value: { field: 'new', type: 'string' } }],
  }; // prettier-ignore
  const options = { writeMode: 'conditional', conditional };
  const fields = { old: 5, new: 'n', ts: 9000, sketch: 'AQ==' };
  const at = { family: 'f', qualifier: q('q') };
  cases(options, [
    {
      name: 'builds predicate and branches from constants and fields, in order beyond the tenth',
      record: fields,
      expected: {
        kind: 'conditional',
        request: {
          rowKey: q('k'),
          predicate: { kind: 'chain', filters: [{ kind: 'family', family: 'f' }, { kind: 'qualifier', qualifier: q('q') }, { kind: 'cellsPerColumn', count: 1 }, { kind: 'value', value: int64(5n) }] },
          then: [
            set('f', 'q', 'n', 9000n),
            { ...set('f', 'q', 'ü'), qualifier: Buffer.from([0, 255]) } as Mutation,
            set('f', 'q', Buffer.from([0, 255]), -1n),
            set('f', 'q', int64(2n ** 63n - 1n), 7000n),
            add('f', 'q', { kind: 'int64', value: 5n }, 0n),
            add('f', 'q', { kind: 'int64', value: -3n }, 9000n),
            { kind: 'mergeToCell', ...at, timestampMicros: 1000n, input: { kind: 'bytes', value: Buffer.of(1) } },
            { kind: 'deleteFromColumn', ...at },
            { kind: 'deleteFromColumn', ...at, startTimestampMicros: 9000n, endTimestampMicros: 100_000n },
            removeFamily('g'),
            removeFamily('h'),
            { kind: 'deleteFromRow' },
          ],
          otherwise: [set('f', 'q', 'n')],
        },
      },
    },
  ]); // prettier-ignore
  cases({ ...options, conditional: { predicate: { type: 'row-exists' }, then: [{ type: 'delete-row' }] } }, [
    { name: 'row-exists has no filter', record: {}, expected: { kind: 'conditional', request: { rowKey: q('k'), then: [{ kind: 'deleteFromRow' }], otherwise: [] } } },
  ]); // prettier-ignore
  cases({ ...options, conditional: { predicate: { type: 'cell-exists', ...base64Column }, otherwise: [{ type: 'delete-row' }] } }, [
    { name: 'cell-exists looks at one column', record: {}, expected: { kind: 'conditional', request: { rowKey: q('k'), predicate: { kind: 'chain', filters: [{ kind: 'family', family: 'f' }, { kind: 'qualifier', qualifier: Buffer.from([0, 255]) }] }, then: [], otherwise: [{ kind: 'deleteFromRow' }] } } },
  ]); // prettier-ignore
  refusals(options, [
    ['a null in the predicate', { ...fields, old: null }, 'old: must be there and not null, got null'],
    ['a null in a branch', { ...fields, new: null }, 'new: must be there and not null'],
    ['a missing field', { ...fields, sketch: undefined }, 'sketch: must be there and not null, got nothing'],
    [
      'a range that a field closes',
      { ...fields, ts: 100_000 },
      'end timestamp must be above the start 100000, got 100000',
    ],
    ['an aggregate before the epoch', { ...fields, ts: -1 }, 'timestamp must be from 0'],
    [
      'a time between two milliseconds',
      { ...fields, ts: 9001 },
      'then[0] (setCell): timestamp must be whole milliseconds (a multiple of 1000), got 9001',
    ],
    ['a time that is no count', { ...fields, ts: 'secret' }, 'ts: must be a count of micros since the epoch'],
    ['a time finer than a microsecond', { ...fields, ts: 0.5 }, 'ts: must not be finer than a microsecond'],
  ]);
});
