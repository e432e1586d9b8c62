import type { Metadata, sendUnaryData, ServerUnaryCall, UntypedServiceImplementation } from '@grpc/grpc-js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type LocalBigtable, startBigtableServer } from '../../../../infra/local/servers/bigtable/server.ts';
import { serveGrpc } from '../../../../infra/local/servers/rpc/grpc.ts';
import {
  BigtableDefinition,
  type CheckAndMutateRowRequest,
  type CheckAndMutateRowResponse,
} from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { systemClock } from '../../../../shared/base/clock.ts';
import { type ClientPoolOptions, ClientPool } from '../../../../shared/google/bigtable/clients.ts';
import { createRowCalls } from '../../../../shared/google/bigtable/row-calls.ts';
import type { RowCall } from '../../../../shared/model/row-call.ts';
import type { RowRequest } from '../../../../shared/model/row-request.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import { decodeRowAnswer, encodeRowRequest, METHODS } from '../../../../shared/single-row/wire.ts';
import { connect, createTable, type RawClient, readRows } from '../../../support/bigtable-raw-client.ts';
import { conditional, increment } from '../../../support/row-requests.ts';
import { serviceOf } from '../../../../infra/local/servers/rpc/definition.ts';
import { testRuntime } from '../../../support/runtime.ts';

const T = tableName('p', 'i', 't');
const LIMITS = { maxActiveInstances: 16, destinationIdleTimeoutMillis: 3_600_000 };

function callOf(request: RowRequest, given: Partial<RowCall> = {}): RowCall {
  const { table = T, appProfileId = '' } = given;
  return {
    method: METHODS[request.kind],
    table,
    appProfileId,
    request: encodeRowRequest(table, appProfileId, request),
    timeoutMillis: 5000,
    signals: [new AbortController().signal],
    ...given,
  };
}

async function withPool<Result>(
  access: Partial<ClientPoolOptions>,
  use: (pool: ClientPool) => Promise<Result>,
): Promise<Result> {
  const pool = new ClientPool({ ...LIMITS, ...access }, testRuntime({ clock: systemClock }));
  try {
    return await use(pool);
  } finally {
    pool.close();
  }
}

