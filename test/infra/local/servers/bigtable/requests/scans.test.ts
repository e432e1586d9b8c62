import { Metadata, type ServiceError } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { blank } from '../../../../../../infra/local/cloud/unary.ts';
import {
  startBigtableServer,
  type LocalBigtable,
  type LocalBigtableOptions,
} from '../../../../../../infra/local/servers/bigtable/server.ts';
import {
  type ReadRowsRequest,
  type ReadRowsResponse,
  SampleRowKeysRequest,
} from '../../../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { FeatureFlags } from '../../../../../../shared/proto/google/bigtable/v2/feature_flags.ts';
import { ErrorInfo } from '../../../../../../shared/proto/google/rpc/error_details.ts';
import { Status } from '../../../../../../shared/proto/google/rpc/status.ts';
import {
  code,
  connect,
  createTable,
  entry,
  firstMessage,
  messages,
  mutateRows,
  outcome,
  type RawClient,
  readRequest,
  readRows,
  setCell,
  withFilter,
} from '../../../../../support/bigtable-raw-client.ts';
import { seededRandom } from '../../../../../support/seeded-random.ts';

let bigtable: LocalBigtable;
let client: RawClient;
let table: string;

const KEYS = Array.from({ length: 20 }, (_, index) => `k${String(index).padStart(2, '0')}`);
const NOTHING = withFilter({ $case: 'valueRegexFilter', value: Buffer.from('no such value') });

async function start(options: LocalBigtableOptions = {}): Promise<void> {
  bigtable = await startBigtableServer({ random: seededRandom(1), ...options });
  client = connect(bigtable.address);
  table = await createTable(client, 't', { f: {} }, ['k05', 'k10']);
  await mutateRows(
    client,
    table,
    KEYS.map((key) => entry(key, setCell('f', 'q', `value of ${key}`))),
  );
}

beforeEach(() => start());

afterEach(async () => {
  client.close();
  await bigtable.close();
});

const restart = async (options: LocalBigtableOptions): Promise<void> => {
  client.close();
  await bigtable.close();
  await start(options);
};

function informed(): Metadata {
  const metadata = new Metadata();
  const flags = FeatureFlags.encode({ ...blank(FeatureFlags), lastScannedRowResponses: true }).finish();
  metadata.set('bigtable-features', Buffer.from(flags).toString('base64url'));
  return metadata;
}

const scan = (more: Partial<ReadRowsRequest>, metadata = new Metadata()): Promise<ReadRowsResponse[]> =>
  messages(client.data.readRows(readRequest(table, more), metadata));

const UNAVAILABLE = { code: 'UNAVAILABLE', message: 'cut' } as const;

/** The chunks that came before the scan broke. */
async function chunksUntilBroken(more: Partial<ReadRowsRequest> = {}): Promise<string[]> {
  const seen: string[] = [];
  try {
    for await (const message of client.data.readRows(readRequest(table, more))) {
      for (const { rowKey, value, rowStatus } of (message as ReadRowsResponse).chunks) {
        seen.push([rowKey, value, rowStatus?.$case ?? ''].map(String).join(' ').trim());
      }
    }
  } catch {
    // The break is what the test arranged.
  }
  return seen;
}

describe('progress', () => {
  test('is told to callers that understand it, while the filter lets nothing through', async () => {
    await restart({ scans: { rowsPerProgress: 8 } });
    const told = await scan(NOTHING, informed());
    expect(told.map(({ chunks, lastScannedRowKey }) => [chunks.length, lastScannedRowKey.toString()])).toEqual([
      [0, 'k07'],
      [0, 'k15'],
    ]);
  });

  test('is told to no others', async () => {
    await restart({ scans: { rowsPerProgress: 8 } });
    expect(await scan(NOTHING)).toEqual([]);
  });

  test('counts from the last row that passed, and follows the rows before it', async () => {
    await restart({ scans: { rowsPerProgress: 8 } });
    const only = withFilter({ $case: 'rowKeyRegexFilter', value: Buffer.from('k0[02]') });
    const told = await scan(only, informed());
    expect(told.map(({ chunks, lastScannedRowKey }) => [chunks.length, lastScannedRowKey.toString()])).toEqual([
      [2, ''],
      [0, 'k10'],
      [0, 'k18'],
    ]);
  });
});

describe('chunks', () => {
  test('messages and pieces of values are as small as the server is told', async () => {
    await restart({ scans: { messageBytes: 1, pieceBytes: 5 } });
    const told = await scan({ rowsLimit: 1n });
    expect(told.map(({ chunks }) => chunks.map(({ value, valueSize }) => [value.toString(), valueSize]))).toEqual([
      [['value', 12]],
      [[' of k', 12]],
      [['00', 0]],
    ]);
    expect(await readRows(client, table, { rowsLimit: 1n })).toEqual([
      { key: 'k00', cells: ['f:q@1000=value of k00'] },
    ]);
  });

  test('a scan may break inside a row', async () => {
    await restart({ scans: { pieceBytes: 5 } });
    bigtable.faults.add({ method: 'ReadRows', effect: { kind: 'cut-scan', rows: 1, chunks: 2, status: UNAVAILABLE } });
    expect(await chunksUntilBroken()).toEqual(['k00 value', 'of k', '00 commitRow', 'k01 value', 'of k']);
  });

  test('a row may be taken back and begin anew', async () => {
    bigtable.faults.add({ method: 'ReadRows', effect: { kind: 'reset-rows', every: 2 } });
    expect(await chunksUntilBroken({ rowsLimit: 3n })).toEqual([
      'k00 value of k00 commitRow',
      'k01 value of k01',
      'resetRow',
      'k01 value of k01 commitRow',
      'k02 value of k02 commitRow',
    ]);
  });
});

