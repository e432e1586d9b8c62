import { type protos, v2 } from '@google-cloud/bigtable';
import { credentials } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startBigtableServer, type LocalBigtable } from '../../../../../../infra/local/servers/bigtable/server.ts';
import { blank, unary } from '../../../../../../infra/local/cloud/unary.ts';
import { DropRowRangeRequest } from '../../../../../../shared/proto/google/bigtable/admin/v2/bigtable_table_admin.ts';
import { Table, Table_View, type ColumnFamily } from '../../../../../../shared/proto/google/bigtable/admin/v2/table.ts';
import {
  aggregate,
  aggregateFamily,
  append,
  connect,
  deleteRow,
  entry,
  increment,
  INSTANCE,
  mutateRow as mutateRaw,
  mutateRows,
  outcome,
  type RawClient,
  readModifyWrite,
  setCell,
} from '../../../../../support/bigtable-raw-client.ts';
import type { Mutation } from '../../../../../../shared/proto/google/bigtable/v2/data.ts';
import { ManualClock } from '../../../../../support/manual-clock.ts';

type Response = protos.google.bigtable.v2.IReadChangeStreamResponse;
type DataChange = protos.google.bigtable.v2.ReadChangeStreamResponse.IDataChange;
type Request = protos.google.bigtable.v2.IReadChangeStreamRequest;

const DAY = 86_400n;
const NOW_SECONDS = 1_800_000_000;

let clock: ManualClock;
let bigtable: LocalBigtable;
let raw: RawClient;
let client: v2.BigtableClient;
let impatient: v2.BigtableClient;
let table: string;

beforeEach(async () => {
  clock = new ManualClock(NOW_SECONDS * 1000);
  bigtable = await startBigtableServer({
    clock,
    clusters: ['c1', 'c2'],
    replicationDelayMillis: 5000,
    streams: { chunks: { pieceBytes: 10, messageBytes: 100 } },
    profiles: {
      one: { singleCluster: true, transactional: true, cluster: 'c1' },
      two: { singleCluster: true, transactional: true, cluster: 'c2' },
      any: { singleCluster: false, transactional: false },
    },
  });
  raw = connect(bigtable.address);
  const [servicePath, port] = bigtable.address.split(':');
  const options = {
    servicePath: servicePath!,
    port: Number(port),
    sslCreds: credentials.createInsecure(),
    projectId: 'p',
  };
  client = new v2.BigtableClient(options);
  // The client repeats a refused stream three times, whatever the status, and takes seven seconds for it; this one does not.
  impatient = new v2.BigtableClient({ ...options, gaxServerStreamingRetries: true });
  table = await makeTable('t', DAY);
});

afterEach(async () => {
  await client.close();
  await impatient.close();
  raw.close();
  await bigtable.close();
});

async function makeTable(id: string, seconds: bigint | undefined): Promise<string> {
  const family = (more: Partial<ColumnFamily> = {}): ColumnFamily => ({
    gcRule: undefined,
    valueType: undefined,
    ...more,
  });
  const columnFamilies = {
    f: family(),
    g: family({ gcRule: { rule: { $case: 'maxNumVersions', value: 1 } } }),
    sums: family(aggregateFamily('sum')),
  };
  const changeStreamConfig = seconds === undefined ? undefined : { retentionPeriod: { seconds, nanos: 0 } };
  const { name } = await unary(raw.admin.createTable.bind(raw.admin), {
    parent: INSTANCE,
    tableId: id,
    table: { ...blank(Table), columnFamilies, changeStreamConfig },
    initialSplits: [{ key: Buffer.from('m') }],
  });
  return name;
}

const partition = (start: string, end: string): protos.google.bigtable.v2.IStreamPartition => ({
  rowRange: { startKeyClosed: Buffer.from(start), endKeyOpen: Buffer.from(end) },
});

const mutateRow = (key: string, mutations: Mutation[], appProfileId = 'one'): Promise<unknown> =>
  mutateRaw(raw, { tableName: table, appProfileId, rowKey: Buffer.from(key), mutations });

/** All responses of a read until it ends; rejects with its status. */
async function readAll(request: Request, by = client): Promise<Response[]> {
  const responses: Response[] = [];
  for await (const response of by.readChangeStream({ tableName: table, appProfileId: 'one', ...request })) {
    responses.push(response as Response);
  }
  return responses;
}

