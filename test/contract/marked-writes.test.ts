import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type LocalBigtable, startBigtableServer } from '../../infra/local/servers/bigtable/server.ts';
import { systemClock } from '../../shared/base/clock.ts';
import { ClientPool } from '../../shared/google/bigtable/clients.ts';
import { createReadMarkers } from '../../shared/google/bigtable/read-markers.ts';
import { createRowCalls } from '../../shared/google/bigtable/row-calls.ts';
import { openTargetAdmin } from '../../shared/google/bigtable/target-admin.ts';
import type { SendRowCall } from '../../shared/model/row-call.ts';
import { tableName } from '../../shared/model/table-name.ts';
import type { Envelope } from '../../shared/staged/envelope/envelope.ts';
import { MAX_COALESCED_ENVELOPES } from '../../shared/staged/write/coalesce.ts';
import { MarkedWrites } from '../../shared/staged/write/marked-writes.ts';
import type { ReadMarkers } from '../../shared/markers/ports.ts';
import { TargetCheck } from '../../shared/markers/target-check.ts';
import type { Outcome } from '../../shared/markers/outcome.ts';
import { connect, createTable, type RawClient, readRows } from '../support/bigtable-raw-client.ts';
import { addition, cell, envelopeOf, identityNumber, rowEntry } from '../support/envelopes.ts';
import { failure } from '../support/fake-row-calls.ts';
import { FakeMarkedTable } from '../support/fake-marked-table.ts';
import { onTable } from '../../infra/local/servers/bigtable/faults.ts';
import { submitOne, WRITES_OPTIONS } from '../support/marked-writes-harness.ts';
import { isMissing, startGoogleEmulator, whyMissing } from './google-bigtable-emulator.ts';
import { testRuntime } from '../support/runtime.ts';

/**
 * What the engine of conditional writes needs of a table, asked of the embedded server and of Google's emulator over
 * real channels and of the fake that its own tests run on: a fake that promises more than the server would prove nothing.
 */
interface Backend {
  readonly send: SendRowCall;
  readonly readMarkers: ReadMarkers;
  /** An empty table of its own, by name. */
  create(table: string): Promise<void>;
  /** The next request is applied and its answer lost. */
  loseAnswer(table: string): void;
  /** Sum of the row's aggregate, and identities of its markers. */
  read(table: string, row: string): Promise<{ sum: bigint; markers: readonly string[] }>;
}

const signal = new AbortController().signal;

function engine({ send, readMarkers }: Pick<Backend, 'send' | 'readMarkers'>): MarkedWrites {
  return new MarkedWrites(
    { ...WRITES_OPTIONS, maxInFlightRequests: 20 },
    { send, readMarkers, runtime: testRuntime({ clock: systemClock, random: () => 0.5 }) },
  );
}

