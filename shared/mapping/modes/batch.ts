import type { ResolvedWrite, RowOperation } from '../declared/resolved.ts';
import type { AggregateValue, Mutation } from '../../model/mutation.ts';
import { compileFamilies } from '../rows/columns.ts';
import { integerScalar } from '../codecs/integers.ts';
import type { Settle } from '../values/fields.ts';
import { compileOperation } from '../rows/operation.ts';
import { compileTimestamp } from '../rows/timestamp.ts';
import {
  type AppendChange,
  cellMutations,
  type CellWriter,
  deleteColumn,
  deletionEnd,
  replaceCell,
  setCell,
} from './cells.ts';
import { entryWrite, type WriteOf } from './write.ts';

type CellMode = Extract<ResolvedWrite, { mode: 'upsert' | 'keep-latest' }>;
type AggregateMode = Extract<ResolvedWrite, { mode: 'aggregate' | 'insert-if-absent' | 'replace-if-newest' }>;

const WRITERS: Readonly<Record<CellMode['mode'], CellWriter>> = {
  upsert: { append: setCell, clearsFamilies: true },
  'keep-latest': { append: replaceCell, clearsFamilies: true },
};

/** `upsert` and `keep-latest`: cells are set; a declared operation may delete instead. */
export function compileCellMode(write: CellMode, settle: Settle): WriteOf {
  const families = compileFamilies(write.families, settle);
  const timestampOf = compileTimestamp(write.timestamp, settle);
  const writer = WRITERS[write.mode];
  const operationOf = write.operation && compileOperation(write.operation, settle);
  const declared = families.map(({ family }) => family);
  const mayDelete = deletesColumns(write);
  const endOf = (micros: bigint): bigint | undefined => deletionEnd(write.columnDeletes, micros);
  return (record, rowKey, context) => {
    const operation = operationOf?.(record) ?? WRITE;
    switch (operation.kind) {
      case 'write':
      // A record that is skipped never comes this far.
      case 'skip': {
        const timestampMicros = timestampOf(record, context);
        const end = mayDelete ? endOf(timestampMicros) : undefined;
        return entryWrite(rowKey, cellMutations(families, writer, record, timestampMicros, end));
      }
      // The service bounds neither rows nor families by a time: newer cells go too.
      case 'delete-row':
        return entryWrite(rowKey, write.rowDelete === 'row' ? WHOLE_ROW : deleteFamilies(declared));
      case 'delete-families':
        return entryWrite(rowKey, deleteFamilies(operation.families));
      case 'delete-columns': {
        // Without a bound a deletion needs no time, and its record may have none.
        const end = write.columnDeletes === 'all-versions' ? undefined : endOf(timestampOf(record, context));
        const { columns } = operation;
        return entryWrite(
          rowKey,
          columns.map(({ family, qualifier }) => deleteColumn(family, Buffer.from(qualifier, 'utf8'), end)),
        );
      }
    }
  };
}

const WRITE: RowOperation = { kind: 'write' };

/** Whether a record that is written may delete a column: keeping the latest does, and a null may. */
const deletesColumns = ({ mode, families }: CellMode): boolean =>
  mode === 'keep-latest' ||
  families.some(
    ({ columns, dynamic }) => dynamic?.onNull === 'delete' || columns.some(({ onNull }) => onNull === 'delete'),
  );

const WHOLE_ROW: readonly Mutation[] = [{ kind: 'deleteFromRow' }];

const deleteFamilies = (families: readonly string[]): readonly Mutation[] =>
  families.map((family) => ({ kind: 'deleteFromFamily', family }));

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
