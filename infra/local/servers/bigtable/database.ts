import type { Clock } from '../../../../shared/base/clock.ts';
import type { Random } from '../../../../shared/base/random.ts';
import type { Limits } from './limits.ts';
import type { AppProfiles, Routing } from './profiles.ts';
import type { Replication } from './rows/replication.ts';
import type { TableCopy } from './rows/table-copy.ts';
import type { TableStore } from './rows/table-store.ts';
import type { TableStreams } from './streams.ts';

/** What the RPCs of one server work on. */
export interface Database {
  readonly tables: TableStore;
  readonly profiles: AppProfiles;
  readonly replication: Replication;
  readonly streams: TableStreams;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether a filter that names its columns looks at all others too. */
  readonly scansRows: boolean;
  readonly scans: ScanShape;
  /** Whether no two answers of `SampleRowKeys` are alike. */
  readonly driftingSamples: boolean;
}

/** How a scan is put into messages, which the service leaves open. */
export interface ScanShape {
  /** A message goes out when it holds this much. */
  readonly messageBytes: number;
  /** Longer values travel in pieces of this many bytes. */
  readonly pieceBytes: number;
  /** After so many rows that the filter kept back, callers that understand it are told how far the scan is. */
  readonly rowsPerProgress: number;
}

/** Few messages for a scan, and none near a client's default limit of 4 MiB. */
export const USUAL_SCANS: ScanShape = { messageBytes: 256 * 1024, pieceBytes: 1024 * 1024, rowsPerProgress: 2000 };

/** The service's clock in microseconds. */
export const nowMicros = ({ clock }: Database): bigint => BigInt(clock.now()) * 1000n;

interface RoutedRequest {
  readonly tableName: string;
  readonly appProfileId: string;
}

/** Where the profile of a request routes. Throws NOT_FOUND where there is no such profile. */
export const routingOf = ({ profiles }: Database, { tableName, appProfileId }: RoutedRequest): Routing =>
  profiles.require(instanceOf(tableName), appProfileId);

/** A request's table in the cluster that its profile routes to. Throws NOT_FOUND where the profile or the table is not. */
export function tableOf({ tables, profiles }: Database, { tableName, appProfileId }: RoutedRequest): TableCopy {
  const { cluster } = profiles.require(instanceOf(tableName), appProfileId);
  return tables.require(tableName).in(cluster);
}

/** The same for a single-row transaction: throws FAILED_PRECONDITION where the profile does not allow it. */
export function tableOfTransaction(
  { tables, profiles }: Database,
  { tableName, appProfileId }: RoutedRequest,
): TableCopy {
  const { cluster } = profiles.requireTransactional(instanceOf(tableName), appProfileId);
  return tables.require(tableName).in(cluster);
}

const instanceOf = (tableName: string): string => tableName.slice(0, Math.max(0, tableName.indexOf('/tables/')));
