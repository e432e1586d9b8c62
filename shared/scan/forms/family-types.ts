import type { TargetAdmin } from '../../markers/ports.ts';
import { formatTableName, type TableName } from '../../model/table-name.ts';
import type { FamilyTypes } from './entry-form.ts';

/**
 * The types of a table's families, by one `GetTable`: what the form `entry` tells cells of aggregates by. `roles/bigtable.reader`
 * allows it. Rejects where the table is not there, and as the admin does; a split that needs it waits and is tried again.
 */
export async function readFamilyTypes(
  admin: Pick<TargetAdmin, 'readFamilies'>,
  table: TableName,
  signal: AbortSignal,
): Promise<FamilyTypes> {
  const families = await admin.readFamilies(table, signal);
  if (!families)
    throw new Error(`GetTable: the table ${formatTableName(table)} does not exist: restore it, or cancel the run`);
  return new Map(Array.from(families, ([name, { type }]) => [name, type]));
}
