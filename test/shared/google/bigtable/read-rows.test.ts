import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type LocalBigtable, startBigtableServer } from '../../../../infra/local/servers/bigtable/server.ts';
import { systemClock } from '../../../../shared/base/clock.ts';
import { Semaphore } from '../../../../shared/base/semaphore.ts';
import { ClientPool } from '../../../../shared/google/bigtable/clients.ts';
import { createReadRows, encodeReadRows } from '../../../../shared/google/bigtable/read-rows.ts';
import {
  type Bound,
  closedBound,
  openBound,
  type RowRange,
  UNBOUNDED,
  WHOLE_TABLE,
} from '../../../../shared/model/row-range.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import { ReadRowsRequest } from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { RowFilter } from '../../../../shared/proto/google/bigtable/v2/data.ts';
import type { ReadRowsCall, RowMessage, RowMessages } from '../../../../shared/scan/ports.ts';
import type { RangeRead } from '../../../../shared/scan/reading/attempt.ts';
import { readRange } from '../../../../shared/scan/reading/read-range.ts';
import {
  connect,
  createTable,
  entry,
  mutateRows,
  type RawClient,
  readRows,
  setCell,
} from '../../../support/bigtable-raw-client.ts';
import { cellText } from '../../../support/row-chunks.ts';
import { testRuntime } from '../../../support/runtime.ts';
import { eventually } from '../../../support/eventually.ts';

const T = tableName('p', 'i', 't');
const KEYS = Array.from({ length: 200 }, (_, index) => `k${String(index).padStart(3, '0')}`);
const filterOf = (filter: RowFilter['filter']): Buffer => Buffer.from(RowFilter.encode({ filter }).finish());
const NOTHING = filterOf({ $case: 'valueRegexFilter', value: Buffer.from('no such value') });

let bigtable: LocalBigtable;
let client: RawClient;
let pool: ClientPool;

beforeEach(async () => {
  bigtable = await startBigtableServer({
    scans: { messageBytes: 2000, pieceBytes: 300, rowsPerProgress: 50 },
    limits: { readRowBytes: 100_000 },
  });
  client = connect(bigtable.address);
  pool = new ClientPool(
    { maxActiveInstances: 1, destinationIdleTimeoutMillis: 3_600_000, emulatorEndpoint: bigtable.address },
    testRuntime({ clock: systemClock }),
  );
  await createTable(client, 't', { f: {}, g: {} });
  const entries = KEYS.map((key, index) =>
    entry(
      key,
      setCell('f', 'q', key, 5000n),
      setCell('f', 'q', 'older', 1000n),
      ...(index % 3 === 0 ? [setCell('g', 'long', Buffer.alloc(1000, key), BigInt(index) * 1000n)] : []),
      ...(index % 5 === 0 ? [setCell('g', 'none', '')] : []),
    ),
  );
  await mutateRows(client, 'projects/p/instances/i/tables/t', entries);
});

afterEach(async () => {
  pool.close();
  client.close();
  await bigtable.close();
});

/** The only client is free again: one for another instance can be had at once. */
function isFree(): boolean {
  const other = pool.hold({ project: 'p', instance: 'other' });
  if (other) pool.release(other);
  return other !== undefined;
}

const open = (more: Partial<ReadRowsCall> = {}): RowMessages =>
  createReadRows(pool)({ table: T, appProfileId: '', range: WHOLE_TABLE, signals: [], ...more });

async function ending(messages: RowMessages): Promise<RowMessage> {
  for (;;) {
    const reply = await messages.next();
    if (reply.kind !== 'message') return reply;
  }
}

/** Each row as the raw client shows it; what else comes as its kind and key. */
async function read(more: Partial<RangeRead> = {}): Promise<unknown[]> {
  const events = [];
  const reading = readRange(
    {
      table: T,
      appProfileId: '',
      range: WHOLE_TABLE,
      idleTimeoutMillis: 300_000,
      maxRowsPerFetch: 1000,
      maxBytesPerFetch: 8_388_608,
      ...more,
    },
    { readRows: createReadRows(pool), largeRows: new Semaphore(1), clock: systemClock, random: () => 0 },
    new AbortController().signal,
  );
  for await (const handedOn of reading) {
    for (const event of handedOn) {
      events.push(
        event.kind === 'row'
          ? { key: event.row.key.toString('latin1'), cells: event.row.cells.map(cellText) }
          : `${event.kind} ${event.key.toString()}`,
      );
    }
  }
  return events;
}

