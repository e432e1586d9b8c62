import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LocalBigtable, startBigtableServer } from '../../../../infra/local/servers/bigtable/server.ts';
import { systemClock } from '../../../../shared/base/clock.ts';
import { ClientPool } from '../../../../shared/google/bigtable/clients.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import {
  assemble,
  connect,
  createTable,
  entry,
  mutateRows,
  type RawClient,
  setCell,
} from '../../../support/bigtable-raw-client.ts';
import { readRowMessages } from '../../../support/read-row-messages.ts';
import { testRuntime } from '../../../support/runtime.ts';

/** What an adapter that reads builds on, over the embedded server: a held client and its streamed call. */

const T = tableName('p', 'i', 'read');
const ROWS = 600;
const VALUE_BYTES = 32 * 1024;
const keyOf = (row: number): string => `row-${String(row).padStart(4, '0')}`;

let bigtable: LocalBigtable;
let client: RawClient;
let pool: ClientPool;
let path: string;

beforeAll(async () => {
  bigtable = await startBigtableServer();
  client = connect(bigtable.address);
  const limits = { maxActiveInstances: 1, destinationIdleTimeoutMillis: 3_600_000 };
  pool = new ClientPool({ ...limits, emulatorEndpoint: bigtable.address }, testRuntime({ clock: systemClock }));
  path = await createTable(client, 'read', { f: {} });
  const value = Buffer.alloc(VALUE_BYTES, 'v');
  const entries = Array.from({ length: ROWS }, (_, row) => entry(keyOf(row), setCell('f', 'q', value)));
  for (let at = 0; at < ROWS; at += 100) await mutateRows(client, path, entries.slice(at, at + 100));
});

afterAll(async () => {
  pool.close();
  client.close();
  await bigtable.close();
});

/** The only client is free again: one for another instance can be had at once. */
const isFree = (): boolean => {
  const other = pool.hold({ project: 'p', instance: 'other' });
  if (other) pool.release(other);
  return other !== undefined;
};

async function allOf<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const all: Value[] = [];
  for await (const value of values) all.push(value);
  return all;
}

const reading = (signal = new AbortController().signal) => readRowMessages(pool, { table: T, signal });

describe('a scan', () => {
  test('gives every row, and its client back', async () => {
    const rows = assemble(await allOf(reading()));
    expect(rows.map(({ key }) => key)).toEqual(Array.from({ length: ROWS }, (_, row) => keyOf(row)));
    expect(isFree()).toBe(true);
  });

  test('whose reader stops asking is not read ahead by the server', async () => {
    const scan = reading();
    const first = await scan.next();
    await wait(200);
    // A server that had read on would send the last row as it was.
    await mutateRows(client, path, [entry(keyOf(ROWS - 1), setCell('f', 'late', 'seen', 2000n))]);
    const rest = await allOf(scan);
    const rows = assemble([...(first.done === true ? [] : [first.value]), ...rest]);
    expect(rows).toHaveLength(ROWS);
    expect(rows.at(-1)?.cells).toContain('f:late@2000=seen');
  });

  test('that breaks in the middle rejects with the status, after rows that were read', async () => {
    const unavailable = { code: 'UNAVAILABLE', message: 'the tablet moved' } as const;
    bigtable.faults.add({ method: 'ReadRows', effect: { kind: 'cut-scan', rows: 300, status: unavailable } });
    let messages = 0;
    const read = async (): Promise<void> => {
      for await (const { chunks } of reading()) messages += chunks.length > 0 ? 1 : 0;
    };
    await expect(read()).rejects.toMatchObject({ name: 'CallError', status: unavailable });
    expect(messages).toBeGreaterThan(0);
    expect(isFree()).toBe(true);
  });

  test('that is aborted in the middle rejects with the reason, and gives its client back', async () => {
    const controller = new AbortController();
    const scan = reading(controller.signal);
    await scan.next();
    const reason = new Error('the slot ended');
    controller.abort(reason);
    await expect(allOf(scan)).rejects.toBe(reason);
    expect(isFree()).toBe(true);
  });

  test('that its reader leaves gives its client back', async () => {
    for await (const { chunks } of reading()) {
      expect(chunks.length).toBeGreaterThan(0);
      break;
    }
    expect(isFree()).toBe(true);
  });

  test('of a table that does not exist rejects with what the service says', async () => {
    const missing = readRowMessages(pool, { table: tableName('p', 'i', 'none'), signal: new AbortController().signal });
    await expect(missing.next()).rejects.toMatchObject({ status: { code: 'NOT_FOUND' } });
    expect(isFree()).toBe(true);
  });
});
