import { systemClock, type Clock } from '../../../../shared/base/clock.ts';
import { systemRandom, type Random } from '../../../../shared/base/random.ts';
import type { Logger } from '../../../../shared/base/logging.ts';
import { draftServer, type RpcServer } from '../rpc/server.ts';
import { adminService } from './admin/admin-service.ts';
import { instanceAdminService } from './admin/instance-admin-service.ts';
import { type Database, nowMicros, type ScanShape, USUAL_SCANS } from './database.ts';
import type { BigtableCalls } from './faults.ts';
import { SERVICE_LIMITS, type Limits } from './limits.ts';
import { AppProfiles, type Profiles } from './profiles.ts';
import { dataService } from './requests/data-service.ts';
import type { ChangeStream } from './change-stream/change-stream.ts';
import type { Nanos } from './change-stream/span.ts';
import { RowPace } from './requests/row-pace.ts';
import { Replication } from './rows/replication.ts';
import type { RowChange } from './rows/table-copy.ts';
import { TableStore } from './rows/table-store.ts';
import { type StreamSettings, streamTime, TableStreams, USUAL_STREAMS } from './streams.ts';

export interface LocalBigtableOptions {
  /** Default: a free port. */
  readonly port?: number;
  /** Server time, garbage collection, delays of faults. Default: the system's. */
  readonly clock?: Clock;
  /** Randomness of row sample filters. */
  readonly random?: Random;
  /** Told of defects of the server itself; refusals are answers, not log lines. Default: nobody. */
  readonly log?: Logger;
  /** App profiles by id, of every instance; `default` exists without being named. */
  readonly profiles?: Profiles;
  /** Ids of the clusters of every instance; the first is where profiles route that name none. Default: `local` alone. */
  readonly clusters?: readonly [string, ...string[]];
  /** How long a change is on its way to the other clusters, in milliseconds of the server's clock. Default 1,000. */
  readonly replicationDelayMillis?: number;
  /** Lower than the service's where a test wants to reach a limit cheaply. */
  readonly limits?: Partial<Limits>;
  /**
   * Single-row transactions that one row takes a second, one after the other; on the service 1,600 to 2,200 were
   * measured. Default: no ceiling.
   */
  readonly rowTransactionsPerSecond?: number;
  /**
   * Every filter looks at every cell of its row. Default: one that names its columns is taken to them, so that a row of
   * very many costs no more than those. Which of the two the service does is not published.
   */
  readonly scansRows?: boolean;
  /** How scans are put into messages. Default: 256 KiB each, values in pieces of 1 MiB, progress every 2,000 rows. */
  readonly scans?: Partial<ScanShape>;
  /** No two answers of `SampleRowKeys` are alike: a boundary is left out, rows are sampled. Default: the tablets' boundaries. */
  readonly driftingSamples?: boolean;
  /** How change streams are kept and put into messages. */
  readonly streams?: Partial<StreamSettings>;
}

/** Where there is one cluster, and as long as replication takes where there are more. */
const ONE_CLUSTER = ['local'] as const;
const REPLICATION_DELAY_MILLIS = 1000;

/** A table in a few words, for tests and status lines. */
export interface TableSummary {
  /** `projects/p/instances/i/tables/t`. */
  readonly name: string;
  readonly families: readonly string[];
  /** In the first cluster. */
  readonly rows: number;
}

/** A Bigtable on this machine. Its state lives in memory and goes with it. */
export interface LocalBigtable extends RpcServer<BigtableCalls> {
  /** All tables, by name. */
  tables(): TableSummary[];
  /**
   * From now on the table's tablets meet at these keys. Scans of it that are open break with UNAVAILABLE at their next row,
   * as they may on the service.
   *
   * @param name `projects/p/instances/i/tables/t`; throws where there is no such table.
   */
  moveTablets(name: string, keys: readonly Buffer[]): void;
  /**
   * The change stream of a table, to split, merge and move its partitions, and to have its reads go wrong. Its times are
   * {@link streamNow}.
   *
   * @param name `projects/p/instances/i/tables/t`; throws where there is no such table, or no stream of it.
   * @param cluster default: the server's first.
   */
  changeStream(name: string, cluster?: string): ChangeStream;
  /** The server's clock in nanoseconds since the epoch. */
  streamNow(): Nanos;
  /** Collects the garbage of a table with a change stream now, in all clusters. Else a clock does, and reads hide it. */
  collectGarbage(name: string): void;
  /**
   * Fills a table past the network and the checks of MutateRows, for one that would take long: about 3 µs a row.
   *
   * @param name `projects/p/instances/i/tables/t`; throws where there is no such table.
   * @param rows what MutateRows would take; each row once, with families that the table has.
   */
  fill(name: string, rows: Iterable<RowChange>): void;
}

/**
 * Starts a Bigtable that speaks the real gRPC APIs (data, table admin, and of instance admin the app profiles) on
 * 127.0.0.1 with the status codes, limits and semantics of the service, so that Google's clients and ours connect
 * unchanged.
 *
 * @example
 * const bigtable = await startBigtableServer();
 * process.env.BIGTABLE_EMULATOR_HOST = bigtable.address;
 */
export async function startBigtableServer(options: LocalBigtableOptions = {}): Promise<LocalBigtable> {
  const clock = options.clock ?? systemClock;
  const clusters = options.clusters ?? ONE_CLUSTER;
  const delayMillis = options.replicationDelayMillis ?? REPLICATION_DELAY_MILLIS;
  const replication = new Replication(clock, delayMillis);
  const streams = new TableStreams(clock, { ...USUAL_STREAMS, ...options.streams }, delayMillis);
  const database: Database = {
    tables: new TableStore(),
    profiles: new AppProfiles(clusters, options.profiles ?? {}),
    replication,
    streams,
    limits: { ...SERVICE_LIMITS, ...options.limits },
    clock,
    random: options.random ?? systemRandom,
    scansRows: options.scansRows ?? false,
    scans: { ...USUAL_SCANS, ...options.scans },
    driftingSamples: options.driftingSamples ?? false,
  };
  const { context, listen } = draftServer<BigtableCalls>({
    product: 'Bigtable',
    clock,
    log: options.log,
  });
  const { rowTransactionsPerSecond } = options;
  const pace = rowTransactionsPerSecond === undefined ? undefined : new RowPace(clock, rowTransactionsPerSecond);
  const server = await listen(
    [dataService(database, context, pace), adminService(database, context), instanceAdminService(database, context)],
    options.port,
  );
  return {
    ...server,
    async close() {
      replication.close();
      streams.close();
      await server.close();
    },
    moveTablets: (name, keys) => {
      database.tables.require(name).moveTablets(keys);
    },
    changeStream: (name, cluster = clusters[0]) => {
      const stream = streams.of(database.tables.require(name), cluster);
      if (!stream) throw new RangeError(`${name} has no change stream in cluster '${cluster}'`);
      return stream;
    },
    streamNow: () => streamTime(clock),
    collectGarbage: (name) => {
      streams.collect(database.tables.require(name));
    },
    fill: (name, rows) => {
      const table = database.tables.require(name).in(clusters[0]);
      const now = nowMicros(database);
      for (const row of rows) table.commit(row, now);
    },
    tables: () =>
      database.tables.list().map((table) => ({
        name: table.name,
        families: [...table.families.keys()],
        rows: table.in(clusters[0]).rows.size,
      })),
  };
}
