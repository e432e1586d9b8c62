import type { TableName } from '../model/table-name.ts';
import type { ProfileReading, TargetFamily } from './target.ts';

export type { ProfileReading, TargetFamily } from './target.ts';

/**
 * What the staged sink asks of Bigtable's admin APIs. Implemented over a gRPC channel in `shared/google/bigtable`; nothing
 * is changed by it. Both reject when there was no usable answer, and end with `signal`.
 */
export interface TargetAdmin {
  /** A profile of the table's instance. @param appProfileId empty for the instance's default profile. */
  readProfile(table: TableName, appProfileId: string, signal: AbortSignal): Promise<ProfileReading>;
  /** Every family by its name; undefined where there is no such table. */
  readFamilies(table: TableName, signal: AbortSignal): Promise<ReadonlyMap<string, TargetFamily> | undefined>;
}