const stored = (): Promise<unknown[]> => readRows(client, 'projects/p/instances/i/tables/t');
const UNAVAILABLE = { code: 'UNAVAILABLE', message: 'cut' } as const;

describe('a range of the embedded server', () => {
  test('is read row by row and cell by cell as it is stored', async () => {
    expect(await read()).toEqual(await stored());
    expect(isFree()).toBe(true);
  });

  test.each<[string, Bound, Bound, string, string]>([
    ['[k010, k020)', closedBound(Buffer.from('k010')), openBound(Buffer.from('k020')), 'k010', 'k019'],
    ['(k010, k020]', openBound(Buffer.from('k010')), closedBound(Buffer.from('k020')), 'k011', 'k020'],
    ['(*, k020)', UNBOUNDED, openBound(Buffer.from('k020')), 'k000', 'k019'],
    ['[k190, *)', closedBound(Buffer.from('k190')), UNBOUNDED, 'k190', 'k199'],
    ['[k050, k050]', closedBound(Buffer.from('k050')), closedBound(Buffer.from('k050')), 'k050', 'k050'],
  ])('%s holds its rows', async (_text, start, end, first, last) => {
    const keys = (await read({ range: { start, end } })).map((row) => (row as { key: string }).key);
    expect([keys.at(0), keys.at(-1)]).toEqual([first, last]);
  });

  test('is read whole through cuts between rows and inside them, and through rows that are taken back', async () => {
    for (const [rows, chunks] of [
      [3, 1],
      [0, 2],
      [40, undefined],
      [7, 3],
    ] as const) {
      const effect = { kind: 'cut-scan', rows, ...(chunks !== undefined && { chunks }), status: UNAVAILABLE } as const;
      bigtable.faults.add({ method: 'ReadRows', effect });
    }
    bigtable.faults.add({ method: 'ReadRows', effect: { kind: 'reset-rows', every: 3 } });
    expect(await read()).toEqual(await stored());
    expect(bigtable.requestCounts().ReadRows).toBe(6);
  });

  test('gets further where the filter lets nothing through', async () => {
    expect(await read({ filter: NOTHING })).toEqual(['scanned k049', 'scanned k099', 'scanned k149', 'scanned k199']);
  });

  test('is read around a row that the server refuses for its size', async () => {
    await mutateRows(client, 'projects/p/instances/i/tables/t', [
      entry('k100', setCell('f', 'large', Buffer.alloc(200_000))),
      entry('k101', setCell('f', 'large', Buffer.alloc(200_000))),
    ]);
    const events = await read();
    expect(events.slice(98, 104)).toEqual([
      expect.objectContaining({ key: 'k098' }),
      expect.objectContaining({ key: 'k099' }),
      'oversized k100',
      'oversized k101',
      expect.objectContaining({ key: 'k102' }),
      expect.objectContaining({ key: 'k103' }),
    ]);
    expect(events).toHaveLength(200);
  });

  test('is read on when its tablets are moved meanwhile', async () => {
    const events: string[] = [];
    const reading = readRange(
      {
        table: T,
        appProfileId: '',
        range: WHOLE_TABLE,
        idleTimeoutMillis: 300_000,
        maxRowsPerFetch: 5,
        maxBytesPerFetch: 8_388_608,
      },
      { readRows: createReadRows(pool), largeRows: new Semaphore(1), clock: systemClock, random: () => 0 },
      new AbortController().signal,
    );
    for await (const handedOn of reading) {
      for (const event of handedOn) if (event.kind === 'row') events.push(event.row.key.toString());
      if (events.length % 50 === 0)
        bigtable.moveTablets('projects/p/instances/i/tables/t', [Buffer.from(`k${events.length}`)]);
    }
    expect(events).toEqual(KEYS);
  });
});

