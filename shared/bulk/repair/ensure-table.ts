import type { ResolvedTableCreateOptions } from '../../config/resolved.ts';
import { formatTableName, type TableName } from '../../model/table-name.ts';
import type { ConnectTableCalls, EnsuredTable, TableAdmin, TableCalls } from '../ports.ts';
import { FamilyTypeError, UnstableTableError } from './table-errors.ts';

/**
 * Ensures a table by adding only: many instances may do it at once, so that somebody else having been first is an
 * ordinary course of it, and nothing that exists is changed. Existing garbage collection rules are not even read.
 */
export const createTableAdmin = (calls: TableCalls): TableAdmin => ({
  ensure: (table, options, signal) => ensureTable(calls, table, options, signal),
  checkTypes: async (table, options, signal) => {
    const live = await calls.read(table, signal);
    if (!live) return;
    if (declaresAggregate(options)) requireTypes(table, options, live);
    else requireNoAggregates(table, options, live);
  },
});

/** The same, each over a connection of its own. */
export const connectedTableAdmin = (connect: ConnectTableCalls): TableAdmin => ({
  ensure: (table, options, signal) =>
    connect(signal, (calls) => createTableAdmin(calls).ensure(table, options, signal)),
  checkTypes: (table, options, signal) =>
    connect(signal, (calls) => createTableAdmin(calls).checkTypes(table, options, signal)),
});

async function ensureTable(
  calls: TableCalls,
  table: TableName,
  options: ResolvedTableCreateOptions,
  signal: AbortSignal,
): Promise<EnsuredTable> {
  const declared = Object.entries(options.families);
  if (await calls.create(table, options, signal)) {
    return { created: true, familiesAdded: 0, families: new Set(declared.map(([name]) => name)) };
  }
  // Each lost race means that at least one more family is there, so that the last round finds none missing.
  const rounds = declared.length + 1;
  let missing = declared;
  for (let round = 0; round < rounds; round += 1) {
    const live = await calls.read(table, signal);
    if (!live) throw new UnstableTableError(`${formatTableName(table)} was deleted while its families were added`);
    if (declaresAggregate(options)) requireTypes(table, options, live);
    missing = declared.filter(([name]) => !live.has(name));
    const isComplete = missing.length === 0;
    if (isComplete || (await calls.addFamilies(table, Object.fromEntries(missing), signal))) {
      const families = new Set([...live.keys(), ...missing.map(([name]) => name)]);
      return { created: false, familiesAdded: missing.length, families };
    }
  }
  throw new UnstableTableError(
    `${formatTableName(table)} still lacked ${missing.map(([name]) => name).join(', ')} after ${rounds} rounds, each of which was told that one of them exists: it is being changed, or was read stale`,
  );
}

/** Types are compared only where an aggregate is declared: bytes alone leave existing types to whoever chose them. */
export const declaresAggregate = ({ families }: ResolvedTableCreateOptions): boolean =>
  Object.values(families).some(({ type }) => type !== 'raw');

/** Cells are set in families of any type but those that aggregate. */
function requireNoAggregates(
  table: TableName,
  { families }: ResolvedTableCreateOptions,
  live: ReadonlyMap<string, string>,
): void {
  for (const [name, { type }] of Object.entries(families)) {
    const actual = live.get(name);
    if (actual?.startsWith('int64-')) throw new FamilyTypeError(table, name, actual, type);
  }
}

/** Every declared family that exists must be of its type, those of bytes too. */
function requireTypes(
  table: TableName,
  { families }: ResolvedTableCreateOptions,
  live: ReadonlyMap<string, string>,
): void {
  for (const [name, { type }] of Object.entries(families)) {
    const actual = live.get(name);
    if (actual !== undefined && actual !== type) throw new FamilyTypeError(table, name, actual, type);
  }
}
