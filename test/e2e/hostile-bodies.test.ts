import { connect, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FunctionProcess, startFunctionProcess } from '../../infra/local/run/function-process.ts';
import { REPOSITORY } from '../../infra/local/run/start-functions.ts';
import { type LocalBigtable, startBigtableServer } from '../../infra/local/servers/bigtable/server.ts';
import { rssMiBOf, usageProblem } from '../bench/support/process-usage.ts';
import { connect as connectRaw, createTable, type RawClient } from '../support/bigtable-raw-client.ts';
import { PUBLISH_TIME, pushBody } from '../support/push-body.ts';
import { bytesOf, exchange, type RawRequest } from '../support/raw-http.ts';
import { goodEntry } from '../support/test-entry.ts';

/**
 * Bodies that nobody means well, at the functions framework's own process: no crash, no hang, bounded memory, the right
 * status, and nothing of a body in an answer or in the log.
 */

const MIB = 1024 * 1024;
const MAX_PUSHED_MIB = 32;
/** In every body that is refused; in no answer and no log line. */
const PLANTED = 'planted-secret';

const ENTRY_KINDS = ['bulkSink', 'rowRequest'] as const;
type EntryKind = (typeof ENTRY_KINDS)[number];

const pipeline = {
  ...{ project: 'p', instance: 'i', table: 't' },
  maxPushedBytes: `${MAX_PUSHED_MIB}MiB`,
};
const CONFIG = JSON.stringify({
  pipelines: {
    entries: { kind: 'bulk-sink', serializer: 'entry', topic: 'projects/p/topics/entries', ...pipeline },
    requests: { kind: 'request-sink', serializer: 'request', topic: 'projects/p/topics/requests', ...pipeline },
  },
});

let bigtable: LocalBigtable;
let client: RawClient;
const running = {} as Record<EntryKind, FunctionProcess>;
const lines: string[] = [];

beforeAll(async () => {
  bigtable = await startBigtableServer();
  client = connectRaw(bigtable.address);
  await createTable(client, 't', { f: {} });
  const env = { CONNECTOR_CONFIG: CONFIG, BIGTABLE_EMULATOR_HOST: bigtable.address, NODE_ENV: 'production' };
  for (const kind of ENTRY_KINDS) {
    running[kind] = await startFunctionProcess(kind, { source: REPOSITORY, env, onLine: (line) => lines.push(line) });
  }
}, 90_000);

afterAll(async () => {
  for (const kind of ENTRY_KINDS) await running[kind].kill();
  client.close();
  await bigtable.close();
});

const GOOD: Readonly<Record<EntryKind, Buffer>> = {
  bulkSink: Buffer.from(JSON.stringify(pushBody({ data: goodEntry('k', 'v') }))),
  rowRequest: Buffer.from(
    JSON.stringify({
      version: 1,
      readModifyWrite: { rowKey: 'k', rules: [{ append: { family: 'f', qualifier: 'q', value: 'v' } }] },
    }),
  ),
};
const DONE: Readonly<Record<EntryKind, number>> = { bulkSink: 204, rowRequest: 200 };

const ask = (kind: EntryKind, request: RawRequest): ReturnType<typeof exchange> =>
  exchange(running[kind].port, { ...request, headers: { 'content-type': 'application/json', ...request.headers } });

/** It still answers a good body, and none of what was sent has come out. */
async function expectWell(kind: EntryKind): Promise<void> {
  expect((await ask(kind, { body: [GOOD[kind]] })).status).toBe(DONE[kind]);
}

const chunk = (bytes: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), Buffer.from(bytes), Buffer.from('\r\n')]);
const CHUNKED = { length: null, headers: { 'transfer-encoding': 'chunked' } } as const;
const half = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length / 2);

/**
 * What is sent instead of a good body, and the statuses that may come of it; `done`: it is good all the same. 0: the
 * server's parser refuses the connection itself, and may close it before its answer is read.
 */
