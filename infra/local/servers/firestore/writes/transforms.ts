import type { Value } from '../../../../../shared/proto/google/firestore/v1/document.ts';
import type { DocumentTransform_FieldTransform as FieldTransform } from '../../../../../shared/proto/google/firestore/v1/write.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import { timestampOfMicros } from '../../rpc/proto-time.ts';
import { timestampValue } from '../documents/document.ts';
import { compareValues, equalValues, isNaNValue, numberOf } from '../documents/value-order.ts';

/** What a transform makes of a field, and what its writer is told. */
export interface Transformed {
  readonly value: Value;
  readonly result: Value;
}

const NULL: Value = { valueType: { $case: 'nullValue', value: 0 } };

/** Applies one transform to the value of a field; undefined where there is none. Pure. @throws INVALID_ARGUMENT */
export function transformField(
  { fieldPath, transformType }: FieldTransform,
  current: Value | undefined,
  nowMicros: bigint,
): Transformed {
  switch (transformType?.$case) {
    case 'setToServerValue':
      // The time of the request has whole milliseconds, unlike that of the commit.
      return told(timestampValue(timestampOfMicros(nowMicros - (nowMicros % 1000n))));
    case 'increment':
      return told(incremented(current, transformType.value));
    case 'maximum':
      return told(extreme(current, transformType.value, 1));
    case 'minimum':
      return told(extreme(current, transformType.value, -1));
    case 'appendMissingElements':
      return untold(appendMissing(elementsOf(current), transformType.value.values));
    case 'removeAllFromArray':
      return untold(elementsOf(current).filter((element) => !holds(transformType.value.values, element)));
    case undefined:
      throw new GrpcError('INVALID_ARGUMENT', `transform of "${fieldPath}": must have a type`);
  }
}

const told = (value: Value): Transformed => ({ value, result: value });

const untold = (values: Value[]): Transformed => ({
  value: { valueType: { $case: 'arrayValue', value: { values } } },
  result: NULL,
});

const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

/** An integer only where both are; it stops at the ends of int64. What is no number starts from the operand. */
function incremented(current: Value | undefined, operand: Value): Value {
  const left = current && numberOf(current);
  const right = operandOf(operand);
  if (left === undefined) return operand;
  if (typeof left === 'bigint' && typeof right === 'bigint') {
    const sum = left + right;
    const value = sum > MAX_INT64 ? MAX_INT64 : sum < MIN_INT64 ? MIN_INT64 : sum;
    return { valueType: { $case: 'integerValue', value } };
  }
  return { valueType: { $case: 'doubleValue', value: Number(left) + Number(right) } };
}

/** The larger (sign 1) or smaller (sign -1) of two numbers; of equal ones the stored one stays. NaN wins. */
function extreme(current: Value | undefined, operand: Value, sign: 1 | -1): Value {
  operandOf(operand);
  if (current === undefined || numberOf(current) === undefined || isNaNValue(operand)) return operand;
  if (isNaNValue(current)) return current;
  return compareValues(operand, current) * sign > 0 ? operand : current;
}

function operandOf(operand: Value): bigint | number {
  const number = numberOf(operand);
  if (number === undefined) throw new GrpcError('INVALID_ARGUMENT', 'the operand of a transform must be a number');
  return number;
}

const elementsOf = (value: Value | undefined): readonly Value[] =>
  value?.valueType?.$case === 'arrayValue' ? value.valueType.value.values : [];

const holds = (values: readonly Value[], wanted: Value): boolean => values.some((value) => equalValues(value, wanted));

function appendMissing(elements: readonly Value[], wanted: readonly Value[]): Value[] {
  const values = [...elements];
  for (const value of wanted) if (!holds(values, value)) values.push(value);
  return values;
}
