import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { aggregateFamily, addFamily } from '../support/bigtable-raw-client.ts';
import { decodeRowRequest, decodeRowResult, encodeRowResult } from '../../shared/single-row/forms/documents.ts';
import { startRowRequests } from '../support/row-request-harness.ts';
import { TABLE } from '../support/sink-harness.ts';
import { fencedBlocks } from './fenced-blocks.ts';

/** The requests that people read about are answered as it is written, by the real function over an embedded Bigtable. */

const page = readFileSync(resolve(import.meta.dirname, '../../shared/docs/row-requests.md'), 'utf8');

interface Example {
  readonly name: string;
  readonly request: string;
  readonly result: string;
}

const pairs = (name: string, requests: readonly string[], results: readonly string[]): Example[] =>
  requests.map((request, index) => ({ name: `${name} ${index + 1}`, request, result: results[index] ?? '' }));

const CURL = /^curl .* -d '(.*)'\n$/s;
const examples = [
  ...pairs('row-requests.md', fencedBlocks(page, 'json request'), fencedBlocks(page, 'json result')),
  ...pairs(
    'row-requests.md, curl',
    fencedBlocks(page, 'sh').flatMap((block) => CURL.exec(block)?.[1] ?? []),
    fencedBlocks(page, 'json'),
  ),
];

test('the page shows a request of either kind, as a document and as a command', () => {
  const kinds = examples.map(({ request }) => decodeRowRequest(Buffer.from(request)).request.kind);
  expect(kinds).toEqual(['readModifyWrite', 'readModifyWrite', 'conditional', 'readModifyWrite', 'conditional']);
});

/** What differs from run to run, and with whose table it is. */
function constant(json: string): unknown {
  const result = decodeRowResult(Buffer.from(json));
  const { version, outcome, rowKey } = JSON.parse(encodeRowResult(result, 'json').toString()) as Record<
    string,
    unknown
  >;
  const text = JSON.stringify({ version, rowKey, outcome });
  return JSON.parse(text.replaceAll(/"timestampMicros":"\d+"/g, '"timestampMicros":"now"'));
}

test.each(examples)('$name is answered as it is written', async ({ request, result }) => {
  await using rows = await startRowRequests();
  await addFamily(rows.client, TABLE, 'sums', aggregateFamily('sum'));
  const response = await rows.ask(request);
  expect(response.status).toBe(200);
  const text = await response.text();
  expect(constant(text)).toEqual(constant(result));
  const { correlationId } = decodeRowRequest(Buffer.from(request));
  if (correlationId !== undefined) expect(decodeRowResult(Buffer.from(text)).correlationId).toBe(correlationId);
});
