import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { blank, unary } from '../../../../infra/local/cloud/unary.ts';
import { type LocalBigtable, startBigtableServer } from '../../../../infra/local/servers/bigtable/server.ts';
import { type GrpcEndpoint, serveGrpc } from '../../../../infra/local/servers/rpc/grpc.ts';
import { openChangeStreamAdmin } from '../../../../shared/google/bigtable/change-stream-admin.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import { Table } from '../../../../shared/proto/google/bigtable/admin/v2/table.ts';
import { connect, createTable, INSTANCE, type RawClient } from '../../../support/bigtable-raw-client.ts';

const { signal } = new AbortController();

describe('the admin APIs of an instance', () => {
  let bigtable: LocalBigtable;
  let client: RawClient;

  beforeAll(async () => {
    bigtable = await startBigtableServer({
      profiles: {
        many: { singleCluster: false, transactional: false },
        one: { singleCluster: true, transactional: false },
      },
    });
    client = connect(bigtable.address);
    await createTable(client, 'off', { f: {} });
    const changeStreamConfig = { retentionPeriod: { seconds: 86_400n, nanos: 500_000_000 } };
    await unary(client.admin.createTable.bind(client.admin), {
      parent: INSTANCE,
      tableId: 'on',
      table: { ...blank(Table), changeStreamConfig },
      initialSplits: [],
    });
  });

  afterEach(() => {
    bigtable.faults.clear();
  });

  afterAll(async () => {
    client.close();
    await bigtable.close();
  });

  const admin = () => openChangeStreamAdmin({ emulatorEndpoint: bigtable.address });
  const table = (id: string) => tableName('p', 'i', id);

  test.each([
    ['on', { kind: 'on', retentionMillis: 86_400_500 }],
    ['off', { kind: 'off' }],
    ['none', { kind: 'missing' }],
  ])('tell of the table %j whether it has a stream, and how long it keeps changes', async (id, reading) => {
    expect(await admin().readStream(table(id), signal)).toEqual(reading);
  });

  test.each([
    ['', { kind: 'single-cluster', cluster: 'local' }],
    ['one', { kind: 'single-cluster', cluster: 'local' }],
    ['many', { kind: 'multi-cluster' }],
    ['none', { kind: 'missing' }],
  ])('tell of the profile %j where it sends calls', async (profile, reading) => {
    expect(await admin().readRouting(table('on'), profile, signal)).toEqual(reading);
  });

  test('that may not be asked are told apart from any answer', async () => {
    for (const method of ['GetTable', 'GetAppProfile'] as const) {
      const refused = { code: 'PERMISSION_DENIED', message: 'not you' } as const;
      bigtable.faults.add({ method, effect: { kind: 'refuse', status: refused } });
    }
    expect(await admin().readStream(table('on'), signal)).toEqual({
      kind: 'denied',
      problem: 'GetTable on p.i.on answered PERMISSION_DENIED: not you',
    });
    expect(await admin().readRouting(table('on'), '', signal)).toEqual({
      kind: 'denied',
      problem: 'GetAppProfile on p.i.on answered PERMISSION_DENIED: not you',
    });
  });

  test('that cannot be reached are an error', async () => {
    bigtable.faults.add({
      method: 'GetTable',
      effect: { kind: 'refuse', status: { code: 'UNAVAILABLE', message: 'for the test' } },
    });
    await expect(admin().readStream(table('on'), signal)).rejects.toMatchObject({ name: 'TableAdminError' });
  });
});

describe('an emulator that serves no instance admin', () => {
  let endpoint: GrpcEndpoint;

  beforeAll(async () => {
    endpoint = await serveGrpc([]);
  });

  afterAll(() => endpoint.close());

  test('leaves the routing unknown', async () => {
    const admin = openChangeStreamAdmin({ emulatorEndpoint: endpoint.address });
    expect(await admin.readRouting(tableName('p', 'i', 't'), '', signal)).toEqual({ kind: 'unknown' });
  });
});