function conformance(start: () => Backend): void {
  let tables = 0;
  const newTable = async (backend: Backend): Promise<string> => {
    const name = `t${(tables += 1)}`;
    await backend.create(name);
    return name;
  };
  const counting = (table: string, number: number, row = 'row'): Envelope =>
    envelopeOf(number, rowEntry(row, addition(1n)), { table: tableName('p', 'i', table) });
  const kindsOf = (results: readonly Outcome[]): string[] => results.map(({ kind }) => kind);

  test('an effect is applied once, with its marker, however often it is sent', async () => {
    const backend = start();
    const table = await newTable(backend);
    const results: Outcome[] = [];
    for (let round = 0; round < 3; round += 1) {
      results.push(await submitOne(engine(backend), counting(table, 1), signal));
    }
    expect(kindsOf(results)).toEqual(['applied', 'deduplicated', 'deduplicated']);
    expect(await backend.read(table, 'row')).toEqual({ sum: 1n, markers: [identityNumber(1)] });
  });

  test('as many effects of one row as fit in a request are applied by it', async () => {
    const backend = start();
    const table = await newTable(backend);
    const writes = engine(backend);
    const many = Array.from({ length: MAX_COALESCED_ENVELOPES }, (_, number) => counting(table, number));
    const results = await Promise.all(many.map((envelope) => submitOne(writes, envelope, signal)));
    expect(new Set(kindsOf(results))).toEqual(new Set(['applied']));
    const { sum, markers } = await backend.read(table, 'row');
    expect(sum).toBe(BigInt(many.length));
    expect(markers).toHaveLength(many.length);
  });

  test('effects of which some are applied already are told apart', async () => {
    const backend = start();
    const table = await newTable(backend);
    await submitOne(engine(backend), counting(table, 5), signal);
    const writes = engine(backend);
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, number) => submitOne(writes, counting(table, number), signal)),
    );
    expect(kindsOf(results).indexOf('deduplicated')).toBe(5);
    expect((await backend.read(table, 'row')).sum).toBe(12n);
  });

  test('of as many as fit in a request those that are applied already are found by one look', async () => {
    const backend = start();
    const table = await newTable(backend);
    const all = Array.from({ length: MAX_COALESCED_ENVELOPES }, (_, number) => counting(table, number));
    const before = all.filter((_, number) => number % 7 === 3);
    await engine(backend).submit(before, signal);
    let calls = 0;
    const counted = <Call, Reply>(call: (given: Call) => Reply): ((given: Call) => Reply) => {
      return (given) => {
        calls += 1;
        return call(given);
      };
    };
    const writes = engine({ send: counted(backend.send), readMarkers: counted(backend.readMarkers) });
    const kinds = kindsOf(await writes.submit(all, signal));
    expect(kinds).toEqual(all.map((_, number) => (number % 7 === 3 ? 'deduplicated' : 'applied')));
    expect(calls).toBe(3);
    expect((await backend.read(table, 'row')).sum).toBe(BigInt(all.length));
  });

  test('a look tells which markers of a row are there, of a row without any too', async () => {
    const backend = start();
    const table = await newTable(backend);
    await engine(backend).submit([counting(table, 1), counting(table, 2), counting(table, 4, 'other')], signal);
    const look = async (rowKey: string, numbers: readonly number[]) =>
      backend.readMarkers({
        table: tableName('p', 'i', table),
        appProfileId: '',
        rowKey: Buffer.from(rowKey),
        family: 'markers',
        identities: numbers.map(identityNumber),
        timeoutMillis: 10_000,
      });
    expect(await look('row', [1, 3, 4])).toEqual({ kind: 'answered', present: new Set([identityNumber(1)]) });
    expect(await look('none', [1])).toEqual({ kind: 'answered', present: new Set() });
  });

  test('an answer that was lost after the effect does not count it twice, alone or among others', async () => {
    const backend = start();
    for (const count of [1, 7]) {
      const table = await newTable(backend);
      const writes = engine(backend);
      backend.loseAnswer(table);
      const results = await Promise.all(
        Array.from({ length: count }, (_, number) => submitOne(writes, counting(table, number), signal)),
      );
      expect(new Set(kindsOf(results))).toEqual(new Set(['deduplicated']));
      expect((await backend.read(table, 'row')).sum).toBe(BigInt(count));
    }
  });

  test('any effects in any rows, submitted any number of times by any instances, sum up to how many there are', async () => {
    const backend = start();
    const submissions = fc.array(fc.record({ number: fc.nat(12), instance: fc.nat(2) }), {
      minLength: 1,
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(submissions, async (all) => {
        const table = await newTable(backend);
        const instances = [engine(backend), engine(backend), engine(backend)] as const;
        await Promise.all(
          all.map(({ number, instance }) =>
            submitOne(instances[instance] ?? instances[0], counting(table, number, `row-${number % 3}`), signal),
          ),
        );
        const rows = await Promise.all(['row-0', 'row-1', 'row-2'].map((row) => backend.read(table, row)));
        const distinct = new Set(all.map(({ number }) => number)).size;
        expect(rows.reduce((sum, row) => sum + row.sum, 0n)).toBe(BigInt(distinct));
        expect(rows.flatMap(({ markers }) => markers)).toHaveLength(distinct);
      }),
      { seed: 51, numRuns: 15 },
    );
  });
}

const sumType = {
  inputType: { kind: { $case: 'int64Type' as const, value: { encoding: undefined } } },
  stateType: undefined,
  aggregator: { $case: 'sum' as const, value: {} },
};

const createMarkedTable = (client: RawClient, table: string): Promise<string> =>
  createTable(client, table, {
    markers: {},
    f: {},
    sums: { valueType: { kind: { $case: 'aggregateType', value: sumType } } },
  });

async function readMarked(client: RawClient, table: string, row: string) {
  const rows = await readRows(client, `projects/p/instances/i/tables/${table}`);
  const cells = rows.find(({ key }) => key === row)?.cells ?? [];
  // `family:qualifier@timestamp=value`
  const sum = cells.find((text) => text.startsWith('sums:'));
  const value = sum?.slice(sum.indexOf('=') + 1);
  return {
    sum: value === undefined ? 0n : Buffer.from(value, 'latin1').readBigInt64BE(),
    markers: cells.flatMap((text) => /^markers:([0-9a-f]{32})@0=1$/.exec(text)?.[1] ?? []),
  };
}

const poolOver = (address: string): ClientPool =>
  new ClientPool(
    { emulatorEndpoint: address, maxActiveInstances: 4, destinationIdleTimeoutMillis: 3_600_000 },
    testRuntime({ clock: systemClock }),
  );

