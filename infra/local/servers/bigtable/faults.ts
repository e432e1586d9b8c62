import type { Status } from '../../../../shared/model/status.ts';
import type { BigtableInstanceAdminDefinition } from '../../../../shared/proto/google/bigtable/admin/v2/bigtable_instance_admin.ts';
import type { BigtableTableAdminDefinition } from '../../../../shared/proto/google/bigtable/admin/v2/bigtable_table_admin.ts';
import type { BigtableDefinition } from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { CallsOf } from '../rpc/faults.ts';

/** What can go wrong with the answer to MutateRows in particular. All other entries fare as always. */
export type MutateRowsEffect =
  /** Only the first `entries` are answered; then the stream ends, with the status or, without one, with OK. */
  | {
      readonly kind: 'cut';
      readonly entries: number;
      /** Whether the entries that get no answer are applied. */
      readonly isRestApplied: boolean;
      readonly status?: Status;
    }
  /** These entries, by index, are refused and not applied. */
  | { readonly kind: 'entry-statuses'; readonly statuses: ReadonlyMap<number, Status> }
  /** The entry at this index is applied and answered without a status. */
  | { readonly kind: 'omit-status'; readonly index: number }
  /** An answer too many, for this index: a duplicate of an entry or an entry that was never sent. */
  | { readonly kind: 'stray-answer'; readonly index: number; readonly status: Status }
  /** `RateLimitInfo` beside the answers, for callers that announced that they understand it. */
  | { readonly kind: 'rate-limit'; readonly periodMillis: number; readonly factor: number };

/** What can go wrong with a scan. */
export type ReadRowsEffect =
  /** The stream breaks after this many rows, and so many chunks of the next one. */
  | { readonly kind: 'cut-scan'; readonly rows: number; readonly chunks?: number; readonly status: Status }
  /** Every n-th row is taken back when half of its chunks were sent, and begins anew. */
  | { readonly kind: 'reset-rows'; readonly every: number }
  /** The stream gives so many rows a second, evenly, however fast it is read. */
  | { readonly kind: 'slow-scan'; readonly rowsPerSecond: number };

/** The RPCs of the local Bigtable, by their names in the protos, with what can go wrong with each. */
export type BigtableCalls = CallsOf<BigtableDefinition, { MutateRows: MutateRowsEffect; ReadRows: ReadRowsEffect }> &
  CallsOf<BigtableTableAdminDefinition> &
  CallsOf<BigtableInstanceAdminDefinition>;

export type EffectOf<Method extends keyof BigtableCalls> = BigtableCalls[Method]['effect'];

type TableRequest = { readonly tableName: string } | { readonly name: string };

/** For a rule: calls about the table with this id, the last part of its name. */
export const onTable =
  (id: string) =>
  (request: TableRequest): boolean =>
    ('tableName' in request ? request.tableName : request.name).endsWith(`/tables/${id}`);

type RowRequest = { readonly rowKey: Buffer } | { readonly entries: readonly { readonly rowKey: Buffer }[] };

/** For a rule: calls that write a row whose key starts with this. */
export function onRows(prefix: string | Buffer): (request: RowRequest) => boolean {
  const start = Buffer.from(prefix);
  return (request) =>
    ('entries' in request ? request.entries : [request]).some(({ rowKey }) =>
      rowKey.subarray(0, start.length).equals(start),
    );
}
