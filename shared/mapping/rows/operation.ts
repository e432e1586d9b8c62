import type { ResolvedOperation, RowOperation } from '../declared/resolved.ts';
import { compileField, type DecodedRecord, type Settle } from '../values/fields.ts';
import { refuseValue } from '../values/field-value.ts';
import { scalarText } from '../values/scalar-text.ts';

/** Compiles the operation field. A value that the mapping does not list is refused, never taken for a write or a delete. */
export function compileOperation(
  { field, values, onMissing }: ResolvedOperation,
  settle: Settle,
): (record: DecodedRecord) => RowOperation {
  const read = compileField(field, settle);
  const operations = new Map(Object.entries(values));
  return (record) => {
    const value = read(record);
    if (value === null || value === undefined) {
      return onMissing === 'write' ? { kind: 'write' } : refuseValue(field.label, 'must be there and not null', value);
    }
    const text = scalarText(value);
    const operation = text === undefined ? undefined : operations.get(text);
    return operation ?? refuseValue(field.label, 'must be one of the values of the operation', value);
  };
}
