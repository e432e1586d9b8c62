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
) => void;

/** One cell is set; its other versions stay. */
export const setCell: AppendChange = (mutations, family, qualifier, change, timestampMicros) => {
  if (change === 'delete') mutations.push({ kind: 'deleteFromColumn', family, qualifier });
  else if (change !== 'ignore') mutations.push({ kind: 'setCell', family, qualifier, timestampMicros, value: change });
};

/** All versions are deleted, then one is set: two mutations a cell, atomic in one entry. */
export const replaceCell: AppendChange = (mutations, family, qualifier, change, timestampMicros) => {
  if (change === 'ignore') return;
  mutations.push({ kind: 'deleteFromColumn', family, qualifier });
  if (change !== 'delete') mutations.push({ kind: 'setCell', family, qualifier, timestampMicros, value: change });
};

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
): Mutation[] {
  const mutations: Mutation[] = [];
  for (const family of families) {
    if (!family.isPresent(record)) continue;
    for (const column of family.columns) {
      writer.append(mutations, family.family, column.qualifier, column.change(record), timestampMicros);
    }
    if (family.dynamic) appendDynamic(mutations, family, family.dynamic, writer, record, timestampMicros);
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
): void {
  const cells = read(record);
  if (!cells) return;
  const isCleared = update === 'replace' && clearsFamilies;
  if (isCleared) mutations.push({ kind: 'deleteFromFamily', family });
  // What the family's deletion has taken needs no second deletion.
  const appendCell = isCleared ? setUnlessDeleted : append;
  for (const { qualifier, change } of cells) appendCell(mutations, family, qualifier, change, timestampMicros);
}

const setUnlessDeleted: AppendChange = (mutations, family, qualifier, change, timestampMicros) => {
  if (change !== 'delete') setCell(mutations, family, qualifier, change, timestampMicros);
};