const at = (seconds: number): protos.google.protobuf.ITimestamp => ({ seconds });

const refused = (request: Request): Promise<string> => outcome(readAll(request, impatient));

/** The changes of a partition so far. */
async function changes(start = '', end = 'm', appProfileId = 'one'): Promise<DataChange[]> {
  await clock.advance(6000);
  const now = Math.floor(clock.now() / 1000);
  const reading = readAll({
    appProfileId,
    partition: partition(start, end),
    startTime: at(NOW_SECONDS),
    endTime: at(now - 6),
  });
  return (await reading).flatMap(({ dataChange }) => (dataChange ? [dataChange] : []));
}

const text = (bytes: unknown): string => Buffer.from(bytes as Uint8Array).toString();

const kinds = ({ chunks }: DataChange): string[] =>
  (chunks ?? []).map(({ mutation }) => Object.keys(mutation ?? {}).find((key) => key !== 'mutation') ?? '');

describe('partitions', () => {
  const list = async (): Promise<string[]> => {
    const found: string[] = [];
    for await (const each of client.generateInitialChangeStreamPartitions({ tableName: table, appProfileId: 'one' })) {
      const { rowRange } = (each as protos.google.bigtable.v2.IGenerateInitialChangeStreamPartitionsResponse)
        .partition!;
      found.push(`${text(rowRange?.startKeyClosed)}..${text(rowRange?.endKeyOpen)}`);
    }
    return found;
  };

  test('are those of the tablets at first, and others after a split', async () => {
    expect(await list()).toEqual(['..m', 'm..']);
    bigtable.changeStream(table).split(['f'], bigtable.streamNow());
    expect(await list()).toEqual(['..f', 'f..m', 'm..']);
  });
});

