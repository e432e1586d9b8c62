import fc from 'fast-check';
import { expect, test } from 'vitest';
import { entrySerializer } from '../../../../shared/mapping/entry-serializer.ts';
import { decodeEntry } from '../../../../shared/mapping/rows/entry-wire.ts';
import { entryFromJson } from '../../../../shared/mapping/rows/entry-json.ts';
import type { Cell, Row } from '../../../../shared/model/row.ts';
import { createForm } from '../../../../shared/scan/forms/create-form.ts';
import type { Form } from '../../../../shared/scan/forms/form.ts';
import { recordOf } from '../../mapping/records.ts';

const NO_TYPES = new Map<string, string>();

const cell = (family: string, qualifier: string | Buffer, timestampMicros: bigint, value: string | Buffer): Cell => ({
  family,
  qualifier: Buffer.from(qualifier),
  timestampMicros,
  value: Buffer.from(value),
  labels: [],
});

const rowOf = (key: string | Buffer, ...cells: readonly Cell[]): Row => ({ key: Buffer.from(key), cells, bytes: 1 });

const rowForm = (text: 'base64' | 'utf8'): Form =>
  createForm({ kind: 'row', text }, { isPacked: false, families: NO_TYPES }) as Form;

const textsOf = (form: Form, row: Row): string[] => form.records(row).map((record) => record.toString());

test('the form row writes every cell with its microseconds, and bytes as base64', () => {
  const row = rowOf('k1', cell('cf', 'q', 1_769_817_600_000_001n, 'v'), cell('cf', 'q', 0n, ''));
  expect(textsOf(rowForm('base64'), row)).toEqual([
    '{"rowKey":{"base64":"azE="},"cells":[{"family":"cf","qualifier":{"base64":"cQ=="},"timestampMicros":"1769817600000001","value":{"base64":"dg=="}},{"family":"cf","qualifier":{"base64":"cQ=="},"timestampMicros":"0","value":{"base64":""}}]}',
  ]);
});

test('the form row writes text where it is asked for and bytes are UTF-8, and base64 elsewhere', () => {
  const row = rowOf('k"1', cell('cf', Buffer.from([0xff]), 1n, 'zwölf\n'));
  expect(textsOf(rowForm('utf8'), row)).toEqual([
    '{"rowKey":"k\\"1","cells":[{"family":"cf","qualifier":{"base64":"/w=="},"timestampMicros":"1","value":"zwölf\\n"}]}',
  ]);
});

test('the form cell makes a record of each cell, which names its row', () => {
  const form = createForm({ kind: 'cell', text: 'utf8' }, { isPacked: true, families: NO_TYPES }) as Form;
  expect(textsOf(form, rowOf('k', cell('a', 'q', 1n, 'x'), cell('b', '', 2n, 'y')))).toEqual([
    '{"rowKey":"k","family":"a","qualifier":"q","timestampMicros":"1","value":"x"}',
    '{"rowKey":"k","family":"b","qualifier":"","timestampMicros":"2","value":"y"}',
  ]);
});

test('a label of a filter is a member of its cell', () => {
  const labelled = { ...cell('a', 'q', 1n, 'x'), labels: ['hot'] };
  expect(textsOf(rowForm('utf8'), rowOf('k', labelled))[0]).toContain('"value":"x","labels":["hot"]}');
});

