import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { startLocalCloud } from '../../../infra/local/cloud/cloud.ts';
import { ensureTables } from '../../../infra/local/cloud/table-resources.ts';
import { type LocalConnector, startLocalConnector } from '../../../infra/local/run/connector.ts';
import { onTable } from '../../../infra/local/servers/bigtable/faults.ts';
import type { LocalBigtable } from '../../../infra/local/servers/bigtable/server.ts';
import type { LocalFirestore } from '../../../infra/local/servers/firestore/server.ts';
import type { LocalPubSub } from '../../../infra/local/servers/pubsub/server.ts';
import { freezeRun } from '../../../functions/parts/scan/freeze-run.ts';
import { sleep, systemClock } from '../../../shared/base/clock.ts';
import { loadConfigFile } from '../../../shared/config/load.ts';
import type { ResolvedScanSource } from '../../../shared/config/resolved.ts';
import { createDatabase } from '../../../shared/google/firestore/database.ts';
import { tableName, tablePath } from '../../../shared/model/table-name.ts';
import type { Run } from '../../../shared/scan/runs/run.ts';
import { startRun } from '../../../shared/scan/runs/start-run.ts';

/** A scan as it is deployed: the embedded servers in this process, and each slot in one of its own. */

export interface ScanWorldOptions {
  readonly rows: number;
  /** Of the one cell of a row. */
  readonly valueBytes: number;
  /** Each is a split. At most 256. */
  readonly tablets: number;
  /** Of the pipeline, beside its table and topic. */
  readonly options: Readonly<Record<string, string | number>>;
  /** Rows a second of each stream. Default: as fast as it is read. */
  readonly rowsPerSecond?: number;
}

export interface ScanWorld extends AsyncDisposable {
  readonly bigtable: LocalBigtable;
  readonly pubsub: LocalPubSub;
  readonly firestore: LocalFirestore;
  /** Starts a run, and then the functions, whose first attempts find it. */
  start(): Promise<LocalConnector>;
  /** The run as it is now. */
  read(): Promise<Run>;
  /** Streams are as fast as they are read from now on: those that are open break, and are opened again. */
  speedUp(): void;
  /** Puts a row of so many cells behind all others. Call it before the last split is read. */
  addLastRow(cells: number, valueBytes: number): void;
}

const TABLE = tableName('bench', 'i', 't');
const PIPELINE = 'scan';
const RUN = 'bench';
const TOPIC = 'projects/bench/topics/rows';

export async function openScanWorld(world: ScanWorldOptions): Promise<ScanWorld> {
  const { rows, valueBytes, tablets, options, rowsPerSecond } = world;
  await using opened = new AsyncDisposableStack();
  const cloud = await startLocalCloud({ env: {}, project: 'bench' });
  opened.defer(() => cloud.close());
  const { bigtable, pubsub, firestore } = cloud;
  if (!bigtable || !pubsub || !firestore) throw new TypeError('the servers must be in this process');
  await ensureTables(cloud.bigtableHost, [{ name: TABLE, families: { f: {} }, splits: boundaries(tablets) }]);
  bigtable.fill(tablePath(TABLE), tableRows(rows, valueBytes));
  const slow =
    rowsPerSecond === undefined
      ? undefined
      : bigtable.faults.add({
          ...{ method: 'ReadRows', where: onTable(TABLE.table), times: Infinity },
          effect: { kind: 'slow-scan', rowsPerSecond },
        });

  const folder = await mkdtemp(join(tmpdir(), 'scan-bench-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const configFile = join(folder, 'connector.yaml');
  const pipeline = { kind: 'scan-source', table: TABLE, outputTopic: TOPIC, ...options };
  await writeFile(configFile, stringify({ defaults: { project: 'bench' }, pipelines: { [PIPELINE]: pipeline } }));
  // Google's client finds the server by its environment.
  process.env.FIRESTORE_EMULATOR_HOST = cloud.firestoreHost;
  const database = createDatabase({ databaseId: '(default)', projectId: 'bench' });
  opened.defer(() => database.close());
  const { runs: store } = database.scan(PIPELINE);
  const forever = new AbortController().signal;
  const all = opened.move();
  return {
    ...{ bigtable, pubsub, firestore },
    async start() {
      const { config } = await loadConfigFile(configFile);
      const source = config.pipelines[PIPELINE] as ResolvedScanSource;
      const request = {
        ...{ id: RUN, concurrentRuns: 'refuse' as const },
        options: (lastDone: Parameters<typeof freezeRun>[1]) => freezeRun(source, lastDone),
      };
      await startRun(request, { store, clock: systemClock }, forever);
      const connector = await startLocalConnector({ cloud, configFile });
      all.defer(() => connector.stop());
      return connector;
    },
    async read() {
      const run = await store.readRun(RUN, forever);
      if (!run) throw new TypeError('there must be a run');
      return run.value;
    },
    speedUp: () => {
      slow?.remove();
      bigtable.moveTablets(tablePath(TABLE), []);
    },
    addLastRow: (cells, valueBytes) => {
      const value = Buffer.alloc(valueBytes, 'v');
      const mutations = Array.from({ length: cells }, (_, number) => setCell(`q${number}`, value));
      bigtable.fill(tablePath(TABLE), [{ rowKey: LAST_KEY, mutations }]);
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

const LOOK_MILLIS = 100;

export async function untilDone(world: Pick<ScanWorld, 'read'>, isDone: (run: Run) => boolean): Promise<Run> {
  for (;;) {
    const run = await world.read();
    if (isDone(run)) return run;
    if (run.state === 'failed' || run.state === 'cancelled') throw new Error(`the run ${run.state}: ${run.problem}`);
    await sleep(systemClock, LOOK_MILLIS);
  }
}

/** Above each of {@link keyOf}. */
const LAST_KEY = Buffer.from('z');

/** Two digits that spread neighbours over the tablets, then the number. */
const keyOf = (number: number): string =>
  `${((number * 37) % 256).toString(16).padStart(2, '0')}#${String(number).padStart(8, '0')}`;

const boundaries = (tablets: number): string[] =>
  Array.from({ length: tablets - 1 }, (_, index) =>
    Math.floor(((index + 1) * 256) / tablets)
      .toString(16)
      .padStart(2, '0'),
  );

function* tableRows(rows: number, valueBytes: number) {
  // One for all: the server would hold a gigabyte of them.
  const value = Buffer.alloc(valueBytes, 'v');
  const mutations = [setCell('q', value)];
  for (let number = 0; number < rows; number += 1) {
    yield { rowKey: Buffer.from(keyOf(number)), mutations };
  }
}

const setCell = (qualifier: string, value: Buffer) => ({
  mutation: {
    $case: 'setCell' as const,
    value: { familyName: 'f', columnQualifier: Buffer.from(qualifier), timestampMicros: 1000n, value },
  },
});
