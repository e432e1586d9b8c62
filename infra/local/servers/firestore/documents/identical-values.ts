import type { Value } from '../../../../../shared/proto/google/firestore/v1/document.ts';
import type { Fields } from './document.ts';
import { compareValues } from './value-order.ts';

/**
 * Whether two lots of fields are the same to the last bit. Stricter than the order of values, for which 1 and 1.0 are
 * equal: a write that changes a type changes the document. Pure.
 */
export function identicalFields(left: Fields, right: Fields): boolean {
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => Object.hasOwn(right, name) && identicalValues(left[name]!, right[name]!));
}

function identicalValues(left: Value, right: Value): boolean {
  const a = left.valueType;
  const b = right.valueType;
  if (a === b) return true;
  if (a?.$case !== b?.$case) return false;
  if (a?.$case === 'doubleValue' && b?.$case === 'doubleValue') return Object.is(a.value, b.value);
  if (a?.$case === 'mapValue' && b?.$case === 'mapValue') return identicalFields(a.value.fields, b.value.fields);
  if (a?.$case === 'arrayValue' && b?.$case === 'arrayValue') {
    const others = b.value.values;
    return (
      a.value.values.length === others.length &&
      a.value.values.every((element, at) => identicalValues(element, others[at]!))
    );
  }
  return compareValues(left, right) === 0;
}