describe('over gRPC, against the embedded server', () => {
  let bigtable: LocalBigtable;
  let client: RawClient;
  let pool: ClientPool;

  beforeAll(async () => {
    bigtable = await startBigtableServer();
    client = connect(bigtable.address);
    pool = new ClientPool({ ...LIMITS, emulatorEndpoint: bigtable.address }, testRuntime({ clock: systemClock }));
  });
  beforeEach(() => {
    bigtable.faults.clear();
  });
  afterAll(async () => {
    pool.close();
    client.close();
    await bigtable.close();
  });

  const cells = async (table: string): Promise<number> =>
    (await readRows(client, `projects/p/instances/i/tables/${table}`)).flatMap((row) => row.cells).length;

  test('both RPCs are applied and answered', async () => {
    await createTable(client, 't', { f: {} });
    const send = createRowCalls(pool);
    const first = await send(callOf(conditional({})));
    if (first.kind !== 'answered') expect.unreachable();
    expect(decodeRowAnswer('conditional', first.answer)).toEqual({ kind: 'conditional', predicateMatched: false });
    const second = await send(callOf(increment(3n, 'other')));
    if (second.kind !== 'answered') expect.unreachable();
    expect(decodeRowAnswer('readModifyWrite', second.answer)).toMatchObject({ cells: [{ family: 'f' }] });
  });

  test('a refusal comes back with the status of the service', async () => {
    const reply = await createRowCalls(pool)(callOf(increment(), { table: tableName('p', 'i', 'missing') }));
    expect(reply).toMatchObject({ kind: 'failed', isUnsent: false, status: { code: 'NOT_FOUND' } });
  });

  test('a deadline ends the call, which may be applied', async () => {
    await createTable(client, 'slow', { f: {} });
    bigtable.faults.add({ method: 'ReadModifyWriteRow', effect: { kind: 'never-answer', isApplied: true } });
    const reply = await createRowCalls(pool)(
      callOf(increment(), { table: tableName('p', 'i', 'slow'), timeoutMillis: 200 }),
    );
    expect(reply).toMatchObject({ kind: 'failed', isUnsent: false, status: { code: 'DEADLINE_EXCEEDED' } });
    expect(await cells('slow')).toBe(1);
  });

  test('its signal cancels the call on the wire', async () => {
    await createTable(client, 'cancelled', { f: {} });
    const fault = bigtable.faults.add({
      method: 'ReadModifyWriteRow',
      effect: { kind: 'never-answer', isApplied: false },
    });
    const controller = new AbortController();
    const table = tableName('p', 'i', 'cancelled');
    const waiting = createRowCalls(pool)(callOf(increment(), { table, signals: [controller.signal] }));
    await expect.poll(() => fault.hits).toBe(1);
    controller.abort();
    expect(await waiting).toMatchObject({ kind: 'failed', isUnsent: false, status: { code: 'CANCELLED' } });
  });

  test('a signal that aborted before leaves the call unsent', async () => {
    const reply = await createRowCalls(pool)(callOf(increment(), { signals: [AbortSignal.abort()] }));
    expect(reply).toMatchObject({ kind: 'failed', isUnsent: true });
  });

  test('a wait for a client is bounded by the call’s own time, and the call is unsent then', async () => {
    await withPool({ emulatorEndpoint: bigtable.address, maxActiveInstances: 1 }, async (busy) => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      const held = busy.use({ project: 'p', instance: 'other' }, new AbortController().signal, () => promise);
      const reply = await createRowCalls(busy)(callOf(increment(), { timeoutMillis: 50 }));
      expect(reply).toMatchObject({ kind: 'failed', isUnsent: true, status: { code: 'UNAVAILABLE' } });
      resolve(undefined);
      await held;
    });
  });

  test('a table that no address can name leaves the call unsent, and its client free', async () => {
    await withPool({ emulatorEndpoint: bigtable.address, maxActiveInstances: 1 }, async (only) => {
      const send = createRowCalls(only);
      expect(await send(callOf(increment(), { table: tableName('p', 'other', '\ud800') }))).toMatchObject({
        kind: 'failed',
        isUnsent: true,
      });
      expect(await send(callOf(increment(), { timeoutMillis: 2000 }))).toMatchObject({ isUnsent: false });
    });
  });

  test('a pool that is closed leaves the call unsent', async () => {
    const closed = new ClientPool(
      { ...LIMITS, emulatorEndpoint: bigtable.address },
      testRuntime({ clock: systemClock }),
    );
    closed.close();
    expect(await createRowCalls(closed)(callOf(increment()))).toMatchObject({ kind: 'failed', isUnsent: true });
  });
});

test('every call is routed by its table and profile', async () => {
  const seen: Metadata[] = [];
  const service: UntypedServiceImplementation = {
    checkAndMutateRow: (
      call: ServerUnaryCall<CheckAndMutateRowRequest, CheckAndMutateRowResponse>,
      answer: sendUnaryData<CheckAndMutateRowResponse>,
    ) => {
      seen.push(call.metadata);
      answer(null, { predicateMatched: true });
    },
  };
  const checkAndMutateRow = serviceOf(BigtableDefinition).checkAndMutateRow;
  const server = await serveGrpc([{ definition: { checkAndMutateRow }, implementation: service }]);
  await withPool({ emulatorEndpoint: server.address }, async (pool) => {
    const send = createRowCalls(pool);
    for (const [id, appProfileId] of [
      ['t', 'one'],
      ['u', 'one'],
      ['t', 'one'],
      ['t', 'two'],
    ] as const) {
      await send(callOf(conditional({}), { table: tableName('p', 'i', id), appProfileId }));
    }
  });
  await server.close();
  expect(seen.map((metadata) => metadata.get('x-goog-request-params')[0])).toEqual([
    'table_name=projects%2Fp%2Finstances%2Fi%2Ftables%2Ft&app_profile_id=one',
    'table_name=projects%2Fp%2Finstances%2Fi%2Ftables%2Fu&app_profile_id=one',
    'table_name=projects%2Fp%2Finstances%2Fi%2Ftables%2Ft&app_profile_id=one',
    'table_name=projects%2Fp%2Finstances%2Fi%2Ftables%2Ft&app_profile_id=two',
  ]);
});