const HOSTILE: readonly (readonly [string, (good: Buffer) => RawRequest, readonly (number | 'done')[]])[] = [
  ['half a JSON', (good) => ({ body: [half(good), PLANTED] }), [400]],
  ['no byte', () => ({}), [400]],
  ['bytes', () => ({ body: [Buffer.from([0xff, 0xfe, 0, 0x80]), PLANTED] }), [400]],
  ['JSON null', () => ({ body: ['null'] }), [400]],
  ['a JSON text', () => ({ body: [JSON.stringify(PLANTED)] }), [400]],
  ['a record as it is, unwrapped', () => ({ body: [JSON.stringify({ record: PLANTED })] }), [400]],
  ['UTF-16', (good) => ({ body: [Buffer.from(good.toString(), 'utf16le')] }), [400]],
  ['a byte order mark', (good) => ({ body: ['\ufeff', good] }), [400]],
  ['9 MiB of brackets', () => ({ body: [Buffer.alloc(9 * MIB, '[')] }), [400]],
  ['9 MiB of nested objects', () => ({ body: ['{"a":'.repeat((9 * MIB) / 5)] }), [400]],
  ['9 MiB of empty objects', () => ({ body: [`[${'{},'.repeat(3 * MIB)}{}]`] }), [400]],
  ['9 MiB of quotes', () => ({ body: [Buffer.alloc(9 * MIB, '"')] }), [400]],
  ['9 MiB of spaces around', (good) => ({ body: [Buffer.alloc(9 * MIB, ' '), good] }), ['done']],
  ['15 MiB', () => ({ body: [Buffer.alloc(15 * MIB, PLANTED)] }), [413]],
  ['15 MiB in chunks', () => ({ ...CHUNKED, body: [chunk(Buffer.alloc(15 * MIB, PLANTED))] }), [413]],
  ['a length of a petabyte', () => ({ length: '1000000000000000', body: [PLANTED] }), [413]],
  ['a length beyond every number', () => ({ length: '9'.repeat(30) }), [400, 0]],
  ['a negative length', () => ({ length: '-1', body: [PLANTED] }), [400, 0]],
  ['a length that is none', () => ({ length: PLANTED }), [400, 0]],
  ['a length and chunks', (good) => ({ headers: CHUNKED.headers, body: [chunk(good), '0\r\n\r\n'] }), [400, 0]],
  [
    'another transfer coding',
    (good) => ({ length: null, headers: { 'transfer-encoding': 'gzip' }, body: [good] }),
    [400, 0],
  ],
  ['a broken chunk', () => ({ ...CHUNKED, body: [`zz\r\n${PLANTED}`] }), [400, 0]],
  [
    'chunks',
    (good) => ({ ...CHUNKED, body: [chunk(half(good)), chunk(good.subarray(good.length / 2)), '0\r\n\r\n'] }),
    ['done'],
  ],
  [
    'less than was announced, then the end',
    (good) => ({ length: String(good.length + 9), body: [good], then: 'ends' }),
    [400, 0],
  ],
  [
    'less than was announced, then nobody',
    (good) => ({ length: String(good.length + 9), body: [good], then: 'leaves' }),
    [0],
  ],
  ['more than was announced', (good) => ({ length: '5', body: [good, PLANTED] }), [400, 0]],
  ['no word of a length', (good) => ({ length: null, body: [good] }), [400, 0]],
  ['100 KiB of headers', () => ({ headers: { cookie: PLANTED.repeat(8000) } }), [431, 0]],
  ['a body that asks to be asked for', (good) => ({ headers: { expect: '100-continue' }, body: [good] }), ['done']],
  ['an expectation that nobody knows', (good) => ({ headers: { expect: PLANTED }, body: [good] }), [417]],
  ['GET', () => ({ method: 'GET', length: null }), [405]],
  ['PUT', (good) => ({ method: 'PUT', body: [good] }), [405]],
  ['DELETE with a body', (good) => ({ method: 'DELETE', body: [good] }), [405]],
  ['HEAD', () => ({ method: 'HEAD', length: null }), [405]],
  ['brotli', (good) => ({ headers: { 'content-encoding': 'br' }, body: [brotliCompressSync(good)] }), [415]],
  ['deflate', (good) => ({ headers: { 'content-encoding': 'deflate' }, body: [deflateSync(good)] }), [415]],
  [
    'two codings',
    (good) => ({ headers: { 'content-encoding': 'gzip, gzip' }, body: [gzipSync(gzipSync(good))] }),
    [415],
  ],
  ['the coding that is none', (good) => ({ headers: { 'content-encoding': 'identity' }, body: [good] }), ['done']],
  [
    'a charset that nobody knows',
    (good) => ({ headers: { 'content-type': 'application/json; charset=x' }, body: [good] }),
    ['done'],
  ],
  [
    'the type of a form',
    (good) => ({ headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: [good] }),
    ['done'],
  ],
  [
    'a form',
    () => ({ headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: [`a=${PLANTED}`] }),
    [400],
  ],
  ['the type of text', (good) => ({ headers: { 'content-type': 'text/plain' }, body: [good] }), ['done']],
  [
    'the type of a CloudEvent',
    (good) => ({ headers: { 'content-type': 'application/cloudevents+json' }, body: [good] }),
    ['done'],
  ],
  ['a type that is none', (good) => ({ headers: { 'content-type': ';;;' }, body: [good] }), ['done']],
];

