import { RecordError, RedeliverError } from '../../base/errors.ts';
import { TABLE_ID } from '../../model/table-name.ts';
import type { ResolvedDestination } from '../declared/resolved.ts';
import type { DecodedRecord, Settle } from '../values/fields.ts';
import { compileTemplate } from './template.ts';

/** The table id of a record. */
export type DestinationOf = (record: DecodedRecord) => string;

/**
 * Compiles the destination of a mapping. A table outside the stated list or pattern refuses the record. One more table
 * than `maxTables` throws a `RedeliverError`: that depends on which tables this instance has met before, so it must not
 * reach a policy that may drop the record.
 */
export async function compileDestination(destination: ResolvedDestination, settle: Settle): Promise<DestinationOf> {
  const render = compileTemplate(destination.template, settle);
  const admit = destination.tables
    ? listed(destination.tables)
    : await matching(destination.pattern, destination.maxTables);
  return (record) => {
    const table = render(record);
    // The rule also bounds the text that the pattern is tried on.
    if (!TABLE_ID.test(table)) {
      throw new RecordError('destination: must render to 1 to 50 letters, digits, "_", "-" and ".", got another text');
    }
    admit(table);
    return table;
  };
}

function listed(tables: readonly string[]): (table: string) => void {
  const known = new Set(tables);
  return (table) => {
    if (!known.has(table)) throw new RecordError('destination: must be one of the tables of the mapping, got another');
  };
}

/**
 * RE2 and not the platform's expressions: a record chooses the text, and a pattern that backtracks would let it stop the
 * instance for as long as it likes. Loaded where a mapping has a pattern.
 */
async function matching(pattern: string, maxTables: number): Promise<(table: string) => void> {
  const { RE2JS } = await import('re2js');
  const whole = RE2JS.compile(pattern);
  // State of the instance, bounded by maxTables.
  const met = new Set<string>();
  return (table) => {
    if (met.has(table)) return;
    if (!whole.testExact(table))
      throw new RecordError('destination: must match the pattern of the mapping, got another text');
    if (met.size >= maxTables) {
      throw new RedeliverError(
        'destination',
        `destination: an instance writes at most ${maxTables} tables (maxTables) and this would be one more; raise it or narrow the pattern`,
      );
    }
    met.add(table);
  };
}
