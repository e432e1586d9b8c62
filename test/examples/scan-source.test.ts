import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { backwardsProblems } from '../../shared/mapping/backwards/problems.ts';
import { compileMapping } from '../../shared/mapping/compile-mapping.ts';
import { resolveMapping } from '../../shared/mapping/declared/resolve.ts';
import type { MappedWrite } from '../../shared/mapping/modes/write.ts';
import type { Cell } from '../../shared/model/row.ts';
import { mappingForm } from '../../shared/scan/forms/mapping-form.ts';
import { jsonRecord } from '../shared/mapping/records.ts';
import { EMISSION_ATTRIBUTES } from '../../shared/emission/messages/attributes.ts';
import { formJsonSchema } from '../../shared/forms/json-schema.ts';
import { scanFilter } from '../../shared/forms/scan-filter-form.ts';
import { SCAN_ATTRIBUTES } from '../../shared/scan/forms/attributes.ts';
import { cellForm, rowForm } from '../../shared/scan/forms/json-form.ts';
import { loadModuleForm } from '../../shared/scan/forms/module-form.ts';
import { cellRecord, rowRecord } from '../../shared/scan/forms/record-schemas.ts';
import { cell, rowOf, textOf } from '../shared/scan/forms/rows.ts';
import { fencedBlocks } from './fenced-blocks.ts';
import { pageText } from './pages.ts';
import { typeErrors, withoutTypes } from './type-check.ts';

/** The page of the scan source: its examples are what the forms make. */

const page = pageText('shared/docs/scan-source.md');
const row = rowOf(
  'user#7',
  cell('profile', 'name', 1_769_817_600_000_000n, 'Ada'),
  cell('profile', 'picture', 1_769_817_600_000_000n, Buffer.from('/9j/', 'base64')),
);

test('the row and the cell of the page are what the forms make, and of their schemas', () => {
  const [writtenRow = ''] = fencedBlocks(page, 'json row');
  const [writtenCell = ''] = fencedBlocks(page, 'json cell');
  expect(rowRecord.parse(JSON.parse(writtenRow))).toEqual(JSON.parse(textOf(rowForm('utf8').records(row)[0])));
  expect(cellRecord.parse(JSON.parse(writtenCell))).toEqual(JSON.parse(String(cellForm('utf8').records(row)[0])));
});

test('the attributes that the page lists are those that a scan sets', () => {
  const listed = Array.from(page.matchAll(/^\| `([a-z0-9-]+)` +\| (.*?) +\|$/gm), ([, name = '', meaning = '']) => ({
    name,
    meaning,
  }));
  const set = [...Object.values(SCAN_ATTRIBUTES), ...Object.values(EMISSION_ATTRIBUTES)];
  for (const attribute of set) expect(listed).toContainEqual(attribute);
});

test('the mapping of the page makes of the row the record of the page, of which it writes that row', async () => {
  const [written = ''] = fencedBlocks(page, 'yaml mapping');
  const [record = ''] = fencedBlocks(page, 'json record');
  const { mapping, problems } = resolveMapping(parseYaml(written), 'mapping');
  expect(problems).toEqual([]);
  if (!mapping) return;
  expect(backwardsProblems(mapping, 'mapping')).toEqual([]);
  const { prepare } = await compileMapping(mapping);
  const made = prepare(jsonRecord(record), { publishTimeMicros: 0n })?.write();
  const { rowKey, mutations } = (made as Extract<MappedWrite, { kind: 'entry' }>).entry;
  expect(rowKey.toString()).toBe('acme#000042');
  const cells = mutations.map((mutation) => ({ ...mutation, labels: [] }) as unknown as Cell);
  const [back] = mappingForm(mapping, 'reject').records(rowOf(rowKey, ...cells));
  expect(back?.toString()).toBe(
    '{"tenant":"acme","id":42,"name":"Ada","visits":7,"score":1.50,"labels":{"colour":"red"},"seenAt":"2026-01-31T00:00:00Z"}',
  );
  expect(JSON.parse(String(back))).toEqual(JSON.parse(record));
});

describe('the filters of the page', () => {
  const [, part = ''] = page.split(/^## Filters$/m);

  test('are those that a scan takes, and each of them', () => {
    const { properties } = formJsonSchema(scanFilter).$defs.scanFilter as {
      properties: Readonly<Record<string, unknown>>;
    };
    const listed = Array.from(part.split(/^## /m)[0]?.matchAll(/`\{"([a-zA-Z]+)": /g) ?? [], ([, name = '']) => name);
    // Ways to write bytes look alike.
    const filters = [...new Set(listed)].filter((name) => !['base64', 'utf8', 'int64'].includes(name));
    expect([...filters, 'rowSample'].toSorted()).toEqual(Object.keys(properties).toSorted());
  });

  test('are written in YAML as the example is', () => {
    const [example = ''] = fencedBlocks(part, 'yaml');
    const { filter } = parseYaml(example) as { filter: unknown };
    expect(scanFilter.parse(filter)).toMatchObject({ kind: 'chain' });
  });
});

describe('the module of the page', () => {
  const [code = ''] = fencedBlocks(page, 'ts module');
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'connector-example-'));
    await writeFile(join(folder, 'example.mjs'), withoutTypes(code));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('has the types that it says', () => {
    expect(typeErrors(code)).toEqual([]);
    expect(typeErrors(code.replace('String(newest.timestampMicros)', 'newest.timestampMicros'))).toHaveLength(1);
  }, 30_000);

  test('makes a message of a row of its family, and leaves others out', async () => {
    const form = await loadModuleForm({ module: './example.mjs', options: { family: 'profile' } }, folder, false);
    expect(form.records(row)).toEqual([
      { data: Buffer.from('{"user":"user#7","cells":2}'), attributes: { newest: '1769817600000000' } },
    ]);
    expect(form.records(rowOf('k', cell('other', 'q', 0n, '')))).toEqual([]);
  });
});
