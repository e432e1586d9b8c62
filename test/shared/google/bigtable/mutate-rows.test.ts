import type { Metadata, ServerWritableStream, UntypedServiceImplementation } from '@grpc/grpc-js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startBigtableServer } from '../../../../infra/local/servers/bigtable/server.ts';
import { serveGrpc, type GrpcEndpoint } from '../../../../infra/local/servers/rpc/grpc.ts';
import {
  BigtableDefinition,
  type MutateRowsRequest,
  MutateRowsResponse,
} from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { FeatureFlags } from '../../../../shared/proto/google/bigtable/v2/feature_flags.ts';
import { freePort } from '../../../../infra/local/base/tcp.ts';
import { systemClock } from '../../../../shared/base/clock.ts';
import type { MutateRows, MutateRowsReply } from '../../../../shared/bulk/ports.ts';
import { type ClientPoolOptions, ClientPool } from '../../../../shared/google/bigtable/clients.ts';
import { createMutateRows, type MutateRowsOptions } from '../../../../shared/google/bigtable/mutate-rows.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import { connect, createTable, readRows } from '../../../support/bigtable-raw-client.ts';
import { FakeMutateRows } from '../../../support/fake-mutate-rows.ts';
import { mutateRowsContract, rowEntry } from '../../../support/mutate-rows-contract.ts';
import { serviceOf } from '../../../../infra/local/servers/rpc/definition.ts';
import { testRuntime } from '../../../support/runtime.ts';

const T = tableName('p', 'i', 't');

interface Adapter {
  readonly mutateRows: MutateRows;
  close(): void;
}

function open(access: Partial<ClientPoolOptions>, options: Partial<MutateRowsOptions> = {}): Adapter {
  const limits = { maxActiveInstances: 16, destinationIdleTimeoutMillis: 3_600_000 };
  const pool = new ClientPool({ ...limits, ...access }, testRuntime({ clock: systemClock }));
  return {
    mutateRows: createMutateRows(pool, { appProfileId: '', flowControl: true, ...options }),
    close: () => {
      pool.close();
    },
  };
}

const sendOne = ({ mutateRows }: Adapter, timeoutMillis = 2000, table = T): Promise<MutateRowsReply> => {
  const entry = rowEntry('row');
  return mutateRows.send({ table, entries: [{ entry, bytes: mutateRows.sizeOf(entry) }], timeoutMillis });
};

mutateRowsContract('over gRPC, against the embedded server', async () => {
  const bigtable = await startBigtableServer();
  const client = connect(bigtable.address);
  const table = await createTable(client, 't', { f: {} });
  const adapter = open({ emulatorEndpoint: bigtable.address });
  return {
    mutateRows: adapter.mutateRows,
    next: (effect) => {
      bigtable.faults.add({ method: 'MutateRows', effect });
    },
    rowKeys: async () => (await readRows(client, table)).map(({ key }) => key),
    close: async () => {
      adapter.close();
      client.close();
      await bigtable.close();
    },
  };
});

mutateRowsContract('the fake', () => {
  const fake = new FakeMutateRows(systemClock, { 'p.i.t': ['f'] });
  return Promise.resolve({
    mutateRows: fake,
    next: (effect) => {
      fake.next(effect);
    },
    rowKeys: () => Promise.resolve([...(fake.applied.get('p.i.t')?.keys() ?? [])].toSorted()),
    close: () => Promise.resolve(),
  });
});

type Call = ServerWritableStream<MutateRowsRequest, MutateRowsResponse | Buffer>;

