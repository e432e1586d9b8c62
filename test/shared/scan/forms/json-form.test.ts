import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LARGE_ROW_BYTES, type Row } from '../../../../shared/model/row.ts';
import type { Form } from '../../../../shared/scan/forms/form.ts';
import { cellForm, rowForm } from '../../../../shared/scan/forms/json-form.ts';
import { anyRow, cell, rowOf } from './rows.ts';

const textsOf = (form: Form, row: Row): string[] =>
  form.records(row).map((record) => {
    if (Buffer.isBuffer(record)) return record.toString();
    if ('pieces' in record) return Buffer.concat([...record.pieces()]).toString();
    throw new Error('the form has attributes');
  });

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
  const form = cellForm('utf8');
  expect(textsOf(form, rowOf('k', cell('a', 'q', 1n, 'x'), cell('b', '', 2n, 'y')))).toEqual([
    '{"rowKey":"k","family":"a","qualifier":"q","timestampMicros":"1","value":"x"}',
    '{"rowKey":"k","family":"b","qualifier":"","timestampMicros":"2","value":"y"}',
  ]);
});

test('a label of a filter is a member of its cell', () => {
  const labelled = { ...cell('a', 'q', 1n, 'x'), labels: ['hot'] };
  expect(textsOf(rowForm('utf8'), rowOf('k', labelled))[0]).toContain('"value":"x","labels":["hot"]}');
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

test.each(['base64', 'utf8'] as const)(
  'the form row as %s makes the same JSON of a large row, in small pieces, every time',
  (text) => {
    const values = [
      '',
      'v',
      'zwölf "\n\u2028 €𝄞'.repeat(20_000),
      Buffer.alloc(150_001, 0xff),
      Buffer.alloc(96 * 1024, 'ab'),
    ];
    const cells = values.map((value, place) => ({
      ...cell('cf', `q${place}`, 1n, value),
      labels: place === 2 ? ['hot'] : [],
    }));
    const row = rowOf('k', ...cells);
    const form = rowForm(text);
    const [record] = form.records({ ...row, bytes: LARGE_ROW_BYTES + 1 });
    if (record === undefined || Buffer.isBuffer(record)) throw new Error('it is not in pieces');
    const read = (): Buffer[] => [...record.pieces()];
    expect(Math.max(...read().map(({ length }) => length))).toBeLessThanOrEqual(128 * 1024);
    expect([String(Buffer.concat(read())), String(Buffer.concat(read()))]).toEqual([
      ...textsOf(form, row),
      ...textsOf(form, row),
    ]);
  },
);
