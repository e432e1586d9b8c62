import type {
  ResolvedColumnName,
  ResolvedConditional,
  ResolvedMutation,
  ResolvedOperand,
  ResolvedPredicate,
  ResolvedTime,
} from '../declared/resolved.ts';
import { conditionalRequest } from '../../model/conditional.ts';
import { cellExists, latestCellValueEquals, type RowFilter } from '../../model/filter/filter.ts';
import type { AggregateValue, Mutation } from '../../model/mutation.ts';
import { cellCodec } from '../codecs/cell-codec.ts';
import { integerScalar } from '../codecs/integers.ts';
import type { SerializerContext } from '../context.ts';
import { compileField, type DecodedRecord, type Settle } from '../values/fields.ts';
import { refuseValue } from '../values/field-value.ts';
import { floorDivide, instantOf, unitRule } from '../values/time.ts';
import { compileFutureBound, publishTimestamp } from '../rows/timestamp.ts';
import type { WriteOf } from './write.ts';

type Of<Result> = (record: DecodedRecord, context: SerializerContext) => Result;

/**
 * `conditional`: the request that the options describe, with the record's fields in it. A null or missing field refuses
 * the record, whichever branch names it: which branch applies is known on the service alone.
 */
export function compileConditional({ predicate, then, otherwise }: ResolvedConditional, settle: Settle): WriteOf {
  const predicateOf = compilePredicate(predicate, settle);
  const [thenOf, otherwiseOf] = [then, otherwise].map((branch) => branch.map((one) => compileMutation(one, settle)));
  return (record, rowKey, context) => {
    const build = (branch: readonly Of<Mutation>[] = []): Mutation[] => branch.map((of) => of(record, context));
    const filter = predicateOf(record, context);
    const request = {
      rowKey,
      then: build(thenOf),
      otherwise: build(otherwiseOf),
      ...(filter && { predicate: filter }),
    };
    return { kind: 'conditional', request: conditionalRequest(request) };
  };
}

function compilePredicate(predicate: ResolvedPredicate, settle: Settle): Of<RowFilter | undefined> {
  switch (predicate.kind) {
    case 'row-exists':
      return () => undefined;
    case 'cell-exists': {
      const { family, qualifier } = columnOf(predicate.column);
      const filter = cellExists(family, qualifier);
      return () => filter;
    }
    case 'latest-cell-value-equals': {
      const { family, qualifier } = columnOf(predicate.column);
      const value = compileBytes(predicate.value, settle);
      return (record) => latestCellValueEquals(family, qualifier, value(record));
    }
  }
}

function compileMutation(mutation: ResolvedMutation, settle: Settle): Of<Mutation> {
  switch (mutation.kind) {
    case 'set-cell': {
      const column = columnOf(mutation.column);
      const value = compileBytes(mutation.value, settle);
      const timestamp = mutation.timestamp ? compileTime(mutation.timestamp, settle) : publishTimestamp;
      return (record, context) => ({
        kind: 'setCell',
        ...column,
        timestampMicros: timestamp(record, context),
        value: value(record),
      });
    }
    case 'add-to-cell':
    case 'merge-to-cell': {
      const kind = mutation.kind === 'add-to-cell' ? 'addToCell' : 'mergeToCell';
      const column = columnOf(mutation.column);
      const input = compileAggregateValue(mutation.value, settle);
      const timestamp = compileTime(mutation.timestamp, settle);
      return (record) => ({ kind, ...column, timestampMicros: timestamp(record), input: input(record) });
    }
    case 'delete-cells':
      return compileDeleteCells(mutation, settle);
    case 'delete-family': {
      const { family } = mutation;
      return () => ({ kind: 'deleteFromFamily', family });
    }
    case 'delete-row':
      return () => ({ kind: 'deleteFromRow' });
  }
}

function compileDeleteCells(
  mutation: Extract<ResolvedMutation, { kind: 'delete-cells' }>,
  settle: Settle,
): Of<Mutation> {
  const column = columnOf(mutation.column);
  const start = mutation.start && compileTime(mutation.start, settle);
  const end = mutation.end && compileTime(mutation.end, settle);
  return (record) => ({
    kind: 'deleteFromColumn',
    ...column,
    ...(start && { startTimestampMicros: start(record) }),
    ...(end && { endTimestampMicros: end(record) }),
  });
}

const columnOf = ({ family, qualifier }: ResolvedColumnName): { family: string; qualifier: Buffer } => ({
  family,
  qualifier: Buffer.from(qualifier.base64, 'base64'),
});

const int64 = integerScalar(8);

function compileBytes(operand: ResolvedOperand, settle: Settle): (record: DecodedRecord) => Buffer {
  switch (operand.kind) {
    case 'bytes': {
      const bytes = Buffer.from(operand.bytes.base64, 'base64');
      return () => bytes;
    }
    case 'int64': {
      const bytes = int64.toBytes(BigInt(operand.digits));
      return () => bytes;
    }
    case 'field': {
      const { label } = operand.field;
      const read = compileField(operand.field, settle);
      const codec = cellCodec(operand.format);
      return (record) => {
        const value = read(record);
        if (value === null || value === undefined) return refuseValue(label, 'must be there and not null', value);
        return codec.encode(value, label);
      };
    }
  }
}

/** Sums take integers; merges and other inputs take bytes. */
function compileAggregateValue(operand: ResolvedOperand, settle: Settle): (record: DecodedRecord) => AggregateValue {
  const bytes = compileBytes(operand, settle);
  const isInteger = operand.kind === 'int64' || (operand.kind === 'field' && operand.format.type.kind === 'int64');
  return isInteger
    ? (record) => ({ kind: 'int64', value: bytes(record).readBigInt64BE() })
    : (record) => ({ kind: 'bytes', value: bytes(record) });
}

const NANOS_PER_MICRO = 1000n;

/** A time in microseconds, never rounded: what is finer is refused. The request's own rules bound it. */
function compileTime(time: ResolvedTime, settle: Settle): (record: DecodedRecord) => bigint {
  if (time.kind === 'micros') {
    const micros = BigInt(time.digits);
    return () => micros;
  }
  const { field, unit, maxFutureDays } = time;
  const bounded = compileFutureBound(maxFutureDays, field.label);
  const read = compileField(field, settle);
  return (record) => {
    const value = read(record);
    if (value === null || value === undefined) return refuseValue(field.label, 'must be there and not null', value);
    const nanos = instantOf(value, unit);
    if (nanos === undefined) return refuseValue(field.label, unitRule(unit), value);
    const micros = floorDivide(nanos, NANOS_PER_MICRO);
    if (micros * NANOS_PER_MICRO !== nanos) {
      return refuseValue(field.label, 'must not be finer than a microsecond', value);
    }
    return bounded(micros, record.input.message);
  };
}
