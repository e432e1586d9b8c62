import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LocalBigtable, startBigtableServer } from '../../../../infra/local/servers/bigtable/server.ts';
import { type GrpcEndpoint, serveGrpc } from '../../../../infra/local/servers/rpc/grpc.ts';
import { TargetRefusedError } from '../../../../shared/markers/ports.ts';
import { openTargetAdmin } from '../../../../shared/google/bigtable/target-admin.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import { connect, createTable, type RawClient } from '../../../support/bigtable-raw-client.ts';

const TABLE = tableName('p', 'i', 't');
const signal = new AbortController().signal;

describe('the admin APIs of an instance', () => {
  let bigtable: LocalBigtable;
  let client: RawClient;

  beforeAll(async () => {
    bigtable = await startBigtableServer({
      profiles: {
        many: { singleCluster: false, transactional: false },
        plain: { singleCluster: true, transactional: false },
        one: { singleCluster: true, transactional: true },
      },
    });
    client = connect(bigtable.address);
    const maxAge = { rule: { $case: 'maxAge' as const, value: { seconds: 691_200n, nanos: 0 } } };
    const sum = {
      inputType: { kind: { $case: 'int64Type' as const, value: { encoding: undefined } } },
      stateType: undefined,
      aggregator: { $case: 'sum' as const, value: {} },
    };
    await createTable(client, 't', {
      f: {},
      markers: { gcRule: maxAge },
      sums: { valueType: { kind: { $case: 'aggregateType', value: sum } } },
    });
  });

  afterAll(async () => {
    client.close();
    await bigtable.close();
  });

  test.each([
    ['', { kind: 'found', isSingleCluster: true, isTransactional: true, cluster: 'local' }],
    ['one', { kind: 'found', isSingleCluster: true, isTransactional: true, cluster: 'local' }],
    ['plain', { kind: 'found', isSingleCluster: true, isTransactional: false, cluster: 'local' }],
    ['many', { kind: 'found', isSingleCluster: false, isTransactional: false }],
    ['none', { kind: 'missing' }],
  ])('tell what the profile %j allows', async (profile, reading) => {
    const admin = openTargetAdmin({ emulatorEndpoint: bigtable.address });
    expect(await admin.readProfile(TABLE, profile, signal)).toEqual(reading);
  });

  test('tell what families a table has, their types, and how long their cells are kept', async () => {
    const admin = openTargetAdmin({ emulatorEndpoint: bigtable.address });
    expect(await admin.readFamilies(TABLE, signal)).toEqual(
      new Map([
        ['f', { type: 'raw', keptMillis: Infinity }],
        ['markers', { type: 'raw', keptMillis: 691_200_000 }],
        ['sums', { type: 'int64-sum', keptMillis: Infinity }],
      ]),
    );
    expect(await admin.readFamilies({ ...TABLE, table: 'none' }, signal)).toBeUndefined();
  });

  test('are asked no longer than the signal lasts', async () => {
    const admin = openTargetAdmin({ emulatorEndpoint: bigtable.address });
    await expect(admin.readProfile(TABLE, '', AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
  });
});

describe('an emulator that serves no instance admin', () => {
  let endpoint: GrpcEndpoint;

  beforeAll(async () => {
    endpoint = await serveGrpc([]);
  });

  afterAll(() => endpoint.close());

  test('leaves the profile unchecked', async () => {
    const admin = openTargetAdmin({ emulatorEndpoint: endpoint.address });
    expect(await admin.readProfile(TABLE, '', signal)).toEqual({ kind: 'unchecked' });
  });

  test('does not excuse a table that cannot be read', async () => {
    const admin = openTargetAdmin({ emulatorEndpoint: endpoint.address });
    await expect(admin.readFamilies(TABLE, signal)).rejects.toThrow(/GetTable on p\.i\.t answered UNIMPLEMENTED/);
    // Nothing that passes by itself.
    await expect(admin.readFamilies(TABLE, signal)).rejects.toThrow(TargetRefusedError);
  });
});