describe('the pace of a stream', () => {
  test('may be set, and other scans are as fast as ever', async () => {
    bigtable.faults.add({ method: 'ReadRows', effect: { kind: 'slow-scan', rowsPerSecond: 100 } });
    const startedAt = performance.now();
    const slow = chunksUntilBroken();
    expect(await readRows(client, table)).toHaveLength(20);
    const fastMillis = performance.now() - startedAt;
    expect(await slow).toHaveLength(20);
    expect(performance.now() - startedAt).toBeGreaterThan(150);
    expect(fastMillis).toBeLessThan(150);
  });
});

describe('filling a table past the network', () => {
  test('writes rows as MutateRows would', async () => {
    bigtable.fill(table, [entry('a', setCell('f', 'q', '1')), entry('z', setCell('f', 'q', '2'))]);
    const rows = await readRows(client, table);
    expect(rows).toHaveLength(22);
    expect([rows[0], rows.at(-1)]).toEqual([
      { key: 'a', cells: ['f:q@1000=1'] },
      { key: 'z', cells: ['f:q@1000=2'] },
    ]);
  });
});

describe('refusals', () => {
  test('a row above the limit is refused behind the rows before it, its key in the details', async () => {
    await restart({ limits: { readRowBytes: 1000 } });
    await mutateRows(client, table, [entry('k03', setCell('f', 'big', Buffer.alloc(2000)))]);
    const rows: ReadRowsResponse[] = [];
    const error = await (async () => {
      for await (const message of client.data.readRows(readRequest(table))) rows.push(message as ReadRowsResponse);
    })().catch((thrown: unknown) => thrown as ServiceError);
    expect(rows.flatMap(({ chunks }) => chunks.map(({ rowKey }) => rowKey.toString()))).toEqual(['k00', 'k01', 'k02']);
    expect(error?.details).toMatch(/^Error while reading table '.*' : Read returned .* which exceeds the limit of/);
    const [encoded] = error?.metadata.get('grpc-status-details-bin') ?? [];
    const { code: number, details } = Status.decode(encoded as Buffer);
    expect(number).toBe(9);
    expect(details.map(({ value }) => ErrorInfo.decode(value))).toEqual([
      {
        reason: 'LargeRowReadError',
        domain: 'bigtable.googleapis.com',
        metadata: { rowKeyBase64Encoded: Buffer.from('k03').toString('base64') },
      },
    ]);
  });

  test('what the filter leaves of such a row may be read', async () => {
    await restart({ limits: { readRowBytes: 1000 } });
    await mutateRows(client, table, [entry('k03', setCell('f', 'big', Buffer.alloc(2000)))]);
    const latest = withFilter({ $case: 'columnQualifierRegexFilter', value: Buffer.from('q') });
    expect(await readRows(client, table, latest)).toHaveLength(20);
  });

  test('a request above 512 KiB is INVALID_ARGUMENT, one just below is served', async () => {
    const keys = (count: number): Partial<ReadRowsRequest> => ({
      rows: {
        rowKeys: Array.from({ length: count }, (_, index) => Buffer.from(String(index).padStart(8, '0'))),
        rowRanges: [],
      },
    });
    expect(await code(scan(keys(52_400)))).toBe('OK');
    expect(await outcome(scan(keys(52_430)))).toBe('INVALID_ARGUMENT: Request contains an invalid argument.');
  });
});

describe('tablets', () => {
  const boundaries = async (): Promise<string[]> => {
    const samples = await messages(client.data.sampleRowKeys({ ...blank(SampleRowKeysRequest), tableName: table }));
    return samples.map(({ rowKey }) => rowKey.toString());
  };

  test('may be moved, and are sampled where they meet then', async () => {
    expect(await boundaries()).toEqual(['k05', 'k10', '']);
    bigtable.moveTablets(table, [Buffer.from('k12'), Buffer.from('k03')]);
    expect(await boundaries()).toEqual(['k03', 'k12', '']);
  });

  test('a scan that is open when they are moved breaks, and the next one goes on', async () => {
    await restart({ scans: { messageBytes: 1 } });
    const large = Buffer.alloc(300_000);
    await mutateRows(
      client,
      table,
      KEYS.map((key) => entry(key, setCell('f', 'large', large))),
    );
    const stream = client.data.readRows(readRequest(table));
    await firstMessage(stream);
    bigtable.moveTablets(table, []);
    expect(await outcome(messages(stream))).toMatch(/^UNAVAILABLE: The tablet/);
    expect(await readRows(client, table)).toHaveLength(20);
  });

  test('of a table that is not there cannot be moved', () => {
    expect(() => {
      bigtable.moveTablets('projects/p/instances/i/tables/absent', []);
    }).toThrow('Table not found');
  });

  test('samples may drift: no two answers are alike, and all are keys of the table in order', async () => {
    await restart({ driftingSamples: true });
    const many = Array.from({ length: 2000 }, (_, index) =>
      entry(`m${String(index).padStart(4, '0')}`, setCell('f', 'q', 'v')),
    );
    await mutateRows(client, table, many);
    const answers = [await boundaries(), await boundaries(), await boundaries()];
    expect(new Set(answers.map((keys) => keys.join())).size).toBe(3);
    for (const keys of answers) {
      expect(keys.at(-1)).toBe('');
      expect(keys.slice(0, -1).toSorted()).toEqual(keys.slice(0, -1));
    }
  });
});