describe('changes', () => {
  test('of one row and RPC are one record, with the times that cells got', async () => {
    await mutateRows(raw, table, [
      entry('a', setCell('f', 'q', 'v', -1n), setCell('f', 'r', 'w', 1000n)),
      entry('b', setCell('f', 'q', 'v', 1000n)),
    ]);
    const [first, second, ...rest] = await changes();
    expect([first, second].map((change) => text(change?.rowKey))).toEqual(['a', 'b']);
    expect(rest).toEqual([]);
    expect(first).toMatchObject({ type: 'USER', sourceClusterId: 'c1', done: true, tiebreaker: 0 });
    expect(first?.chunks?.map(({ mutation }) => mutation?.setCell?.timestampMicros)).toEqual([
      String(NOW_SECONDS * 1e6),
      '1000',
    ]);
    // Both were committed in the same instant.
    expect(second).toMatchObject({ tiebreaker: 1, commitTimestamp: first?.commitTimestamp });
  });

  test('of a read-modify-write are the cells it came to, and additions are themselves', async () => {
    await readModifyWrite(raw, {
      tableName: table,
      appProfileId: 'one',
      rowKey: Buffer.from('a'),
      rules: [increment('f', 'n', 5n), append('f', 's', 'x')],
    });
    await mutateRow('a', [aggregate('addToCell', 'sums', { $case: 'intValue', value: 3n })]);
    expect((await changes()).map(kinds)).toEqual([['setCell', 'setCell'], ['addToCell']]);
  });

  test('of a deleted row are a deletion of each family that had cells; a row without any is no change', async () => {
    await mutateRow('a', [setCell('g', 'q', 'v', 1000n), setCell('f', 'q', 'v', 1000n)]);
    await mutateRow('a', [deleteRow]);
    await mutateRow('b', [deleteRow]);
    const found = await changes();
    expect(found).toHaveLength(2);
    expect(found[1]?.chunks?.map(({ mutation }) => mutation?.deleteFromFamily?.familyName)).toEqual(['f', 'g']);
  });

  test('of DropRowRange are those of its rows, in every cluster once', async () => {
    await mutateRow('a1', [setCell('f', 'q', 'v', 1000n)]);
    await mutateRow('b1', [setCell('f', 'q', 'v', 1000n)]);
    await unary(raw.admin.dropRowRange.bind(raw.admin), {
      ...blank(DropRowRangeRequest),
      name: table,
      target: { $case: 'rowKeyPrefix', value: Buffer.from('a') },
    });
    for (const profile of ['one', 'two']) {
      expect((await changes('', 'm', profile)).map((change) => `${text(change.rowKey)} ${kinds(change)[0]}`)).toEqual([
        'a1 setCell',
        'b1 setCell',
        'a1 deleteFromFamily',
      ]);
    }
  });

  test('of garbage collection have its type and no cluster', async () => {
    for (const time of [1000n, 2000n, 3000n]) await mutateRow('a', [setCell('g', 'q', 'v', time)]);
    bigtable.collectGarbage(table);
    const last = (await changes()).at(-1);
    expect(last).toMatchObject({ type: 'GARBAGE_COLLECTION', sourceClusterId: '' });
    expect(last?.chunks?.[0]?.mutation?.deleteFromColumn?.timeRange).toEqual({
      startTimestampMicros: '1000',
      endTimestampMicros: '3000',
    });
  });

  test('of garbage collection come by the clock, too', async () => {
    for (const time of [1000n, 2000n]) await mutateRow('a', [setCell('g', 'q', 'v', time)]);
    await clock.advance(60_000);
    expect((await changes()).map(({ type }) => type)).toEqual(['USER', 'USER', 'GARBAGE_COLLECTION']);
  });

  test('are kept from the moment on that UpdateTable enables the stream, and GetTable shows for how long', async () => {
    table = await makeTable('later', undefined);
    await mutateRow('a', [setCell('f', 'q', 'before', 1000n)]);
    const changeStreamConfig = { retentionPeriod: { seconds: 2n * DAY, nanos: 0 } };
    await unary(raw.admin.updateTable.bind(raw.admin), {
      table: { ...blank(Table), name: table, changeStreamConfig },
      updateMask: ['change_stream_config.retention_period'],
      ignoreWarnings: false,
    });
    const shown = await unary(raw.admin.getTable.bind(raw.admin), { name: table, view: Table_View.SCHEMA_VIEW });
    expect(shown.changeStreamConfig).toMatchObject(changeStreamConfig);
    await mutateRow('b', [setCell('f', 'q', 'after', 1000n)]);
    expect((await changes()).map(({ rowKey }) => text(rowKey))).toEqual(['b']);
  });

  test('of another cluster arrive later, with the commit time and the cluster of their making', async () => {
    await mutateRow('a', [setCell('f', 'q', 'there', 1000n)], 'two');
    await clock.advance(2000);
    await mutateRow('b', [setCell('f', 'q', 'here', 1000n)]);
    const found = await changes();
    expect(found.map((change) => `${text(change.rowKey)} of ${change.sourceClusterId}`)).toEqual([
      'b of c1',
      'a of c2',
    ]);
    expect(found.map(({ commitTimestamp }) => Number(commitTimestamp?.seconds))).toEqual([
      NOW_SECONDS + 2,
      NOW_SECONDS,
    ]);
  });

  test('of long values come in pieces, each of which ends its message but the last', async () => {
    await mutateRow('a', [setCell('f', 'q', '0123456789abcdefghijKLM', 1000n), setCell('f', 'r', 'x', 1000n)]);
    const found = await changes();
    expect(found.map(({ type }) => type)).toEqual(['USER', 'CONTINUATION', 'CONTINUATION']);
    expect(found.map(({ done }) => done)).toEqual([false, false, true]);
    expect(found.flatMap(({ chunks }) => chunks?.map(({ chunkInfo }) => chunkInfo?.chunkedValueOffset))).toEqual([
      0,
      10,
      20,
      undefined,
    ]);
    const pieces = found.flatMap(({ chunks }) => chunks?.map(({ mutation }) => text(mutation?.setCell?.value)));
    expect(pieces.join('')).toBe('0123456789abcdefghijKLMx');
  });
});

