import { ConnectorError } from '../../../shared/base/errors.ts';
import type { ResolvedChangeStreamSource } from '../../../shared/config/resolved.ts';
import { formatTableName, type TableName } from '../../../shared/model/table-name.ts';

/** What a source keeps from its start on, whatever is deployed later. */
export interface FrozenOptions {
  readonly table: TableName;
  readonly orderingKeys: 'none' | 'row' | number;
}

/** The ledger is that of another table: its tokens say nothing of this one. */
export class OtherTableError extends ConnectorError {
  override readonly name = 'OtherTableError';
}

export const freezeOptions = ({ table, emission }: ResolvedChangeStreamSource): string =>
  JSON.stringify({ table, orderingKeys: emission.orderingKeys } satisfies FrozenOptions);

/**
 * @param table that is configured now.
 * @throws {OtherTableError} where the source was started for another one.
 */
export function frozenOptions(frozen: string, table: TableName): FrozenOptions {
  const options = JSON.parse(frozen) as FrozenOptions;
  const [before, now] = [formatTableName(options.table), formatTableName(table)];
  if (before === now) return options;
  throw new OtherTableError(
    `the source was started for the table ${before}, and ${now} is configured: name another pipeline for another table`,
  );
}