describe('on the wire', () => {
  let endpoint: GrpcEndpoint;
  let calls: { readonly peer: string; readonly metadata: Metadata; readonly request: MutateRowsRequest }[] = [];
  let answer: (call: Call) => void;

  beforeAll(async () => {
    const implementation: UntypedServiceImplementation = {
      mutateRows: (call: Call) => {
        calls.push({ peer: call.getPeer(), metadata: call.metadata, request: call.request });
        answer(call);
      },
    };
    // Buffers are sent as they are, so that an answer can be what no server should send.
    const { mutateRows } = serviceOf(BigtableDefinition);
    const definition = {
      mutateRows: {
        ...mutateRows,
        responseSerialize: (value: MutateRowsResponse | Buffer) =>
          Buffer.isBuffer(value) ? value : mutateRows.responseSerialize(value),
      },
    };
    endpoint = await serveGrpc([{ definition, implementation }]);
  });
  afterAll(() => endpoint.close());
  beforeEach(() => {
    calls = [];
    answer = (call) => {
      const status = { code: 0, message: '', details: [] };
      call.write({ ...MutateRowsResponse.decode(Buffer.alloc(0)), entries: [{ index: 0n, status }] });
      call.end();
    };
  });

  test('a request names its table and profile for routing, escaped, and in its body', async () => {
    const adapter = open({ emulatorEndpoint: endpoint.address }, { appProfileId: 'profile-1' });
    await sendOne(adapter, 2000, tableName('example.com:p', 'i', 't'));
    adapter.close();
    const path = 'projects/example.com:p/instances/i/tables/t';
    expect(calls[0]?.metadata.get('x-goog-request-params')).toEqual([
      `table_name=${encodeURIComponent(path)}&app_profile_id=profile-1`,
    ]);
    expect(calls[0]?.request).toMatchObject({ tableName: path, appProfileId: 'profile-1' });
  });

  test.each([true, false])('announces that it obeys RateLimitInfo where flowControl is %s', async (flowControl) => {
    const adapter = open({ emulatorEndpoint: endpoint.address }, { flowControl });
    await sendOne(adapter);
    adapter.close();
    const [features] = calls[0]?.metadata.get('bigtable-features') ?? [];
    const flags = typeof features === 'string' ? FeatureFlags.decode(Buffer.from(features, 'base64url')) : undefined;
    expect(flags && [flags.mutateRowsRateLimit, flags.mutateRowsRateLimit2]).toEqual(
      flowControl ? [true, true] : undefined,
    );
  });

  test('answers that come in several messages, in any order, are one reply', async () => {
    answer = (call) => {
      for (const index of [2n, 0n, 1n]) {
        const status = { code: index === 1n ? 7 : 0, message: '', details: [] };
        call.write({ ...MutateRowsResponse.decode(Buffer.alloc(0)), entries: [{ index, status }] });
      }
      call.end();
    };
    const adapter = open({ emulatorEndpoint: endpoint.address });
    const entries = ['a', 'b', 'c'].map((key) => ({
      entry: rowEntry(key),
      bytes: adapter.mutateRows.sizeOf(rowEntry(key)),
    }));
    const { answers } = await adapter.mutateRows.send({ table: T, entries, timeoutMillis: 2000 });
    adapter.close();
    expect(answers.map(({ kind }) => kind)).toEqual(['applied', 'refused', 'applied']);
  });

  test('what cannot be read is no answer, and does not end the process', async () => {
    answer = (call) => {
      call.write(Buffer.from([0x0a, 0x7f, 0x01]));
      call.end();
    };
    const adapter = open({ emulatorEndpoint: endpoint.address });
    const { answers } = await sendOne(adapter);
    adapter.close();
    expect(answers).toMatchObject([{ kind: 'unanswered', status: { code: 'INTERNAL' } }]);
  });

  test('after a deadline without a byte the next call takes a new connection, after an answer the same', async () => {
    const adapter = open({ emulatorEndpoint: endpoint.address });
    const answering = answer;
    await sendOne(adapter);
    answer = () => undefined;
    expect((await sendOne(adapter, 80)).isHeard).toBe(false);
    answer = answering;
    await sendOne(adapter);
    await sendOne(adapter);
    adapter.close();
    const [first, unheard, third, fourth] = calls.map(({ peer }) => peer);
    expect(unheard).toBe(first);
    expect(third).not.toBe(first);
    expect(fourth).toBe(third);
  });
});

test('a refused connection leaves every entry unanswered, within the timeout', async () => {
  const adapter = open({ emulatorEndpoint: `127.0.0.1:${await freePort()}` });
  const { answers } = await sendOne(adapter, 500);
  adapter.close();
  expect(answers).toMatchObject([{ kind: 'unanswered', status: { code: 'UNAVAILABLE' } }]);
});

test('without credentials no request is made: it rejects, and names neither the file nor its content', async () => {
  const adapter = open({ serviceAccountKeyFile: '/nowhere/secret-key.json' });
  const error: unknown = await sendOne(adapter).catch((thrown: unknown) => thrown);
  adapter.close();
  expect(error).toMatchObject({ name: 'CredentialsError' });
  expect(String(error)).toContain('serviceAccountKeyFile');
  expect(String(error)).not.toContain('secret-key');
});