describe('a read', () => {
  test('is told of a split, and reads on from the tokens of the children', async () => {
    await mutateRow('a', [setCell('f', 'q', 'v', 1000n)]);
    bigtable.changeStream(table).split(['f'], bigtable.streamNow());
    await mutateRow('g', [setCell('f', 'q', 'v', 1000n)]);
    const responses = await readAll({ partition: partition('', 'm'), startTime: at(NOW_SECONDS) });
    expect(responses.map(({ dataChange }) => dataChange && text(dataChange.rowKey))).toEqual(['a', undefined]);
    const close = responses.at(-1)?.closeStream;
    expect(close?.status?.code).not.toBe(0);
    expect(close?.newPartitions).toHaveLength(2);
    await clock.advance(6000);
    const child = await readAll({
      partition: close?.newPartitions?.[1] ?? {},
      continuationTokens: { tokens: [close?.continuationTokens?.[1] ?? {}] },
      endTime: at(NOW_SECONDS),
    });
    expect(
      child.map(({ dataChange, closeStream }) => dataChange?.rowKey?.toString() ?? closeStream?.status?.code ?? 0),
    ).toEqual(['g', 0]);
  });

  test('without changes gets a heartbeat as often as it asks for, and changes as they come', async () => {
    const stream = client.readChangeStream({
      tableName: table,
      appProfileId: 'one',
      partition: partition('', 'm'),
      startTime: at(NOW_SECONDS),
      heartbeatDuration: { seconds: 2 },
    });
    stream.on('error', () => undefined);
    const next = async (): Promise<Response> =>
      new Promise((resolve) => {
        stream.once('data', resolve);
      });
    const first = next();
    await untilPending();
    await clock.advance(2000);
    expect((await first).heartbeat?.continuationToken?.token).toBeTruthy();
    const second = next();
    await mutateRow('a', [setCell('f', 'q', 'v', 1000n)]);
    expect(text((await second).dataChange?.rowKey)).toBe('a');
    stream.cancel();
  });

  /** The read waits for its heartbeat: beside it, only the collector waits. */
  async function untilPending(): Promise<void> {
    while (clock.pending < 2) await new Promise((resolve) => setImmediate(resolve));
  }
});

describe('refused', () => {
  const plain = { partition: partition('', 'm'), startTime: at(NOW_SECONDS) };

  test.each([
    { name: 'a partition without its keys', request: { partition: { rowRange: {} } }, status: 'INVALID_ARGUMENT' },
    { name: 'a start in the future', request: { startTime: at(NOW_SECONDS + 1) }, status: 'INVALID_ARGUMENT' },
    { name: 'a start before the stream', request: { startTime: at(NOW_SECONDS - 1) }, status: 'OUT_OF_RANGE' },
    { name: 'a profile that routes to any cluster', request: { appProfileId: 'any' }, status: 'FAILED_PRECONDITION' },
    {
      name: 'a token that nobody issued',
      request: { startTime: null, continuationTokens: { tokens: [{ partition: partition('', 'm'), token: 'x' }] } },
      status: 'INVALID_ARGUMENT',
    },
  ])('is $name', async ({ request, status }) => {
    expect(await refused({ ...plain, ...request })).toMatch(new RegExp(`^${status}`));
  });

  test('is a table without a stream, and one whose stream was disabled', async () => {
    table = await makeTable('plain', undefined);
    expect(await refused(plain)).toMatch(/^FAILED_PRECONDITION/);
    table = await makeTable('off', DAY);
    expect(bigtable.changeStream(table).partitions()).toHaveLength(2);
    await unary(raw.admin.updateTable.bind(raw.admin), {
      table: { ...blank(Table), name: table },
      updateMask: ['change_stream_config'],
      ignoreWarnings: false,
    });
    expect(await refused(plain)).toMatch(/^FAILED_PRECONDITION/);
  });

  test('is a token of another partition, and several that do not tile the one that is asked for', async () => {
    bigtable.changeStream(table).split(['f'], bigtable.streamNow());
    const [{ closeStream } = {}] = (await readAll(plain)).slice(-1);
    const tokens = closeStream?.continuationTokens ?? [];
    expect(await refused({ partition: partition('', 'm'), continuationTokens: { tokens: [tokens[0]!] } })).toMatch(
      /^INVALID_ARGUMENT/,
    );
    expect(await refused({ partition: partition('', ''), continuationTokens: { tokens } })).toMatch(
      /^INVALID_ARGUMENT/,
    );
  });

  test('is a retention outside 1 to 7 days', async () => {
    expect(await outcome(makeTable('short', 60n))).toMatch(/^INVALID_ARGUMENT/);
    expect(await outcome(makeTable('long', 8n * DAY))).toMatch(/^INVALID_ARGUMENT/);
  });
});
