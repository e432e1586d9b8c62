import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type LocalBigtable, startBigtableServer } from '../../../../infra/local/servers/bigtable/server.ts';
import { ClientPool } from '../../../../shared/google/bigtable/clients.ts';
import { createSampleRowKeys } from '../../../../shared/google/bigtable/sample-row-keys.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import type { RowKeySample, SampleRowKeys } from '../../../../shared/scan/ports.ts';
import {
  connect,
  createTable,
  entry,
  mutateRows,
  type RawClient,
  setCell,
} from '../../../support/bigtable-raw-client.ts';
import { testRuntime } from '../../../support/runtime.ts';
import { SteppedClock } from '../../../support/stepped-clock.ts';

const T = tableName('p', 'i', 't');

let bigtable: LocalBigtable;
let client: RawClient;
let pool: ClientPool;
let clock: SteppedClock;
let sample: SampleRowKeys;

beforeAll(async () => {
  bigtable = await startBigtableServer();
  client = connect(bigtable.address);
  const table = await createTable(client, 't', { f: {} }, ['g', 'p']);
  await mutateRows(
    client,
    table,
    ['a', 'h', 'q'].map((key) => entry(key, setCell('f', 'q', 'v'))),
  );
  clock = new SteppedClock();
  const limits = { maxActiveInstances: 1, destinationIdleTimeoutMillis: 3_600_000 };
  pool = new ClientPool({ ...limits, emulatorEndpoint: bigtable.address }, testRuntime({ clock }));
  sample = createSampleRowKeys(pool, { clock, random: () => 0.5 });
});

afterEach(() => {
  bigtable.faults.clear();
});

afterAll(async () => {
  pool.close();
  client.close();
  await bigtable.close();
});

const { signal } = new AbortController();

/** Lets time pass until the sampling has ended. */
async function settled(sampling: Promise<readonly RowKeySample[]>): Promise<unknown> {
  const over = new AbortController();
  const ending = sampling
    .catch((error: unknown) => error)
    .finally(() => {
      over.abort();
    });
  while (!over.signal.aborted) {
    await clock.advance(1000);
    await new Promise(setImmediate);
  }
  return ending;
}

const refuse = (code: 'UNAVAILABLE' | 'DEADLINE_EXCEEDED' | 'PERMISSION_DENIED', times = 1) =>
  bigtable.faults.add({
    method: 'SampleRowKeys',
    times,
    effect: { kind: 'refuse', status: { code, message: 'for the test' } },
  });

test('samples are where tablets meet, with the bytes before them, and the end of the table', async () => {
  const samples = await sample(T, '', signal);
  expect(samples.map(({ key }) => key.toString())).toEqual(['g', 'p', '']);
  const offsets = samples.map(({ offsetBytes }) => offsetBytes);
  expect(offsets.toSorted((left, right) => Number(left - right))).toEqual(offsets);
});

test('a service that cannot be reached is asked again', async () => {
  refuse('UNAVAILABLE', 2);
  refuse('DEADLINE_EXCEEDED');
  expect(await settled(sample(T, '', signal))).toHaveLength(3);
});

test('ten minutes later it is given up, and the error says what was asked of which table', async () => {
  const startedAt = clock.now();
  refuse('UNAVAILABLE', Infinity);
  const error = await settled(sample(T, '', signal));
  expect(error).toMatchObject({ name: 'ReadFailedError', status: { code: 'UNAVAILABLE' } });
  expect((error as Error).message).toContain('SampleRowKeys of p.i.t ended with UNAVAILABLE: for the test');
  expect(clock.now() - startedAt).toBeGreaterThan(500_000);
  expect(clock.now() - startedAt).toBeLessThan(660_000);
});

test('a refusal that stays is not repeated', async () => {
  const handle = refuse('PERMISSION_DENIED', Infinity);
  await expect(sample(T, '', signal)).rejects.toMatchObject({ status: { code: 'PERMISSION_DENIED' } });
  expect(handle.hits).toBe(1);
});

test('an unknown profile and a missing table are refused by the service', async () => {
  await expect(sample(T, 'absent', signal)).rejects.toMatchObject({ status: { code: 'NOT_FOUND' } });
  await expect(sample(tableName('p', 'i', 'absent'), '', signal)).rejects.toMatchObject({
    status: { code: 'NOT_FOUND' },
  });
});

test('a signal ends the wait between two attempts, with its reason', async () => {
  refuse('UNAVAILABLE', Infinity);
  const controller = new AbortController();
  const sampling = sample(T, '', controller.signal);
  sampling.catch(() => undefined);
  while (clock.pending === 0) await new Promise(setImmediate);
  const reason = new Error('drained');
  controller.abort(reason);
  await expect(sampling).rejects.toBe(reason);
  expect(clock.pending).toBe(0);
});
