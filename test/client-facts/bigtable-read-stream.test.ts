import { Bigtable, type Row, type Table } from '@google-cloud/bigtable';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type LocalBigtable, startBigtableServer } from '../../infra/local/servers/bigtable/server.ts';
import type { StatusName } from '../../shared/model/status.ts';
import type { RowRange } from '../../shared/proto/google/bigtable/v2/data.ts';
import { connect, createTable, entry, mutateRows, type RawClient, setCell } from '../support/bigtable-raw-client.ts';

/**
 * What `createReadStream` of the official client (@google-cloud/bigtable 7.2.0) does where a scan is cut, where a filter
 * lets nothing through and where a row is too large. A scan here does not read with it: a row costs three to six times as
 * much, it does not say how far it is, and it ends at a row that is too large. An upgrade that changes one of these facts
 * fails a test.
 */
let bigtable: LocalBigtable;
let raw: RawClient;
let client: Bigtable;
let table: Table;
/** The ranges of each request. */
const asked: string[] = [];

const NAME = 'projects/p/instances/i/tables/t';
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

beforeAll(async () => {
  bigtable = await startBigtableServer({ scans: { rowsPerProgress: 2 }, limits: { readRowBytes: 1000 } });
  raw = connect(bigtable.address);
  await createTable(raw, 't', { f: {} });
  await mutateRows(
    raw,
    NAME,
    KEYS.map((key) => entry(key, setCell('f', 'q', 'v'))),
  );
  const before = process.env.BIGTABLE_EMULATOR_HOST;
  process.env.BIGTABLE_EMULATOR_HOST = bigtable.address;
  client = new Bigtable({ projectId: 'p', metricsEnabled: false });
  if (before === undefined) delete process.env.BIGTABLE_EMULATOR_HOST;
  else process.env.BIGTABLE_EMULATOR_HOST = before;
  table = client.instance('i').table('t');
});

afterEach(() => {
  bigtable.faults.clear();
  asked.length = 0;
});

afterAll(async () => {
  await client.close();
  raw.close();
  await bigtable.close();
});

const rangeText = ({ startKey, endKey }: RowRange): string =>
  `${startKey?.$case === 'startKeyOpen' ? '(' : '['}${String(startKey?.value)}, ${String(endKey?.value)}]`;

/** What was read, or what was read and then the error. */
function read(options: object = {}): Promise<string> {
  bigtable.faults.add({
    method: 'ReadRows',
    where: ({ rows }) => {
      asked.push((rows?.rowRanges ?? []).map(rangeText).join());
      return false;
    },
    effect: { kind: 'delay', delayMillis: 0 },
  });
  return new Promise((resolve) => {
    const keys: string[] = [];
    table
      .createReadStream({ decode: false, ranges: [{ start: 'b', end: 'f' }], ...options })
      .on('error', (error: Error) => {
        resolve(`${keys.join('')} ${error.message}`);
      })
      .on('data', ({ id }: Row) => keys.push(id))
      .on('end', () => {
        resolve(keys.join(''));
      });
  });
}

/** The rule that notes what is asked must come first: the first rule that meets a call is its last. */
function cutAfter(rows: number, code: StatusName, message = 'cut'): void {
  bigtable.faults.add({ method: 'ReadRows', effect: { kind: 'cut-scan', rows, status: { code, message } } });
}

test.each([
  ['UNAVAILABLE', 'cut'],
  ['INTERNAL', 'Received RST_STREAM with code 2'],
] as const)('a scan that is cut with %s goes on behind the last row', async (code, message) => {
  const reading = read();
  cutAfter(2, code, message);
  expect(await reading).toBe('bcdef');
  expect(asked).toEqual(['[b, f]', '(c, f]']);
});

test('a scan that is cut behind its last row asks for nothing more', async () => {
  const reading = read();
  cutAfter(5, 'UNAVAILABLE');
  expect(await reading).toBe('bcdef');
  expect(asked).toEqual(['[b, f]']);
});

test('a scan whose filter lets nothing through begins anew when it is cut: it does not ask how far it is', async () => {
  const reading = read({ filter: [{ value: 'no such value' }] });
  cutAfter(0, 'UNAVAILABLE');
  expect(await reading).toBe('');
  expect(asked).toEqual(['[b, f]', '[b, f]']);
});

test('a row that is too large ends the scan', async () => {
  await mutateRows(raw, NAME, [entry('g', setCell('f', 'large', Buffer.alloc(2000)))]);
  expect(await read({ ranges: [{ start: 'f', end: 'h' }] })).toMatch(/^f 9 FAILED_PRECONDITION: .* exceeds the limit/);
});

test('a value of eight bytes is a number, also where values are not decoded', async () => {
  await mutateRows(raw, NAME, [entry('x', setCell('f', 'q', Buffer.from([0, 0, 0, 0, 0, 0, 1, 0])))]);
  for (const decode of [true, false]) {
    const [rows] = await table.getRows({ keys: ['x'], decode });
    const [row] = rows as unknown as { data: { f: { q: { value: unknown }[] } } }[];
    expect(row?.data.f.q[0]?.value).toBe(256);
  }
});
