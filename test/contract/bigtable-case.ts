import type { ColumnFamily } from '../../shared/proto/google/bigtable/admin/v2/table.ts';
import type { RawClient } from '../support/bigtable-raw-client.ts';

/** One promise of the service: what a client does, and what the service answers it. */
export interface ContractCase {
  readonly name: string;
  /** Makes its own table with `create` and returns plain values. */
  run(client: RawClient, create: CreateTable): Promise<unknown>;
  readonly service: unknown;
}

/** Creates a table that no other case uses; returns its full name. */
export type CreateTable = (
  families: Readonly<Record<string, Partial<ColumnFamily>>>,
  splits?: readonly string[],
) => Promise<string>;
