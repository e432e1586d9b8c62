import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { CHANGE_ATTRIBUTES } from '../../shared/change-stream/forms/attributes.ts';
import { changeMessages, DEFAULT_KEY_GROUPS } from '../../shared/change-stream/forms/change-messages.ts';
import { envelopeForm } from '../../shared/change-stream/forms/envelope-form.ts';
import { envelopeRecord } from '../../shared/change-stream/forms/envelope-schema.ts';
import { LARGE_CHANGE_BYTES } from '../../shared/change-stream/reading/attempt.ts';
import { SILENCE_MILLIS } from '../../shared/change-stream/reading/ending.ts';
import { MAX_FAILURES, REOPENING } from '../../shared/change-stream/reading/read-partition-stream.ts';
import { EMISSION_ATTRIBUTES } from '../../shared/emission/messages/attributes.ts';
import { tableName } from '../../shared/model/table-name.ts';
import { changeOf, setCellOf } from '../support/changes.ts';
import { fencedBlocks } from './fenced-blocks.ts';
import { pageText } from './pages.ts';

/** The page of the change stream source: its examples are what the form makes. */

const page = pageText('shared/docs/change-stream-source.md');

test('the envelope of the page is what the form makes, and of its schema', () => {
  const [written = ''] = fencedBlocks(page, 'json envelope');
  const table = tableName('my-project', 'my-instance', 'orders');
  const change = changeOf({
    rowKey: Buffer.from('order#7'),
    sourceCluster: 'my-cluster',
    commitTime: 1_769_817_600_123_456_789n,
    lowWatermark: 1_769_817_600_000_000_000n,
    entries: [
      { kind: 'delete-cells', family: 'order', qualifier: Buffer.from('state'), timestampRange: {} },
      setCellOf('order', 'state', 'paid', 1_769_817_600_120_000n),
    ],
  });
  const options = { table, form: envelopeForm(table), orderingKeys: DEFAULT_KEY_GROUPS, isPacked: false };
  const [message] = changeMessages(options)(change, undefined);
  expect(envelopeRecord.parse(JSON.parse(written))).toEqual(JSON.parse(String(message?.data)));
});

test('the attributes that the page lists are those that a change has', () => {
  const listed = Array.from(page.matchAll(/^\| `([a-z0-9-]+)` +\| (.*?) +\|$/gm), ([, name = '', meaning = '']) => ({
    name,
    meaning,
  }));
  const set = [...Object.values(CHANGE_ATTRIBUTES), ...Object.values(EMISSION_ATTRIBUTES)];
  for (const attribute of set) expect(listed).toContainEqual(attribute);
});

test('the schema that the page names is there', () => {
  const path = 'shared/change-stream/forms/envelope.schema.json';
  expect(page).toContain(`\`${path}\``);
  const schema: unknown = JSON.parse(readFileSync(resolve(import.meta.dirname, '../..', path), 'utf8'));
  expect(schema).toMatchObject({
    type: 'object',
    properties: { schema: { const: 'bigtable-change' }, version: { const: 1 } },
  });
});

test('the page names the bounds by which streams are opened anew and changes put together', () => {
  expect(page).toContain(`${DEFAULT_KEY_GROUPS} where nothing else is asked for`);
  expect(page).toContain(`${SILENCE_MILLIS / 1000} s without a record`);
  expect(page).toContain(`after ${REOPENING.initialMillis} ms`);
  expect(page).toContain(`${MAX_FAILURES} times in a row`);
  expect(page).toContain(`above ${LARGE_CHANGE_BYTES / 1024 / 1024} MiB`);
});
