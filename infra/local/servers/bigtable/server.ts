import { systemClock, type Clock } from '../../../../shared/base/clock.ts';
import { systemRandom, type Random } from '../../../../shared/base/ids.ts';
import { describeError, type Logger } from '../../../../shared/base/logging.ts';
import { serveGrpc } from '../rpc/grpc.ts';
import { BigtableInstanceAdminDefinition } from '../../../../shared/proto/google/bigtable/admin/v2/bigtable_instance_admin.ts';
import { BigtableTableAdminDefinition } from '../../../../shared/proto/google/bigtable/admin/v2/bigtable_table_admin.ts';
import { adminService } from './admin-service.ts';
import type { CallContext } from './calls.ts';
import { dataService } from './data-service.ts';
import { instanceAdminService } from './instance-admin-service.ts';
import type { Database } from './database.ts';
import { Faults } from './faults.ts';
import { SERVICE_LIMITS, type Limits } from './limits.ts';
import type { Profiles } from './profiles.ts';
import { RowPace } from './row-pace.ts';
import type { RpcMethod } from './rpc-methods.ts';
import { BulkBigtableService } from './serializers.ts';
import { TableStore } from './table-store.ts';
import { serviceOf } from '../rpc/definition.ts';

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
  /** Lower than the service's where a test wants to reach a limit cheaply. */
  readonly limits?: Partial<Limits>;
  /**
   * Single-row transactions that one row takes a second, one after the other; on the service 1,600 to 2,200 were
   * measured. Default: no ceiling.
   */
  readonly rowTransactionsPerSecond?: number;
}

/** A table in a few words, for tests and status lines. */
export interface TableSummary {
  /** `projects/p/instances/i/tables/t`. */
  readonly name: string;
  readonly families: readonly string[];
  readonly rows: number;
}

/** A Bigtable on this machine. Its state lives in memory and goes with it. */
export interface LocalBigtable {
  /** `127.0.0.1:port`, for `BIGTABLE_EMULATOR_HOST`. */
  readonly address: string;
  /** What goes wrong, on request. */
  readonly faults: Faults;
  /** All tables, by name. */
  tables(): TableSummary[];
  /** Calls taken since the start, by RPC, whatever became of them. */
  requestCounts(): Partial<Record<RpcMethod, number>>;
  /** Ends every call and frees the port. */
  close(): Promise<void>;
}

/**
 * Starts a Bigtable that speaks the real gRPC APIs (data, table admin, and of instance admin what tells of app profiles) on 127.0.0.1 with the status codes, limits
 * and semantics of the service, so that Google's clients and ours connect unchanged.
 *
 * @example
 * const bigtable = await startBigtableServer();
 * process.env.BIGTABLE_EMULATOR_HOST = bigtable.address;
 */
export async function startBigtableServer(options: LocalBigtableOptions = {}): Promise<LocalBigtable> {
  const database: Database = {
    tables: new TableStore(),
    profiles: options.profiles ?? {},
    limits: { ...SERVICE_LIMITS, ...options.limits },
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
  };
  const faults = new Faults();
  const closing = new AbortController();
  const counts = new Map<RpcMethod, number>();
  const context: CallContext = {
    clock: database.clock,
    faults,
    closing: closing.signal,
    count: (method) => counts.set(method, (counts.get(method) ?? 0) + 1),
    defect: (method, error) =>
      options.log?.log('ERROR', `local Bigtable: ${method} failed`, { error: describeError(error) }),
  };
  const { rowTransactionsPerSecond } = options;
  const pace =
    rowTransactionsPerSecond === undefined ? undefined : new RowPace(database.clock, rowTransactionsPerSecond);
  const endpoint = await serveGrpc(
    [
      { definition: BulkBigtableService, implementation: { ...dataService(database, context, pace) } },
      { definition: serviceOf(BigtableTableAdminDefinition), implementation: { ...adminService(database, context) } },
      {
        definition: serviceOf(BigtableInstanceAdminDefinition),
        implementation: { ...instanceAdminService(database, context) },
      },
    ],
    options.port,
  );
  return {
    address: endpoint.address,
    faults,
    tables: () =>
      database.tables
        .list()
        .map(({ name, families, rows }) => ({ name, families: [...families.keys()], rows: rows.size })),
    requestCounts: () => Object.fromEntries(counts),
    close: async () => {
      closing.abort();
      await endpoint.close();
    },
  };
}
