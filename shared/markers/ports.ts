import { ConnectorError } from '../base/errors.ts';
import type { Status } from '../model/status.ts';
import type { TableName } from '../model/table-name.ts';
import type { ProfileReading, TargetFamily } from './target.ts';

export type { ProfileReading, TargetFamily } from './target.ts';

/**
 * What the staged sink asks of Bigtable's admin APIs. Implemented over a gRPC channel in `shared/google/bigtable`; nothing
 * is changed by it. Both reject when there was no usable answer, with a {@link TargetRefusedError} where asking again cannot
 * help, and end with `signal`.
 */
export interface TargetAdmin {
  /** A profile of the table's instance. @param appProfileId empty for the instance's default profile. */
  readProfile(table: TableName, appProfileId: string, signal: AbortSignal): Promise<ProfileReading>;
  /** Every family by its name; undefined where there is no such table. */
  readFamilies(table: TableName, signal: AbortSignal): Promise<ReadonlyMap<string, TargetFamily> | undefined>;
}

/** A target may not be read, or is not asked for rightly: somebody has to act, and until then every attempt ends so. */
export class TargetRefusedError extends ConnectorError {
  override readonly name = 'TargetRefusedError';
}

/** Which of these markers a row has. */
export interface MarkerQuestion {
  readonly table: TableName;
  /** Empty is the instance's default profile; that of the writes, so that the answer is of their cluster. */
  readonly appProfileId: string;
  readonly rowKey: Buffer;
  readonly family: string;
  /** Hexadecimal; as many as a row filter takes. */
  readonly identities: readonly string[];
  /** The whole attempt's time, waiting for a client included. */
  readonly timeoutMillis: number;
}

export type MarkerReply =
  /** Those of the identities that are there. */
  | { readonly kind: 'answered'; readonly present: ReadonlySet<string> }
  | { readonly kind: 'failed'; readonly status: Status };

/** Reads markers of one row, once, without retries. Always resolves. Implemented by `ReadRows` in `shared/google/bigtable`. */
export type ReadMarkers = (question: MarkerQuestion) => Promise<MarkerReply>;
