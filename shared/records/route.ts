import { RedeliverError } from '../base/errors.ts';
import type { ResolvedDestination } from '../config/resolved.ts';
import type { InputRecord } from '../model/record.ts';
import { parseNamedTable, TABLE_ID, TABLE_ID_RULE, type TableId, type TableName } from '../model/table-name.ts';

/**
 * Names the table of a record: what its serializer says, else what the configured attribute says, else the fixed
 * table. An id belongs to the pipeline's instance and is never read as an address. Pure. A record without a table is a configuration error, not a bad record: it is redelivered and never
 * reaches a policy that drops.
 */
export function routeRecord(
  record: InputRecord,
  { table, home, attribute }: ResolvedDestination,
  named: TableName | TableId | string | undefined,
): TableName {
  if (typeof named === 'object') return 'project' in named ? named : atHome(named, home ?? table);
  const text = named ?? (attribute === undefined ? undefined : record.message.attributes[attribute]);
  if (text !== undefined) {
    const parsed = parseNamedTable(text, home);
    if (parsed) return parsed;
    const from = named === undefined ? `the attribute ${String(attribute)}` : 'the serializer';
    const forms = home
      ? `project.instance.table of ${home.project}.${home.instance}, the id of a table there, or the path projects/…/instances/…/tables/… of a table elsewhere`
      : 'project.instance.table or projects/…/instances/…/tables/…';
    throw new RedeliverError('destination', `${from} must name ${forms}, got ${JSON.stringify(text.slice(0, 100))}`);
  }
  if (table) return table;
  throw new RedeliverError(
    'destination',
    attribute === undefined
      ? 'no table for the record: neither its serializer nor the pipeline names one'
      : `no table for the record: it has no attribute ${attribute} and the pipeline names no table`,
  );
}

function atHome({ table }: TableId, home: Pick<TableName, 'project' | 'instance'> | undefined): TableName {
  if (home && TABLE_ID.test(table)) return { project: home.project, instance: home.instance, table };
  const rule = home ? TABLE_ID_RULE : 'needs project and instance';
  throw new RedeliverError(
    'destination',
    `the table of the record ${rule}, got ${JSON.stringify(table.slice(0, 100))}`,
  );
}
