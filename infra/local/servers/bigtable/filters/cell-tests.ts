import { compareBytes } from '../../../../../shared/model/bytes.ts';
import type { ColumnRange, TimestampRange, ValueRange } from '../../../../../shared/proto/google/bigtable/v2/data.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import type { ReadCell } from '../rows/row.ts';
import { timeRangeProblem } from '../rows/validate.ts';
import { compilePattern, type CompiledPattern } from './byte-pattern.ts';

/** The filters that look at one cell at a time. Pure. */
export type CellTest = (cell: ReadCell) => boolean;

/** Compiles a filter's regular expression; INVALID_ARGUMENT names the field when it is none. */
export function pattern(field: string, expression: Buffer): CompiledPattern {
  try {
    return compilePattern(expression.toString('latin1'));
  } catch (error) {
    const problem = error instanceof SyntaxError ? error.message : 'cannot be compiled';
    throw new GrpcError('INVALID_ARGUMENT', `Error in field '${field}' : invalid regular expression: ${problem}`);
  }
}

export function columnRange({ familyName, startQualifier, endQualifier }: ColumnRange): CellTest {
  const isInside = insideBytes(
    startQualifier && { value: startQualifier.value, isOpen: startQualifier.$case === 'startQualifierOpen' },
    endQualifier && { value: endQualifier.value, isOpen: endQualifier.$case === 'endQualifierOpen' },
    'column_range_filter',
  );
  return ({ family, qualifier }) => family === familyName && isInside(Buffer.from(qualifier, 'latin1'));
}

export function valueRange({ startValue, endValue }: ValueRange): CellTest {
  const isInside = insideBytes(
    startValue && { value: startValue.value, isOpen: startValue.$case === 'startValueOpen' },
    endValue && { value: endValue.value, isOpen: endValue.$case === 'endValueOpen' },
    'value_range_filter',
  );
  return ({ value }) => isInside(value);
}

/** From the start, inclusive, to the end, exclusive; an end of 0 is no bound. */
export function timestampRange({ startTimestampMicros: start, endTimestampMicros: end }: TimestampRange): CellTest {
  const problem = timeRangeProblem(start, end);
  if (problem !== undefined)
    throw new GrpcError('INVALID_ARGUMENT', `Error in field 'timestamp_range_filter' : ${problem}`);
  return ({ timestampMicros }) => timestampMicros >= start && (end === 0n || timestampMicros < end);
}

interface Bound {
  readonly value: Buffer;
  readonly isOpen: boolean;
}

function insideBytes(start: Bound | undefined, end: Bound | undefined, field: string): (bytes: Buffer) => boolean {
  if (start && end && compareBytes(start.value, end.value) > 0) {
    throw new GrpcError('INVALID_ARGUMENT', `Error in field '${field}' : the range ends before it starts`);
  }
  return (bytes) =>
    (!start || compareBytes(bytes, start.value) >= (start.isOpen ? 1 : 0)) &&
    (!end || compareBytes(bytes, end.value) <= (end.isOpen ? -1 : 0));
}
