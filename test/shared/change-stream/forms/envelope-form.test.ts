import fc from 'fast-check';
import { expect, test } from 'vitest';
import { envelopeForm } from '../../../../shared/change-stream/forms/envelope-form.ts';
import { envelopeRecord } from '../../../../shared/change-stream/forms/envelope-schema.ts';
import type { Restarted } from '../../../../shared/change-stream/ledger/partition.ts';
import type { Change, ChangeEntry, ChangeValue } from '../../../../shared/model/change.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import { anyChange, changeOf, setCellOf } from '../../../support/changes.ts';

const form = envelopeForm(tableName('p', 'i', 't'));
const ID = '0123456789abcdef0123456789abcdef';
const restarted: Restarted = { how: 'tokenless', until: 1n };

function textOf(change: Change, how?: Restarted): string {
  const records = form.records(change, ID, how);
  expect(records).toHaveLength(1);
  return String(records[0]);
}

const HEADER =
  '"table":"projects/p/instances/i/tables/t","id":"0123456789abcdef0123456789abcdef","rowKey":"cm93","type":"USER","sourceCluster":"c1","commitTimeNanos":"1700000000123456789","tieBreaker":0,"lowWatermarkNanos":"1700000000000000001"';

test('an envelope names its schema and version, its table and id, and whatever the header of a change says', () => {
  expect(textOf(changeOf())).toBe(
    `{"schema":"bigtable-change","version":1,${HEADER},"entries":[{"index":0,"kind":"set-cell","family":"f","qualifier":"cQ==","timestampMicros":"1000","value":"dg=="}]}`,
  );
});

test('an envelope holds every kind of entry at its place, integers of 64 bits as texts and bytes as base64', () => {
  const raw: ChangeValue = { kind: 'raw-value', value: Buffer.of(0, 255) };
  const entries: ChangeEntry[] = [
    setCellOf('f', '', '', -(2n ** 63n)),
    { kind: 'delete-cells', family: 'f', qualifier: Buffer.from('q'), timestampRange: {} },
    { kind: 'delete-cells', family: 'f', qualifier: Buffer.from('q'), timestampRange: { startMicros: 1n } },
    { kind: 'delete-cells', family: 'f', qualifier: Buffer.from('q'), timestampRange: { endMicros: 2n } },
    {
      kind: 'delete-cells',
      family: 'f',
      qualifier: Buffer.from('q'),
      timestampRange: { startMicros: 1n, endMicros: 2n },
    },
    { kind: 'delete-family', family: 'g' },
    {
      kind: 'add-to-cell',
      family: 'a',
      qualifier: raw,
      timestamp: { kind: 'raw-timestamp', micros: 3000n },
      input: { kind: 'int64', value: 2n ** 63n - 1n },
    },
    { kind: 'merge-to-cell', family: 'a', qualifier: raw, timestamp: raw, input: raw },
  ];
  const [, written] = textOf(changeOf({ entries })).split('"entries":');
  const bytes = '{"kind":"raw-value","value":"AP8="}';
  expect(written).toBe(
    `[${[
      '{"index":0,"kind":"set-cell","family":"f","qualifier":"","timestampMicros":"-9223372036854775808","value":""}',
      '{"index":1,"kind":"delete-cells","family":"f","qualifier":"cQ==","timestampRange":{}}',
      '{"index":2,"kind":"delete-cells","family":"f","qualifier":"cQ==","timestampRange":{"startMicros":"1"}}',
      '{"index":3,"kind":"delete-cells","family":"f","qualifier":"cQ==","timestampRange":{"endMicros":"2"}}',
      '{"index":4,"kind":"delete-cells","family":"f","qualifier":"cQ==","timestampRange":{"startMicros":"1","endMicros":"2"}}',
      '{"index":5,"kind":"delete-family","family":"g"}',
      `{"index":6,"kind":"add-to-cell","family":"a","qualifier":${bytes},"timestamp":{"kind":"raw-timestamp","micros":"3000"},"input":{"kind":"int64","value":"9223372036854775807"}}`,
      `{"index":7,"kind":"merge-to-cell","family":"a","qualifier":${bytes},"timestamp":${bytes},"input":${bytes}}`,
    ].join(',')}]}`,
  );
});

test('an envelope of garbage collection has no cluster, and one without entries is still one', () => {
  const text = textOf(changeOf({ type: 'GARBAGE_COLLECTION', sourceCluster: '', entries: [] }));
  expect(JSON.parse(text)).toMatchObject({ type: 'GARBAGE_COLLECTION', sourceCluster: '', entries: [] });
});

test('entries that a filter left keep the places that they have in the change', () => {
  const change = changeOf({ entries: [setCellOf('f', 'a', '1'), setCellOf('f', 'b', '2')], places: [1, 4] });
  expect(JSON.parse(textOf(change))).toMatchObject({ entries: [{ index: 1 }, { index: 4 }] });
});

test('an envelope of a partition that began anew says so', () => {
  expect(JSON.parse(textOf(changeOf(), restarted))).toMatchObject({ restarted: 'tokenless' });
  expect(JSON.parse(textOf(changeOf()))).not.toHaveProperty('restarted');
});

test('whatever is written is one line of JSON, of the schema, and gives every byte and digit back', () => {
  fc.assert(
    fc.property(anyChange, (change) => {
      const text = textOf(change);
      expect(text).not.toMatch(/[\n\r]/);
      expect(textOf({ ...change })).toBe(text);
      const written = envelopeRecord.parse(JSON.parse(text));
      expect(Buffer.from(written.rowKey as string, 'base64')).toEqual(change.rowKey);
      expect(BigInt(written.commitTimeNanos as string)).toBe(change.commitTime);
      expect(BigInt(written.lowWatermarkNanos as string)).toBe(change.lowWatermark);
      expect(written).toMatchObject({
        type: change.type,
        sourceCluster: change.sourceCluster,
        tieBreaker: change.tieBreaker,
      });
      expect(written.entries.map(entryOf)).toEqual(change.entries);
    }),
  );
});

type Written = (typeof envelopeRecord)['_zod']['output']['entries'][number];

/** The entry that was written. */
function entryOf(written: Written): ChangeEntry {
  const { kind, family } = written;
  switch (kind) {
    case 'set-cell':
      return {
        kind,
        family,
        qualifier: bytesOf(written.qualifier),
        timestampMicros: BigInt(written.timestampMicros as string),
        value: bytesOf(written.value),
      };
    case 'delete-cells': {
      const { startMicros, endMicros } = written.timestampRange;
      return {
        kind,
        family,
        qualifier: bytesOf(written.qualifier),
        timestampRange: {
          ...(startMicros !== undefined && { startMicros: BigInt(startMicros as string) }),
          ...(endMicros !== undefined && { endMicros: BigInt(endMicros as string) }),
        },
      };
    }
    case 'delete-family':
      return { kind, family };
    case 'add-to-cell':
    case 'merge-to-cell': {
      const { qualifier, timestamp, input } = written;
      return { kind, family, qualifier: valueOf(qualifier), timestamp: valueOf(timestamp), input: valueOf(input) };
    }
  }
}

function valueOf(written: Extract<Written, { kind: 'add-to-cell' }>['input']): ChangeValue {
  switch (written.kind) {
    case 'raw-value':
      return { kind: 'raw-value', value: bytesOf(written.value) };
    case 'raw-timestamp':
      return { kind: 'raw-timestamp', micros: BigInt(written.micros as string) };
    case 'int64':
      return { kind: 'int64', value: BigInt(written.value as string) };
  }
}

const bytesOf = (text: unknown): Buffer => Buffer.from(text as string, 'base64');
