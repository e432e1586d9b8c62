import { RedeliverError } from '../base/errors.ts';
import type { ResolvedDestination } from '../config/resolved.ts';
import type { InputRecord } from '../model/record.ts';
import { parseTableName, type TableName } from '../model/table-name.ts';

/**
 * Names the table of a record: what its serializer says, else what the configured attribute says, else the fixed
 * table. Pure. A record without a table is a configuration error, not a bad record: it is redelivered and never
 * reaches a policy that drops.
 */
export function routeRecord(
  record: InputRecord,
  { table, home, attribute }: ResolvedDestination,
  named: TableName | string | undefined,
): TableName {
  if (typeof named === 'object') return named;
  const text = named ?? (attribute === undefined ? undefined : record.message.attributes[attribute]);
  if (text !== undefined) {
    const parsed = parseTableName(text, home);
    if (parsed) return parsed;
    const from = named === undefined ? `the attribute ${String(attribute)}` : 'the serializer';
    throw new RedeliverError(
      'destination',
      `${from} must name project.instance.table${home ? ', or a table of the configured instance' : ''}, got ${JSON.stringify(text.slice(0, 100))}`,
    );
  }
  if (table) return table;
  throw new RedeliverError(
    'destination',
    attribute === undefined
      ? 'no table for the record: neither its serializer nor the pipeline names one'
      : `no table for the record: it has no attribute ${attribute} and the pipeline names no table`,
  );
}
