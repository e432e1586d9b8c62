import { Bigtable } from '@google-cloud/bigtable';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBigtableServer } from '../../infra/local/servers/bigtable/server.ts';
import { systemClock } from '../../shared/base/clock.ts';
import { Semaphore } from '../../shared/base/semaphore.ts';
import { ClientPool } from '../../shared/google/bigtable/clients.ts';
import { createReadRows } from '../../shared/google/bigtable/read-rows.ts';
import { createSampleRowKeys } from '../../shared/google/bigtable/sample-row-keys.ts';
import { prefixRange, type RowRange, WHOLE_TABLE } from '../../shared/model/row-range.ts';
import { tableName } from '../../shared/model/table-name.ts';
import { RowFilter } from '../../shared/proto/google/bigtable/v2/data.ts';
import { splitRanges } from '../../shared/scan/plan/split-ranges.ts';
import { readRange } from '../../shared/scan/reading/read-range.ts';
import {
  connect,
  createTable,
  entry,
  mutateRows,
  type RawClient,
  readRows,
  setCell,
} from '../support/bigtable-raw-client.ts';
import { testRuntime } from '../support/runtime.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { isMissing, startGoogleEmulator, whyMissing } from './google-bigtable-emulator.ts';

/** Our reader against others: the same rows, cell by cell, from the embedded server and from Google's emulator. */
const T = tableName('p', 'i', 'scanned');
const ROWS = 500;

/** Rows that need every feature of the protocol: values in pieces, empty ones, versions, several families, long keys. */
function entries(): ReturnType<typeof entry>[] {
  const random = seededRandom(7);
  const below = (limit: number): number => Math.floor(random() * limit);
  return Array.from({ length: ROWS }, (_, index) => {
    const key = Buffer.concat([
      Buffer.from(`p${index % 7}#`),
      Buffer.alloc(1 + below(20), below(256)),
      Buffer.from(`${index}`),
    ]);
    const cells = Array.from({ length: 1 + below(6) }, () =>
      setCell(
        ['f', 'g'][below(2)] as string,
        Buffer.alloc(below(4), below(256)),
        Buffer.alloc([0, 8, 100, index % 100 === 0 ? 2_500_000 : 1000][below(4)] as number, below(256)),
        BigInt(1 + below(5)) * 1000n,
      ),
    );
    return entry(key, ...cells);
  });
}

const cellText = (family: string, qualifier: string, micros: bigint | string, value: Buffer): string =>
  `${family}:${qualifier}@${micros}=${value.length}:${value.subarray(0, 8).toString('hex')}`;

function suite(start: () => Promise<{ readonly address: string; close(): Promise<unknown> }>): void {
  let backend: Awaited<ReturnType<typeof start>>;
  let raw: RawClient;
  let pool: ClientPool;
  let official: Bigtable;

  beforeAll(async () => {
    backend = await start();
    raw = connect(backend.address);
    pool = new ClientPool(
      { maxActiveInstances: 1, destinationIdleTimeoutMillis: 3_600_000, emulatorEndpoint: backend.address },
      testRuntime({ clock: systemClock }),
    );
    const before = process.env.BIGTABLE_EMULATOR_HOST;
    process.env.BIGTABLE_EMULATOR_HOST = backend.address;
    official = new Bigtable({ projectId: 'p', metricsEnabled: false });
    if (before === undefined) delete process.env.BIGTABLE_EMULATOR_HOST;
    else process.env.BIGTABLE_EMULATOR_HOST = before;
    const name = await createTable(raw, 'scanned', { f: {}, g: {} }, ['p2', 'p4#', 'p5']);
    const all = entries();
    for (let at = 0; at < all.length; at += 50) await mutateRows(raw, name, all.slice(at, at + 50));
  });

  afterAll(async () => {
    await official.close();
    pool.close();
    raw.close();
    await backend.close();
  });

  async function ours(range: RowRange, filter?: RowFilter['filter']): Promise<string[]> {
    const rows: string[] = [];
    const reading = readRange(
      {
        table: T,
        appProfileId: '',
        range,
        ...(filter && { filter: Buffer.from(RowFilter.encode({ filter }).finish()) }),
        idleTimeoutMillis: 300_000,
        maxRowsPerFetch: 100,
        maxBytesPerFetch: 1_000_000,
      },
      { readRows: createReadRows(pool), largeRows: new Semaphore(1), clock: systemClock, random: () => 0 },
      new AbortController().signal,
    );
    for await (const events of reading) {
      for (const event of events) {
        if (event.kind !== 'row') continue;
        const cells = event.row.cells.map(({ family, qualifier, timestampMicros, value }) =>
          cellText(family, qualifier.toString('latin1'), timestampMicros, value),
        );
        rows.push(`${event.row.key.toString('latin1')} ${cells.join(' ')}`);
      }
    }
    return rows;
  }

  /** The same by the generated client under the official one, whose keys and qualifiers are bytes. */
  async function theirs(): Promise<string[]> {
    const rows = await readRows(raw, 'projects/p/instances/i/tables/scanned');
    return rows.map(({ key, cells }) => {
      const texts = cells.map((cell) => {
        const [, family = '', qualifier = '', micros = '', value = ''] = /^(.*?):(.*?)@(\d+)=(.*)$/s.exec(cell) ?? [];
        return cellText(family, qualifier, micros, Buffer.from(value, 'latin1'));
      });
      return `${key} ${texts.join(' ')}`;
    });
  }

  /** Values alone by the read stream of the official client, in the order of their rows. */
  async function officialValues(): Promise<number> {
    const [rows] = await official.instance('i').table('scanned').getRows({ decode: false });
    const families = rows.map(({ data }) => data as Record<string, Record<string, { value: unknown }[]>>);
    return families.flatMap((family) => Object.values(family).flatMap((columns) => Object.values(columns).flat()))
      .length;
  }

  test('every row is read as it is stored, cell by cell, and as many cells as by the official client', async () => {
    const read = await ours(WHOLE_TABLE);
    expect(read).toHaveLength(ROWS);
    expect(read).toEqual(await theirs());
    const cells = read.reduce((sum, row) => sum + (row.match(/@\d+=\d+:/g) ?? []).length, 0);
    expect(cells).toBe(await officialValues());
  });

  test('the splits of a plan hold every row of the ranges once, in order', async () => {
    const samples = await createSampleRowKeys(pool, { clock: systemClock, random: () => 0 })(
      T,
      '',
      new AbortController().signal,
    );
    const ranges = ['p1', 'p3#', 'p4', 'p6#'].map((prefix) => prefixRange(Buffer.from(prefix)));
    const read: string[] = [];
    for (const { range } of splitRanges(ranges, samples)) read.push(...(await ours(range)));
    const all = await ours(WHOLE_TABLE);
    expect(read).toEqual(all.filter((row) => /^p[1346]/.test(row)));
  });

  test('a filter is the service’s to apply', async () => {
    const read = await ours(WHOLE_TABLE, { $case: 'familyNameRegexFilter', value: 'g' });
    expect(read.length).toBeGreaterThan(100);
    expect(read.every((row) => row.includes(' g:') && !row.includes(' f:'))).toBe(true);
  });
}

describe('the embedded Bigtable', () => {
  suite(() => startBigtableServer({ scans: { messageBytes: 5000, pieceBytes: 200_000 } }));
});

describe.skipIf(isMissing)(`Google's emulator${whyMissing}`, () => {
  suite(startGoogleEmulator);
});
