import type { Value } from '../../../../../shared/proto/google/firestore/v1/document.ts';
import {
  StructuredQuery_CompositeFilter_Operator as CompositeOperator,
  StructuredQuery_FieldFilter_Operator as FieldOperator,
  StructuredQuery_UnaryFilter_Operator as UnaryOperator,
  type StructuredQuery_FieldFilter as FieldFilter,
  type StructuredQuery_FieldReference as FieldReference,
  type StructuredQuery_Filter as Filter,
  type StructuredQuery_UnaryFilter as UnaryFilter,
} from '../../../../../shared/proto/google/firestore/v1/query.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import type { StoredDocument } from '../documents/document.ts';
import { compareValues, equalValues, isNaNValue, isNull, isSameType } from '../documents/value-order.ts';
import { fieldReader } from './fields.ts';

/** Whether a document is one that a query is for. */
export type Condition = (document: StoredDocument) => boolean;

/** Makes a condition of a filter; none lets every document pass. Pure. @throws INVALID_ARGUMENT */
export function compileFilter(filter: Filter | undefined): Condition {
  const type = filter?.filterType;
  switch (type?.$case) {
    case undefined:
      return () => true;
    case 'compositeFilter':
      return compileComposite(type.value.op, type.value.filters.map(compileFilter));
    case 'fieldFilter':
      return onField(type.value.field, fieldTest(type.value));
    case 'unaryFilter':
      return onField(type.value.operandType?.value, unaryTest(type.value));
  }
}

function compileComposite(operator: CompositeOperator, conditions: readonly Condition[]): Condition {
  if (conditions.length === 0) throw new GrpcError('INVALID_ARGUMENT', 'a composite filter must have filters');
  switch (operator) {
    case CompositeOperator.AND:
      return (document) => conditions.every((holds) => holds(document));
    case CompositeOperator.OR:
      return (document) => conditions.some((holds) => holds(document));
    default:
      throw new GrpcError('INVALID_ARGUMENT', 'a composite filter must have an operator');
  }
}

type ValueTest = (value: Value) => boolean;

/** A document without the field never matches, whatever is asked of it. */
function onField(field: FieldReference | undefined, test: ValueTest): Condition {
  const read = fieldReader(field);
  return (document) => {
    const value = read(document);
    return value !== undefined && test(value);
  };
}

function fieldTest({ op, value: operand }: FieldFilter): ValueTest {
  if (operand?.valueType === undefined) throw new GrpcError('INVALID_ARGUMENT', 'a field filter must have a value');
  switch (op) {
    case FieldOperator.EQUAL:
      return (value) => equals(value, operand);
    case FieldOperator.NOT_EQUAL:
      return (value) => !isNull(value) && !equalValues(value, operand);
    case FieldOperator.LESS_THAN:
      return range(operand, (order) => order < 0);
    case FieldOperator.LESS_THAN_OR_EQUAL:
      return range(operand, (order) => order <= 0);
    case FieldOperator.GREATER_THAN:
      return range(operand, (order) => order > 0);
    case FieldOperator.GREATER_THAN_OR_EQUAL:
      return range(operand, (order) => order >= 0);
    case FieldOperator.IN:
      return isOneOf(listOf(operand, 'IN'));
    case FieldOperator.NOT_IN:
      return isNoneOf(listOf(operand, 'NOT_IN'));
    case FieldOperator.ARRAY_CONTAINS:
      return (value) => elementsOf(value).some((element) => equals(element, operand));
    case FieldOperator.ARRAY_CONTAINS_ANY: {
      const isWanted = isOneOf(listOf(operand, 'ARRAY_CONTAINS_ANY'));
      return (value) => elementsOf(value).some(isWanted);
    }
    default:
      throw new GrpcError('INVALID_ARGUMENT', 'a field filter must have an operator');
  }
}

/** NaN equals nothing, itself included; IS_NAN asks for it. */
const equals = (value: Value, operand: Value): boolean => equalValues(value, operand) && !isNaNValue(operand);

/** A range stays within the type of its bound, and NaN is in none. */
const range =
  (operand: Value, isIn: (order: number) => boolean): ValueTest =>
  (value) =>
    isSameType(value, operand) && !isNaNValue(value) && isIn(compareValues(value, operand));

const isOneOf =
  (operands: readonly Value[]): ValueTest =>
  (value) =>
    operands.some((operand) => !isNull(operand) && equals(value, operand));

function isNoneOf(operands: readonly Value[]): ValueTest {
  if (operands.some(isNull)) return () => false;
  return (value) => !isNull(value) && !operands.some((operand) => equals(value, operand));
}

function listOf(operand: Value, operator: string): readonly Value[] {
  const values = elementsOf(operand);
  if (values.length === 0) throw new GrpcError('INVALID_ARGUMENT', `'${operator}' requires a non-empty ArrayValue.`);
  return values;
}

const elementsOf = ({ valueType }: Value): readonly Value[] =>
  valueType?.$case === 'arrayValue' ? valueType.value.values : [];

function unaryTest({ op }: UnaryFilter): ValueTest {
  switch (op) {
    case UnaryOperator.IS_NAN:
      return isNaNValue;
    case UnaryOperator.IS_NULL:
      return isNull;
    case UnaryOperator.IS_NOT_NAN:
      return (value) => !isNull(value) && !isNaNValue(value);
    case UnaryOperator.IS_NOT_NULL:
      return (value) => !isNull(value);
    default:
      throw new GrpcError('INVALID_ARGUMENT', 'a unary filter must have an operator');
  }
}