describe('one call', () => {
  test('ends as finished where the service says OK, and gives its client back', async () => {
    const messages = open();
    expect(await ending(messages)).toEqual({ kind: 'finished' });
    expect(await messages.next()).toEqual({ kind: 'finished' });
    expect(isFree()).toBe(true);
  });

  test.each([
    ['a missing table', { table: tableName('p', 'i', 'absent') }, 'NOT_FOUND'],
    ['an unknown profile', { appProfileId: 'absent' }, 'NOT_FOUND'],
    [
      'a range that is open at its own end key',
      { range: { start: openBound(Buffer.from('k')), end: closedBound(Buffer.from('k')) } satisfies RowRange },
      'INVALID_ARGUMENT',
    ],
    [
      'a family that the table lacks',
      { filter: filterOf({ $case: 'familyNameRegexFilter', value: 'absent' }) },
      'NOT_FOUND',
    ],
  ] as const)('%s fails with what the service says', async (_name, more, code) => {
    expect(await ending(open(more))).toMatchObject({ kind: 'failed', status: { code } });
    expect(isFree()).toBe(true);
  });

  test('that is closed before it ended is no finished one, and its client is free', async () => {
    const messages = open();
    expect((await messages.next()).kind).toBe('message');
    const waiting = messages.next();
    await messages.close();
    expect(['message', 'failed']).toContain((await waiting).kind);
    expect(await messages.next()).toMatchObject({ kind: 'failed', status: { code: 'CANCELLED' } });
    expect(isFree()).toBe(true);
  });

  test('that waits for a client ends with its signal', async () => {
    const other = await pool.wait({ project: 'p', instance: 'other' }, AbortSignal.timeout(1000));
    const controller = new AbortController();
    const waiting = open({ signals: [controller.signal] }).next();
    controller.abort(new Error('over'));
    expect(await waiting).toMatchObject({ kind: 'failed', status: { code: 'CANCELLED' } });
    pool.release(other);
  });

  test('that is closed while it waits for a client never begins', async () => {
    const other = await pool.wait({ project: 'p', instance: 'other' }, AbortSignal.timeout(1000));
    const messages = open();
    const waiting = messages.next();
    await messages.close();
    pool.release(other);
    expect(await waiting).toMatchObject({ kind: 'failed', status: { code: 'CANCELLED' } });
    expect(bigtable.requestCounts().ReadRows).toBeUndefined();
    expect(isFree()).toBe(true);
  });

  test('ends with its signal while the service is silent', async () => {
    bigtable.faults.add({ method: 'ReadRows', effect: { kind: 'never-answer', isApplied: false } });
    const controller = new AbortController();
    const waiting = open({ signals: [controller.signal] }).next();
    setTimeout(() => {
      controller.abort(new Error('over'));
    }, 50);
    expect(await waiting).toMatchObject({ kind: 'failed', status: { code: 'CANCELLED' } });
    expect(isFree()).toBe(true);
  });

  test('that is given up for silence takes its connection out of use', async () => {
    const silence = bigtable.faults.add({ method: 'ReadRows', effect: { kind: 'never-answer', isApplied: false } });
    const messages = open();
    const waiting = messages.next();
    await eventually(() => {
      expect(silence.hits).toBe(1);
    });
    await messages.close(true);
    expect(await waiting).toMatchObject({ kind: 'failed', status: { code: 'CANCELLED' } });
    expect(await ending(open())).toEqual({ kind: 'finished' });
  });
});

describe('a request', () => {
  const decoded = (range: RowRange, filter?: Buffer): ReadRowsRequest =>
    ReadRowsRequest.decode(
      encodeReadRows({ table: T, appProfileId: 'profile', range, ...(filter && { filter }), signals: [] }),
    );

  test('always has one range, also for the whole table', () => {
    const { rows, tableName: table, appProfileId } = decoded(WHOLE_TABLE);
    expect(rows).toEqual({
      rowKeys: [],
      rowRanges: [
        {
          startKey: { $case: 'startKeyClosed', value: Buffer.alloc(0) },
          endKey: { $case: 'endKeyOpen', value: Buffer.alloc(0) },
        },
      ],
    });
    expect([table, appProfileId]).toEqual(['projects/p/instances/i/tables/t', 'profile']);
  });

  test('holds the filter as it was encoded', () => {
    expect(decoded(WHOLE_TABLE, NOTHING).filter).toEqual(RowFilter.decode(NOTHING));
    expect(decoded(WHOLE_TABLE).filter).toBeUndefined();
  });

  test('with keys and a filter at their largest stays far below 512 KiB', () => {
    const key = Buffer.alloc(4096, 'k');
    const request = encodeReadRows({
      table: T,
      appProfileId: '',
      range: { start: closedBound(key), end: openBound(key) },
      filter: Buffer.alloc(20_480),
      signals: [],
    });
    expect(request.length).toBeLessThan(32 * 1024);
  });
});