describe('the embedded server', () => {
  let bigtable: LocalBigtable;
  let client: RawClient;
  let pool: ClientPool;

  beforeAll(async () => {
    bigtable = await startBigtableServer({ profiles: { many: { singleCluster: false, transactional: false } } });
    client = connect(bigtable.address);
    pool = poolOver(bigtable.address);
  });

  afterEach(() => {
    bigtable.faults.clear();
  });

  afterAll(async () => {
    pool.close();
    client.close();
    await bigtable.close();
  });

  const createMarked = (table: string): Promise<string> => createMarkedTable(client, table);

  conformance(() => ({
    send: createRowCalls(pool),
    readMarkers: createReadMarkers(pool),
    async create(table) {
      await createMarked(table);
    },
    loseAnswer(table) {
      const status = { code: 'UNAVAILABLE' as const, message: 'lost' };
      bigtable.faults.add({
        method: 'CheckAndMutateRow',
        where: onTable(table),
        effect: { kind: 'lose-answer', status },
      });
    },
    read: (table, row) => readMarked(client, table, row),
  }));

  test('refuses what the engine says it refuses', async () => {
    await createMarked('refusals');
    const writes = engine({ send: createRowCalls(pool), readMarkers: createReadMarkers(pool) });
    const at = (number: number, given: Partial<Parameters<typeof envelopeOf>[2]> = {}, row = `r${number}`) =>
      envelopeOf(number, rowEntry(row, cell()), { table: tableName('p', 'i', 'refusals'), ...given });
    const results = await Promise.all([
      submitOne(writes, at(1, { appProfileId: 'many' }), signal),
      submitOne(writes, at(2, { appProfileId: 'none' }), signal),
      submitOne(writes, at(3, { table: tableName('p', 'i', 'none') }), signal),
      submitOne(writes, at(4, { markerFamily: 'none' }), signal),
      submitOne(writes, at(5, {}, 'x'.repeat(4096)), signal),
    ]);
    expect(results).toMatchObject([
      { kind: 'unfinished', reason: 'refused', status: { code: 'FAILED_PRECONDITION' } },
      { kind: 'unfinished', reason: 'missing-table' },
      { kind: 'unfinished', reason: 'missing-table' },
      { kind: 'unfinished', reason: 'missing-family' },
      { kind: 'applied' },
    ]);
  });

  test('is checked before the first write', async () => {
    await createMarked('checked');
    const admin = openTargetAdmin({ emulatorEndpoint: bigtable.address });
    const check = new TargetCheck(
      { declaredFamilies: {}, idleMillis: 1000 },
      { admin, runtime: testRuntime({ clock: systemClock }) },
    );
    const target = { table: tableName('p', 'i', 'checked'), appProfileId: '', markerFamily: 'markers' };
    expect(await check.check(target, ['f'], signal)).toBeUndefined();
    expect(await check.check({ ...target, appProfileId: 'many', markerFamily: 'sums' }, ['f'], signal)).toMatchObject({
      kind: 'target',
      refusal: {
        reason: 'refused',
        message: expect.stringMatching(/several clusters.*type int64-sum/) as string,
      },
    });
    const found = await check.check(target, ['f', 'g'], signal);
    expect(found?.kind === 'families' && [...found.refusals.keys()]).toEqual(['g']);
  });
});

describe.skipIf(isMissing)(`Google's emulator${whyMissing}`, () => {
  let emulator: Awaited<ReturnType<typeof startGoogleEmulator>>;
  let client: RawClient;
  let pool: ClientPool;
  let send: SendRowCall;
  let readMarkers: ReadMarkers;
  const losing = new Set<string>();

  beforeAll(async () => {
    emulator = await startGoogleEmulator();
    client = connect(emulator.address);
    pool = poolOver(emulator.address);
    const calls = createRowCalls(pool);
    send = async (call) => {
      const reply = await calls(call);
      return losing.delete(call.table.table) ? failure('UNAVAILABLE', 'lost') : reply;
    };
    readMarkers = createReadMarkers(pool);
  });

  afterAll(async () => {
    pool.close();
    client.close();
    await emulator.close();
  });

  conformance(() => ({
    send,
    readMarkers,
    async create(table) {
      await createMarkedTable(client, table);
    },
    loseAnswer(table) {
      losing.add(table);
    },
    read: (table, row) => readMarked(client, table, row),
  }));
});

describe('the fake table', () => {
  conformance(() => {
    const tables = new Map<string, FakeMarkedTable>();
    const losing = new Set<string>();
    const at = (name: string): FakeMarkedTable => {
      const table = tables.get(name);
      if (!table) throw new Error(`no table ${name}`);
      return table;
    };
    return {
      send: (call) => at(call.table.table).send(call),
      readMarkers: (question) => at(question.table.table).readMarkers(question),
      create(name) {
        const mishap = () => (losing.delete(name) ? ({ when: 'after', code: 'UNAVAILABLE' } as const) : undefined);
        tables.set(name, new FakeMarkedTable({ clock: systemClock, mishap }));
        return Promise.resolve();
      },
      loseAnswer(name) {
        losing.add(name);
      },
      read(name, row) {
        const { sum, markers } = at(name).row(row);
        return Promise.resolve({ sum, markers: [...markers.keys()] });
      },
    };
  });
});