describe.each(ENTRY_KINDS)('%s is sent', (kind) => {
  test.each(HOSTILE)('%s', async (_name, requestOf, statuses) => {
    const allowed = statuses.map((status) => (status === 'done' ? DONE[kind] : status));
    const { status, text } = await ask(kind, requestOf(GOOD[kind]));
    expect(allowed).toContain(status);
    expect(text).not.toMatch(/planted-secret|<html|\n +at /i);
  });

  test('a good body without a content type', async () => {
    expect((await exchange(running[kind].port, { body: [GOOD[kind]] })).status).toBe(DONE[kind]);
  });

  test('bytes at random, and good bodies of which some bytes are others', async () => {
    const good = GOOD[kind];
    const spoilt = fc
      .array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
      .map((changes) => {
        const bytes = Buffer.from(good);
        for (const [at, byte] of changes) bytes[at] = byte;
        return bytes;
      });
    const random = fc.uint8Array({ maxLength: 2000 }).map((bytes) => Buffer.from(bytes));
    // A spoilt body may still be a good one, of another table or family; the service then has the word.
    const allowed = [DONE[kind], 400, 403, 422, 500, 502, 503];
    await fc.assert(
      fc.asyncProperty(fc.oneof(spoilt, random), async (body) => {
        expect(allowed).toContain((await ask(kind, { body: [body] })).status);
      }),
      { numRuns: 150 },
    );
  });

  test('bytes at random in place of a request', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), async (bytes) => {
        const { status } = await exchange(running[kind].port, [Buffer.from(bytes), Buffer.from('\r\n\r\n')], 'ends');
        expect([0, 400, 405, 505]).toContain(status);
      }),
      { numRuns: 50 },
    );
  });

  test('bodies that stall: others go on, and their room is there again once they are gone', async () => {
    const { port } = running[kind];
    const announced = kind === 'bulkSink' ? 14 * MIB : 10_000_000;
    const stalled = await Promise.all(
      Array.from({ length: Math.floor((MAX_PUSHED_MIB * MIB) / announced) }, () => stall(port, announced)),
    );
    await expect
      .poll(async () => (await ask(kind, { length: String(announced) }).catch(() => ({ status: 0 }))).status, {
        timeout: 10_000,
      })
      .toBe(429);
    await expectWell(kind);
    for (const socket of stalled) socket.destroy();
    const whole = Buffer.alloc(announced, ' ');
    GOOD[kind].copy(whole);
    await expect.poll(async () => (await ask(kind, { body: [whole] })).status, { timeout: 10_000 }).toBe(DONE[kind]);
  }, 60_000);
});

/** A body that begins and does not go on. */
async function stall(port: number, announced: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
  for (const part of bytesOf({ length: String(announced), body: ['{'] })) socket.write(part);
  await new Promise((done) => socket.once('connect', done));
  return socket;
}

