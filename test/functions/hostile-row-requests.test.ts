import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RowRequestHarness, startRowRequests } from '../support/row-request-harness.ts';

/** Documents that nobody means well, at `rowRequest`: the right status, little time, and an answer of a few KiB. */

const MAX_ANSWER_BYTES = 32_000;
const PLANTED = 'planted-secret';

let rows: RowRequestHarness;
beforeAll(async () => {
  rows = await startRowRequests();
});
afterAll(() => rows[Symbol.asyncDispose]());

const increment = (amount: unknown, more: object = {}): object => ({
  version: 1,
  readModifyWrite: { rowKey: PLANTED, rules: [{ increment: { family: 'f', qualifier: 'n', amount } }] },
  ...more,
});
const amountOf = (text: string): string => JSON.stringify(increment(0)).replace('"amount":0', `"amount":${text}`);
const append = (rowKey: unknown, value: unknown): object => ({
  version: 1,
  readModifyWrite: { rowKey, rules: [{ append: { family: 'f', qualifier: 'a', value } }] },
});
const otherwise = (length: number, mutation: object): object => ({
  version: 1,
  conditional: { rowKey: PLANTED, otherwise: Array.from({ length }, () => mutation) },
});
const chained = (depth: number): string =>
  `{"version":1,"conditional":{"rowKey":"r","predicate":${'{"chain":['.repeat(depth)}{"none":{}}${']}'.repeat(depth)},"otherwise":[{"deleteFromFamily":{"family":"f"}}]}}`;
const key = (bytes: Buffer | string): Buffer =>
  Buffer.concat([
    Buffer.from('{"version":1,"readModifyWrite":{"rowKey":"'),
    Buffer.from(bytes),
    Buffer.from('","rules":[{"increment":{"family":"f","qualifier":"n","amount":1}}]}}'),
  ]);
const padded = (length: number): Buffer => {
  const bytes = Buffer.alloc(length, ' ');
  bytes.write(JSON.stringify(increment(1)));
  return bytes;
};

describe('a document', () => {
  test.each<[string, object | string | Buffer, number]>([
    ['of one brace', '{', 400],
    ['of no byte', '', 400],
    ['null', 'null', 400],
    ['a list', '[]', 400],
    ['a text', `"${PLANTED}"`, 400],
    ['with a byte order mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), padded(200)]), 400],
    ['in UTF-16', Buffer.from(JSON.stringify(increment(1)), 'utf16le'), 400],
    ['with bytes that are no UTF-8 in its row key', key(Buffer.from([0xff, 0xfe])), 400],
    ['with half a character in its row key', key(String.raw`\ud800`), 400],
    ['with a member that is not known', increment(1, { typo: 1 }), 400],
    ['with the member __proto__', JSON.stringify(increment(1)).replace('{', '{"__proto__":{"x":1},'), 400],
    ['of version 2', increment(1, { version: 2 }), 400],
    ['with 2^63', increment('9223372036854775808'), 400],
    ['with 2^63 as a number', amountOf('9223372036854775808'), 400],
    ['with 1e400', amountOf('1e400'), 400],
    ['with 1.5', amountOf('1.5'), 400],
    ['with stars for base64', append({ base64: '***' }, 'x'), 400],
    ['with a quarter of base64', append('r', { base64: 'a' }), 400],
    ['for a table of another project', increment(1, { table: 'projects/other/instances/i/tables/t' }), 403],
    ['for a table of another instance', increment(1, { table: 'projects/p/instances/other/tables/t' }), 403],
    ['for a table that cannot be', increment(1, { table: 'a/b' }), 400],
    ['for a table that is missing', increment(1, { table: 'nope' }), 502],
    ['with a key of 4,097 bytes', append('k'.repeat(4097), 'x'), 400],
    ['with an empty key', append('', 'x'), 400],
    ['with both requests', { ...increment(1), ...otherwise(1, { deleteFromRow: {} }) }, 400],
    ['with none', { version: 1 }, 400],
    ['with a correlation id of 257 bytes', increment(1, { correlationId: 'x'.repeat(257) }), 400],
    [
      'with a predicate of 21,000 bytes',
      {
        version: 1,
        conditional: { rowKey: 'r', predicate: { value: 'x'.repeat(21_000) }, otherwise: [{ deleteFromRow: {} }] },
      },
      422,
    ],
    ['nested 21 deep', chained(21), 400],
    ['nested 100,000 deep', chained(100_000), 400],
    ['of 4,000,000 brackets', '['.repeat(4_000_000), 400],
    ['of 3,000,000 empty objects', `[${'{},'.repeat(3_000_000)}{}]`, 400],
    ['of 100,001 mutations', otherwise(100_001, { deleteFromFamily: { family: 'f' } }), 400],
    ['of 100,000 bad mutations', otherwise(100_000, { nope: 1 }), 400],
    ['of 10,000,000 bytes', padded(10_000_000), 200],
    ['of 10,000,001 bytes', padded(10_000_001), 413],
  ])(
    '%s',
    async (_name, document, status) => {
      const startedAt = performance.now();
      const response = await rows.ask(document);
      const text = await response.text();
      expect([response.status, text.slice(0, 300)]).toEqual([status, expect.any(String)]);
      expect(text.length).toBeLessThan(MAX_ANSWER_BYTES);
      if (status !== 200) expect(text).not.toContain(PLANTED);
      expect(performance.now() - startedAt).toBeLessThan(15_000);
    },
    20_000,
  );

  test('of 100,000 bad mutations is told how many problems it has, and the first 100 of them', async () => {
    const response = await rows.ask(otherwise(100_000, { nope: 1 }));
    const { error } = (await response.json()) as { error: { message: string; problems: readonly object[] } };
    expect(error.message).toBe('the request has 100000 problems, of which the first 100 are told');
    expect(error.problems).toHaveLength(100);
  }, 20_000);

  test.each<[string, Readonly<Record<string, string>>]>([
    ['an id of two words', { 'x-request-id': 'a b' }],
    ['an id of 10,000 characters', { 'x-request-id': 'a'.repeat(10_000) }],
    ['a form that nobody knows', { accept: 'text/html, application/x-protobuf;q=0.9' }],
  ])('with %s is answered in JSON, under an id that is made up', async (_name, headers) => {
    const response = await rows.ask(increment(1), { headers });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
    expect(response.headers.get('content-type')).toBe('application/json');
  });

  test('in proto that is garbage, or empty, is a bad request', async () => {
    const headers = { 'content-type': 'application/x-protobuf' };
    for (const body of [Buffer.from([1, 2, 3, 255]), Buffer.alloc(0)]) {
      expect((await rows.ask(body, { headers })).status).toBe(400);
    }
  });
});

test('no log line holds anything of a document', () => {
  expect(rows.logs.filter((line) => JSON.stringify(line).includes(PLANTED))).toEqual([]);
});

describe('a caller may name', () => {
  const mapping = { rowKey: '${id}', writeMode: 'insert-if-absent', families: { f: { columns: { c: 'string' } } } };

  test('with a mapping that names no table, the table of the pipeline alone', async () => {
    await using mapped = await startRowRequests({ serializer: undefined, mapping });
    const named = (table: string): object => ({
      version: 1,
      table,
      correlationId: table,
      conditional: { rowKey: 'k', otherwise: [{ deleteFromFamily: { family: 'f' } }] },
    });
    expect((await mapped.ask(named('t'))).status).not.toBe(403);
    const refused = await mapped.ask(named('other'));
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { error: { code: 'table-not-allowed', mayHaveApplied: false } },
    ]);
  });
});
