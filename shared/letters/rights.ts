import { RecordError } from '../base/errors.ts';
import type { ResolvedDestination } from '../config/resolved.ts';
import type { ResolvedMapping, ResolvedMutation, ResolvedWrite } from '../mapping/declared/resolved.ts';
import { formatTableName, type TableName } from '../model/table-name.ts';

/**
 * What a letter that holds a write may write: what its pipeline may. Whoever may publish to the topic for replays can
 * thus do no more than a publisher of records. Pure.
 */
export interface LetterRights {
  /** Whether the pipeline could have named the table for a record. */
  readonly mayWriteTo: (table: TableName) => boolean;
  /** The families that the pipeline's mapping declares; absent: nothing declares them. */
  readonly families?: ReadonlySet<string>;
  /** Whether its records may delete whole rows. */
  readonly mayDeleteRow: boolean;
}

/** What a write changes. */
export interface Touched {
  /** Families, each once or more often. */
  readonly families: readonly string[];
  readonly isRowDeleted: boolean;
}

/** The letter's write is not its pipeline's to make. */
export class LetterError extends RecordError {
  override readonly name = 'LetterError';
}

export interface RightsOf {
  readonly destination: ResolvedDestination;
  /** Absent: the records name families as they like. */
  readonly mapping?: ResolvedMapping;
  /** Whether the serializer, a mapping aside, may name any table. */
  readonly namesTables: boolean;
}

export function letterRights({ destination, mapping, namesTables }: RightsOf): LetterRights {
  const { table: fixed, home = fixed, attribute } = destination;
  const isFixed = (table: TableName): boolean =>
    fixed !== undefined && formatTableName(table) === formatTableName(fixed);
  const isAtHome = ({ project, instance }: TableName): boolean =>
    project === home?.project && instance === home.instance;
  const mapped = mapping?.destination;
  return {
    mayWriteTo(table) {
      if (namesTables || attribute !== undefined || isFixed(table)) return true;
      return mapped !== undefined && isAtHome(table) && (mapped.tables?.includes(table.table) ?? true);
    },
    ...(mapping ? declaredBy(mapping.write) : { mayDeleteRow: true }),
  };
}

/** Throws a {@link LetterError} for a table that the pipeline does not write to. */
export function checkTable(table: TableName, { mayWriteTo }: LetterRights): void {
  if (mayWriteTo(table)) return;
  throw new LetterError(
    `the letter is for the table ${formatTableName(table)}, which the pipeline could not have named for a record`,
  );
}

/** Throws a {@link LetterError} for a change that no record of the pipeline makes. */
export function checkTouched({ families, isRowDeleted }: Touched, rights: LetterRights): void {
  const { families: declared, mayDeleteRow } = rights;
  const other = declared && families.find((family) => !declared.has(family));
  if (other !== undefined) {
    throw new LetterError(`the letter writes the family ${JSON.stringify(other)}, which the mapping does not declare`);
  }
  if (isRowDeleted && !mayDeleteRow) {
    throw new LetterError('the letter deletes its whole row, which no record of the mapping does');
  }
}

function declaredBy(write: ResolvedWrite): Pick<LetterRights, 'families' | 'mayDeleteRow'> {
  if (write.mode === 'conditional') {
    const mutations = [...write.conditional.then, ...write.conditional.otherwise];
    return {
      families: new Set(mutations.flatMap(familyOf)),
      mayDeleteRow: mutations.some(({ kind }) => kind === 'delete-row'),
    };
  }
  const operation = 'operation' in write ? write.operation : undefined;
  const deletesRow = Object.values(operation?.values ?? {}).some(({ kind }) => kind === 'delete-row');
  return {
    // An operation deletes from declared families alone.
    families: new Set(write.families.map(({ family }) => family)),
    mayDeleteRow: deletesRow && 'rowDelete' in write && write.rowDelete === 'row',
  };
}

function familyOf(mutation: ResolvedMutation): string[] {
  if (mutation.kind === 'delete-row') return [];
  return [mutation.kind === 'delete-family' ? mutation.family : mutation.column.family];
}