describe('a push', () => {
  const message = { data: 'e30=', messageId: 'm', publishTime: PUBLISH_TIME, attributes: { a: 'b' }, orderingKey: 'o' };
  const VALUES: readonly unknown[] = [
    null,
    7,
    -0.5,
    true,
    [],
    {},
    [PLANTED],
    { [PLANTED]: 1 },
    '',
    PLANTED,
    `${PLANTED}é`.repeat(70_000),
  ];
  const places = [
    ...Object.keys(message).map((name) => ['message', name]),
    ['message'],
    ['subscription'],
    ['deliveryAttempt'],
    ['data'],
  ];

  test.each(places)('with every type of value in %s %s', async (...place) => {
    for (const value of VALUES) {
      const [outer = '', inner] = place;
      const body = {
        message,
        subscription: 's',
        ...(inner === undefined ? { [outer]: value } : { message: { ...message, [inner]: value } }),
      };
      const { status, text } = await ask('bulkSink', { body: [JSON.stringify(body)] });
      // What is no bad push is a message whose data are no entry.
      expect([place, [400, 500].includes(status)]).toEqual([place, true]);
      expect(text).not.toContain(PLANTED);
    }
  });

  test.each([
    ['a name', 'x'.repeat(MIB)],
    ['attributes', { ...Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`a${index}`, PLANTED])) }],
  ])('with %s beyond all bounds is refused', async (_name, value) => {
    const changed = typeof value === 'string' ? { messageId: value } : { attributes: value };
    const { status } = await ask('bulkSink', { body: [JSON.stringify({ message: { ...message, ...changed } })] });
    expect(status).toBe(400);
  });

  test.each(['good!!!!', 'YQ', 'YQ=', 'YR==', 'Y-_=', 'YQ==\n', 'YQ==YQ==', ' YQ=='])(
    'with %j in place of base64 is refused',
    async (data) => {
      const { status, text } = await ask('bulkSink', { body: [JSON.stringify({ message: { ...message, data } })] });
      expect([status, text]).toEqual([400, expect.stringContaining('message.data must be base64 text')]);
    },
  );

  test('in gzip is refused, unread', async () => {
    const headers = { 'content-encoding': 'gzip' };
    expect((await ask('bulkSink', { headers, body: [gzipSync(GOOD.bulkSink)] })).status).toBe(415);
  });
});

describe('a row request in gzip', () => {
  const headers = { 'content-encoding': 'gzip' };

  test('is taken', async () => {
    expect((await ask('rowRequest', { headers, body: [gzipSync(GOOD.rowRequest)] })).status).toBe(200);
  });

  test.each<[string, Buffer, number]>([
    ['that becomes 300 MB', gzipSync(Buffer.alloc(300_000_000, ' ')), 413],
    [
      'that lies of its length',
      Buffer.concat([gzipSync(Buffer.alloc(9_000_000, ' ')).subarray(0, -4), Buffer.from([1, 0, 0, 0])]),
      400,
    ],
    ['that is cut off', gzipSync(Buffer.alloc(9_000_000, ' ')).subarray(0, -400), 400],
    ['of two members', Buffer.concat([gzipSync('{'), gzipSync('}')]), 400],
    ['that is none', Buffer.from(PLANTED.repeat(9)), 400],
  ])('%s is refused', async (_name, body, status) => {
    // A cut ends in four bytes of any value: a length that is taken, or one that is not.
    expect([status, 413]).toContain((await ask('rowRequest', { headers, body: [body] })).status);
  });
});

describe.skipIf(usageProblem() !== undefined)('memory', () => {
  const PUSHES = 60;
  /** What the process may take beside bodies: the answers, the code that ran, and the room that the collector leaves itself. */
  const CONSTANT_MIB = 160;

  test(`of ${PUSHES} pushes of 9 MB at once stays below six times maxPushedBytes and ${CONSTANT_MIB} MiB, and each is taken or told 429`, async () => {
    const data = Buffer.from(JSON.stringify({ rowKey: '', mutations: [] }).padEnd(9_000_000));
    const body = [JSON.stringify(pushBody({ data }))];
    const { pid } = running.bulkSink;
    let peak = 0;
    const watch = setInterval(() => {
      rssMiBOf(pid).then(
        (rss) => (peak = Math.max(peak, rss)),
        () => undefined,
      );
    }, 20);
    const statuses = await Promise.all(
      Array.from({ length: PUSHES }, async () => (await ask('bulkSink', { body })).status),
    );
    clearInterval(watch);
    // Its record is a bad one: what became of it is the failure policy's word.
    expect(statuses.filter((status) => status !== 429 && status !== 500)).toEqual([]);
    expect(statuses).toContain(500);
    expect(peak).toBeLessThan(6 * MAX_PUSHED_MIB + CONSTANT_MIB);
    await expectWell('bulkSink');
  }, 60_000);
});

test('in the end both functions answer, and no log line held anything of a body', async () => {
  for (const kind of ENTRY_KINDS) await expectWell(kind);
  // An id is told: it is how a message is found again.
  const told = lines.map((line) => line.replaceAll(`"messageId":"${PLANTED}"`, ''));
  expect(told.filter((line) => line.includes(PLANTED))).toEqual([]);
});
