import type { Value } from '../../../../../shared/proto/google/firestore/v1/document.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import { LIMITS } from '../limits.ts';
import { storedTimestamp, timestampValue, type Fields } from './document.ts';
import { isVector, VECTOR_TYPE_KEY } from './value-order.ts';

/**
 * The fields of a document as they are stored: checked, and timestamps cut to microseconds. Values that need no cut are
 * the very same objects, so bytes are not copied. @throws INVALID_ARGUMENT for what the service does not store.
 */
export function storedFields(fields: Fields, depth = 1): Fields {
  if (depth > LIMITS.depth) throw tooDeep();
  let changed: Record<string, Value> | undefined;
  for (const [name, value] of Object.entries(fields)) {
    requireFieldName(name, fields);
    const stored = storedValue(value, name, depth);
    if (stored !== value) changed = { ...(changed ?? fields), [name]: stored };
  }
  return changed ?? fields;
}

const RESERVED_FIELD = /^__.*__$/s;

function requireFieldName(name: string, siblings: Fields): void {
  if (name === '') throw new GrpcError('INVALID_ARGUMENT', 'a field name must not be empty');
  if (Buffer.byteLength(name) > LIMITS.idBytes) {
    throw new GrpcError('INVALID_ARGUMENT', `a field name must not be longer than ${LIMITS.idBytes} bytes`);
  }
  const isReserved = RESERVED_FIELD.test(name) && !(name === VECTOR_TYPE_KEY && isVector(siblings));
  if (isReserved) throw new GrpcError('INVALID_ARGUMENT', `field name "${name}": is reserved, as every __…__ is`);
}

/** One value as it is stored. @param name the field that holds it, for a refusal. */
export function storedValue(value: Value, name: string, depth = 1): Value {
  const { valueType } = value;
  switch (valueType?.$case) {
    case undefined:
      throw new GrpcError('INVALID_ARGUMENT', `the value of property "${name}" has no type`);
    case 'timestampValue': {
      const { nanos } = valueType.value;
      return nanos % 1000 === 0 ? value : timestampValue(storedTimestamp(valueType.value));
    }
    case 'bytesValue':
      requireLength(valueType.value.length, name);
      return value;
    case 'stringValue':
      requireLength(Buffer.byteLength(valueType.value), name);
      return value;
    case 'arrayValue':
      return storedArray(value, valueType.value.values, name, depth);
    case 'mapValue': {
      const fields = storedFields(valueType.value.fields, depth + 1);
      if (fields === valueType.value.fields) return value;
      return { valueType: { $case: 'mapValue', value: { fields } } };
    }
    case 'fieldReferenceValue':
    case 'variableReferenceValue':
    case 'functionValue':
    case 'pipelineValue':
      throw new GrpcError(
        'INVALID_ARGUMENT',
        `the value of property "${name}" is an expression, which no document holds`,
      );
    default:
      return value;
  }
}

function storedArray(value: Value, elements: readonly Value[], name: string, depth: number): Value {
  if (elements.some(({ valueType }) => valueType?.$case === 'arrayValue')) {
    throw new GrpcError('INVALID_ARGUMENT', `the value of property "${name}" is an array that holds an array`);
  }
  if (depth >= LIMITS.depth) throw tooDeep();
  const values = elements.map((element) => storedValue(element, name, depth + 1));
  if (values.every((element, at) => element === elements[at])) return value;
  return { valueType: { $case: 'arrayValue', value: { values } } };
}

function requireLength(bytes: number, name: string): void {
  if (bytes <= LIMITS.valueBytes) return;
  throw new GrpcError('INVALID_ARGUMENT', `The value of property "${name}" is longer than ${LIMITS.valueBytes} bytes.`);
}

const tooDeep = (): GrpcError =>
  new GrpcError('INVALID_ARGUMENT', `a value is nested deeper than ${LIMITS.depth} maps and arrays`);