const bytes = fc.uint8Array({ maxLength: 12 }).map((array) => Buffer.from(array));
const anyRow: fc.Arbitrary<Row> = fc.record({
  key: fc.uint8Array({ minLength: 1, maxLength: 12 }).map((array) => Buffer.from(array)),
  cells: fc.array(
    fc.record({
      family: fc.stringMatching(/^[-_.a-zA-Z0-9]{1,8}$/),
      qualifier: bytes,
      timestampMicros: fc.bigInt(0n, 2n ** 62n).map((micros) => micros - (micros % 1000n)),
      value: bytes,
      labels: fc.constant([]),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  bytes: fc.constant(1),
});

test.each(['base64', 'utf8'] as const)('the form row as %s is one line of JSON that gives every byte back', (text) => {
  interface Written {
    readonly rowKey: unknown;
    readonly cells: readonly Record<'family' | 'qualifier' | 'timestampMicros' | 'value', unknown>[];
  }
  const read = (written: unknown): Buffer =>
    typeof written === 'string'
      ? Buffer.from(written)
      : Buffer.from((written as { readonly base64: string }).base64, 'base64');
  fc.assert(
    fc.property(anyRow, (row) => {
      const [record = ''] = textsOf(rowForm(text), row);
      expect(record).not.toMatch(/[\n\r]/);
      const { rowKey, cells } = JSON.parse(record) as Written;
      expect(read(rowKey)).toEqual(row.key);
      expect(
        cells.map(({ family, qualifier, timestampMicros, value }) => ({
          family,
          qualifier: read(qualifier),
          timestampMicros: BigInt(timestampMicros as string),
          value: read(value),
          labels: [],
        })),
      ).toEqual(row.cells);
    }),
  );
});

test.each([false, true])('the sinks read the form entry as the row that it was (packed: %s)', (isPacked) => {
  const form = createForm({ kind: 'entry', aggregates: 'refuse' }, { isPacked, families: NO_TYPES }) as Form;
  fc.assert(
    fc.property(anyRow, (row) => {
      const [record = Buffer.alloc(0)] = form.records(row);
      const entry = isPacked
        ? entryFromJson(JSON.parse(record.toString()), { publishTimeMicros: 0n })
        : decodeEntry(record);
      expect(entry.rowKey).toEqual(row.key);
      expect(entry.mutations).toEqual(
        row.cells.map(({ family, qualifier, timestampMicros, value }) => ({
          kind: 'setCell',
          family,
          qualifier,
          timestampMicros,
          value,
        })),
      );
    }),
  );
});

test('the serializer entry of the sinks takes both ways of the form', () => {
  const row = rowOf('k', cell('cf', 'q', 1000n, 'v'));
  for (const isPacked of [false, true]) {
    const form = createForm({ kind: 'entry', aggregates: 'refuse' }, { isPacked, families: NO_TYPES }) as Form;
    const [record = Buffer.alloc(0)] = form.records(row);
    expect(entrySerializer.serialize(recordOf(record), { publishTimeMicros: 0n })).toMatchObject({
      rowKey: Buffer.from('k'),
      mutations: [{ kind: 'setCell', timestampMicros: 1000n }],
    });
  }
});

const SUM = new Map([['totals', 'int64-sum']]);
const eight = Buffer.from('000000000000002a', 'hex');

test('a cell of an aggregate family is refused by name, or becomes an AddToCell', () => {
  const row = rowOf('k', cell('totals', 'n', 1000n, eight));
  const refusing = createForm({ kind: 'entry', aggregates: 'refuse' }, { isPacked: false, families: SUM });
  expect(() => refusing?.records(row)).toThrow('the family totals holds int64-sum, and a cell of it makes no SetCell');
  for (const isPacked of [false, true]) {
    const adding = createForm({ kind: 'entry', aggregates: 'add-to-cell' }, { isPacked, families: SUM }) as Form;
    const [record = Buffer.alloc(0)] = adding.records(row);
    const entry = isPacked
      ? entryFromJson(JSON.parse(record.toString()), { publishTimeMicros: 0n })
      : decodeEntry(record);
    expect(entry.mutations).toEqual([
      {
        kind: 'addToCell',
        family: 'totals',
        qualifier: Buffer.from('n'),
        timestampMicros: 1000n,
        input: { kind: 'int64', value: 42n },
      },
    ]);
  }
});

test('a sketch of an aggregate family is refused by name, whatever the option says', () => {
  const families = new Map([['visitors', 'int64-hll']]);
  const adding = createForm({ kind: 'entry', aggregates: 'add-to-cell' }, { isPacked: false, families });
  expect(() => adding?.records(rowOf('k', cell('visitors', 'n', 0n, 'sketch')))).toThrow(
    'the family visitors holds int64-hll, and a cell of it cannot be added to another one',
  );
});

test('the form count makes nothing', () => {
  expect(createForm({ kind: 'count' }, { isPacked: false, families: NO_TYPES })).toBeUndefined();
});
