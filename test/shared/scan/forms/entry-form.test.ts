import fc from 'fast-check';
import { expect, test } from 'vitest';
import { entrySerializer } from '../../../../shared/mapping/entry-serializer.ts';
import { decodeEntry } from '../../../../shared/mapping/rows/entry-wire.ts';
import { entryFromJson } from '../../../../shared/mapping/rows/entry-json.ts';
import { entryForm } from '../../../../shared/scan/forms/entry-form.ts';
import { recordOf } from '../../mapping/records.ts';
import { anyRow, cell, rowOf } from './rows.ts';

const NO_TYPES = new Map<string, string>();

test.each([false, true])('the sinks read the form entry as the row that it was (packed: %s)', (isPacked) => {
  const form = entryForm('refuse', isPacked, NO_TYPES);
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
    const form = entryForm('refuse', isPacked, NO_TYPES);
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
  const refusing = entryForm('refuse', false, SUM);
  expect(() => refusing.records(row)).toThrow('the family totals holds int64-sum, and a cell of it makes no SetCell');
  for (const isPacked of [false, true]) {
    const adding = entryForm('add-to-cell', isPacked, SUM);
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
  const adding = entryForm('add-to-cell', false, families);
  expect(() => adding.records(rowOf('k', cell('visitors', 'n', 0n, 'sketch')))).toThrow(
    'the family visitors holds int64-hll, and a cell of it cannot be added to another one',
  );
});
