import type { Value } from '../../../../../shared/proto/google/firestore/v1/document.ts';

/** A value whose type is known. */
export type TypedValue = NonNullable<Value['valueType']>;

/**
 * Firestore's order of values (firebase.google.com/docs/firestore/manage-data/data-types#value_type_ordering): first by
 * type, then within the type. Integers and doubles are one type and compare as the numbers they are. Pure.
 */
export function compareValues(left: Value, right: Value): number {
  const a = typed(left);
  const b = typed(right);
  return typeRank(a) - typeRank(b) || compareWithin(a, b);
}

/** Whether two values are of one type in that order: a range never reaches past it. */
export const isSameType = (left: Value, right: Value): boolean => typeRank(typed(left)) === typeRank(typed(right));

export const equalValues = (left: Value, right: Value): boolean => compareValues(left, right) === 0;

export const isNull = ({ valueType }: Value): boolean => valueType?.$case === 'nullValue';

export const isNaNValue = ({ valueType }: Value): boolean =>
  valueType?.$case === 'doubleValue' && Number.isNaN(valueType.value);

/** A number of either type; undefined for any other value. */
export function numberOf({ valueType }: Value): bigint | number | undefined {
  return valueType?.$case === 'integerValue' || valueType?.$case === 'doubleValue' ? valueType.value : undefined;
}

/** Order of texts by their UTF-8 bytes. JavaScript compares UTF-16: that differs where one holds a surrogate. */
export function compareTexts(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a === b) continue;
    const order = Number(isSurrogate(a)) - Number(isSurrogate(b));
    return order || a - b;
  }
  return left.length - right.length;
}

/** Order of resource names: id by id. */
export function compareNames(left: string, right: string): number {
  return compareLists(left.split('/'), right.split('/'), compareTexts);
}

/** The key of a vector's map that says that it is one. */
export const VECTOR_TYPE_KEY = '__type__';
const VECTOR_TYPE = '__vector__';

export function isVector(fields: Readonly<Record<string, Value>>): boolean {
  const type = fields[VECTOR_TYPE_KEY]?.valueType;
  return type?.$case === 'stringValue' && type.value === VECTOR_TYPE;
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;

/** A value that nobody set reads as null, as in the service. */
const typed = ({ valueType }: Value): TypedValue => valueType ?? { $case: 'nullValue', value: 0 };

function typeRank(value: TypedValue): number {
  switch (value.$case) {
    case 'nullValue':
      return 0;
    case 'booleanValue':
      return 1;
    case 'integerValue':
    case 'doubleValue':
      return 2;
    case 'timestampValue':
      return 3;
    case 'stringValue':
      return 4;
    case 'bytesValue':
      return 5;
    case 'referenceValue':
      return 6;
    case 'geoPointValue':
      return 7;
    case 'arrayValue':
      return 8;
    case 'mapValue':
      return isVector(value.value.fields) ? 9 : 10;
    default:
      // Expressions of pipelines: no document holds one.
      return 11;
  }
}

/** Order of two values of one type. */
function compareWithin(a: TypedValue, b: TypedValue): number {
  if (a.$case === 'integerValue' || a.$case === 'doubleValue') {
    return b.$case === 'integerValue' || b.$case === 'doubleValue' ? compareNumbers(a.value, b.value) : 0;
  }
  if (a.$case === 'booleanValue' && b.$case === 'booleanValue') return Number(a.value) - Number(b.value);
  if (a.$case === 'timestampValue' && b.$case === 'timestampValue') {
    return compareNumbers(a.value.seconds, b.value.seconds) || a.value.nanos - b.value.nanos;
  }
  if (a.$case === 'stringValue' && b.$case === 'stringValue') return compareTexts(a.value, b.value);
  if (a.$case === 'bytesValue' && b.$case === 'bytesValue') return Buffer.compare(a.value, b.value);
  if (a.$case === 'referenceValue' && b.$case === 'referenceValue') return compareNames(a.value, b.value);
  if (a.$case === 'geoPointValue' && b.$case === 'geoPointValue') {
    return a.value.latitude - b.value.latitude || a.value.longitude - b.value.longitude;
  }
  if (a.$case === 'arrayValue' && b.$case === 'arrayValue') {
    return compareLists(a.value.values, b.value.values, compareValues);
  }
  if (a.$case === 'mapValue' && b.$case === 'mapValue') return compareMaps(a.value.fields, b.value.fields);
  return 0;
}

/** NaN comes before every number; JavaScript compares a bigint with a number exactly. */
function compareNumbers(left: bigint | number, right: bigint | number): number {
  if (Number.isNaN(left) || Number.isNaN(right)) return Number(Number.isNaN(right)) - Number(Number.isNaN(left));
  return left < right ? -1 : left > right ? 1 : 0;
}

function compareLists<Item>(
  left: readonly Item[],
  right: readonly Item[],
  compare: (a: Item, b: Item) => number,
): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const order = compare(left[at]!, right[at]!);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

type ValueMap = Readonly<Record<string, Value>>;

/** By key and value in the order of keys; a shorter vector comes before every longer one. */
function compareMaps(left: ValueMap, right: ValueMap): number {
  if (isVector(left) && isVector(right)) {
    const [a, b] = [vectorElements(left), vectorElements(right)];
    return a.length - b.length || compareLists(a, b, compareValues);
  }
  const entries = (fields: ValueMap): [string, Value][] =>
    Object.entries(fields).toSorted(([a], [b]) => compareTexts(a, b));
  return compareLists(entries(left), entries(right), ([aKey, aValue], [bKey, bValue]) => {
    return compareTexts(aKey, bKey) || compareValues(aValue, bValue);
  });
}

function vectorElements(fields: ValueMap): readonly Value[] {
  const elements = fields.value?.valueType;
  return elements?.$case === 'arrayValue' ? elements.value.values : [];
}
