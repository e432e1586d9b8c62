import type { ColumnDeletes } from '../declared/resolved.ts';
import { MAX_INT64 } from '../../model/int64.ts';
import type { Mutation } from '../../model/mutation.ts';
import type { CellChange, Family } from '../rows/columns.ts';
import type { DecodedRecord } from '../values/fields.ts';

/** How a mode turns the change of one cell into mutations, appended in order. */
export type AppendChange = (
  mutations: Mutation[],
  family: string,
  qualifier: Buffer,
  change: CellChange,
  timestampMicros: bigint,
  /** Exclusive end of what is deleted of a column; undefined: no end. */
  deletionEndMicros: bigint | undefined,
) => void;

/** One cell is set; its other versions stay. */
export const setCell: AppendChange = (mutations, family, qualifier, change, timestampMicros, deletionEndMicros) => {
  if (change === 'delete') mutations.push(deleteColumn(family, qualifier, deletionEndMicros));
  else if (change !== 'ignore') mutations.push({ kind: 'setCell', family, qualifier, timestampMicros, value: change });
};

/** Versions are deleted, then one is set: two mutations a cell, atomic in one entry. */
export const replaceCell: AppendChange = (mutations, family, qualifier, change, timestampMicros, deletionEndMicros) => {
  if (change === 'ignore') return;
  mutations.push(deleteColumn(family, qualifier, deletionEndMicros));
  if (change !== 'delete') mutations.push({ kind: 'setCell', family, qualifier, timestampMicros, value: change });
};

/** The deletion of a column's versions before `endMicros`; of all where it is undefined. */
export const deleteColumn = (family: string, qualifier: Buffer, endMicros: bigint | undefined): Mutation =>
  endMicros === undefined
    ? { kind: 'deleteFromColumn', family, qualifier }
    : { kind: 'deleteFromColumn', family, qualifier, endTimestampMicros: endMicros };

/** Tables count time in milliseconds, and want the ends of ranges aligned to them. */
const GRANULARITY_MICROS = 1000n;

/**
 * Where the deletion of a record of this time ends: behind its own millisecond, so that it deletes what it may have
 * written itself and nothing newer. Applied again or late it deletes no more. Undefined: without an end.
 */
export function deletionEnd(deletes: ColumnDeletes, timestampMicros: bigint): bigint | undefined {
  if (deletes === 'all-versions') return undefined;
  const end = timestampMicros - (timestampMicros % GRANULARITY_MICROS) + GRANULARITY_MICROS;
  return end > MAX_INT64 ? undefined : end;
}

export interface CellWriter {
  readonly append: AppendChange;
  /** Whether `update: replace` deletes the family first. A row that cannot have one yet needs no deletion. */
  readonly clearsFamilies: boolean;
}

/** The mutations of every declared cell that the record has something for, family by family, in declared order. */
export function cellMutations(
  families: readonly Family[],
  writer: CellWriter,
  record: DecodedRecord,
  timestampMicros: bigint,
  deletionEndMicros?: bigint,
): Mutation[] {
  const mutations: Mutation[] = [];
  for (const family of families) {
    if (!family.isPresent(record)) continue;
    for (const column of family.columns) {
      writer.append(
        mutations,
        family.family,
        column.qualifier,
        column.change(record),
        timestampMicros,
        deletionEndMicros,
      );
    }
    if (family.dynamic)
      appendDynamic(mutations, family, family.dynamic, writer, record, timestampMicros, deletionEndMicros);
  }
  return mutations;
}

function appendDynamic(
  mutations: Mutation[],
  { family }: Family,
  { update, cells: read }: NonNullable<Family['dynamic']>,
  { append, clearsFamilies }: CellWriter,
  record: DecodedRecord,
  timestampMicros: bigint,
  deletionEndMicros: bigint | undefined,
): void {
  const cells = read(record);
  if (!cells) return;
  const isCleared = update === 'replace' && clearsFamilies;
  if (isCleared) mutations.push({ kind: 'deleteFromFamily', family });
  // What the family's deletion has taken needs no second deletion.
  const appendCell = isCleared ? setUnlessDeleted : append;
  for (const { qualifier, change } of cells) {
    appendCell(mutations, family, qualifier, change, timestampMicros, deletionEndMicros);
  }
}

const setUnlessDeleted: AppendChange = (mutations, family, qualifier, change, timestampMicros) => {
  if (change !== 'delete') setCell(mutations, family, qualifier, change, timestampMicros, undefined);
};
