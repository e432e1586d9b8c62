import type { ResolvedWrite, RowOperation } from '../declared/resolved.ts';
import type { AggregateValue, Mutation } from '../../model/mutation.ts';
import { compileFamilies, type Family } from '../rows/columns.ts';
import { integerScalar } from '../codecs/integers.ts';
import type { Settle } from '../values/fields.ts';
import { compileOperation } from '../rows/operation.ts';
import { compileTimestamp } from '../rows/timestamp.ts';
import { type AppendChange, cellMutations, type CellWriter, replaceCell, setCell } from './cells.ts';
import { entryWrite, type WriteOf } from './write.ts';

type CellMode = Extract<ResolvedWrite, { mode: 'upsert' | 'keep-latest' }>;
type AggregateMode = Extract<ResolvedWrite, { mode: 'aggregate' | 'insert-if-absent' | 'replace-if-newest' }>;

const WRITERS: Readonly<Record<CellMode['mode'], CellWriter>> = {
  upsert: { append: setCell, clearsFamilies: true },
  'keep-latest': { append: replaceCell, clearsFamilies: true },
};

/** `upsert` and `keep-latest`: cells are set; a declared operation may delete instead. A delete reads the key alone. */
export function compileCellMode(write: CellMode, settle: Settle): WriteOf {
  const families = compileFamilies(write.families, settle);
  const timestampOf = compileTimestamp(write.timestamp, settle);
  const writer = WRITERS[write.mode];
  const operationOf = write.operation && compileOperation(write.operation, settle);
  return (record, rowKey, context) => {
    const operation = operationOf?.(record) ?? WRITE;
    const deletion = deletionOf(operation, write, families);
    if (deletion) return entryWrite(rowKey, deletion);
    return entryWrite(rowKey, cellMutations(families, writer, record, timestampOf(record, context)));
  };
}

const WRITE: RowOperation = { kind: 'write' };

function deletionOf(
  operation: RowOperation,
  { rowDelete }: CellMode,
  families: readonly Family[],
): readonly Mutation[] | undefined {
  switch (operation.kind) {
    case 'write':
    // A record that is skipped never comes this far.
    case 'skip':
      return undefined;
    case 'delete-row':
      return rowDelete === 'row'
        ? [{ kind: 'deleteFromRow' }]
        : families.map(({ family }) => ({ kind: 'deleteFromFamily', family }));
    case 'delete-families':
      return operation.families.map((family) => ({ kind: 'deleteFromFamily', family }));
    case 'delete-columns':
      return operation.columns.map(({ family, qualifier }) => ({
        kind: 'deleteFromColumn',
        family,
        qualifier: Buffer.from(qualifier, 'utf8'),
      }));
  }
}

/** `aggregate`: every integer that is there is added to its cell; the family says how the service combines them. */
export function compileAggregate(write: AggregateMode, settle: Settle): WriteOf {
  const families = compileFamilies(write.families, settle);
  const timestampOf = compileTimestamp(write.timestamp, settle);
  const writer: CellWriter = { append: addToCell, clearsFamilies: false };
  return (record, rowKey, context) =>
    entryWrite(rowKey, cellMutations(families, writer, record, timestampOf(record, context)));
}

const addToCell: AppendChange = (mutations, family, qualifier, change, timestampMicros) => {
  if (!Buffer.isBuffer(change)) return;
  const input: AggregateValue = { kind: 'int64', value: widen(change, qualifier) };
  mutations.push({ kind: 'addToCell', family, qualifier, timestampMicros, input });
};

/** Integers by their width; the column's own type has checked that the value fits it. */
const INTEGERS = new Map(([1, 2, 4, 8] as const).map((width) => [width, integerScalar(width)]));

function widen(bytes: Buffer, qualifier: Buffer): bigint {
  const integer = INTEGERS.get(bytes.length as 1 | 2 | 4 | 8);
  if (!integer) throw new TypeError(`aggregate column ${qualifier.toString()}: must have an integer type`);
  return integer.fromBytes(bytes, 'aggregate');
}
