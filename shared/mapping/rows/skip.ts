import type { ResolvedCondition } from '../declared/resolved.ts';
import { compileField, type DecodedRecord, type Settle } from '../values/fields.ts';
import { type FieldValue, isFieldObject } from '../values/field-value.ts';
import { scalarText } from '../values/scalar-text.ts';

/** Compiles conditions to one question: whether any of them holds. */
export function compileConditions(
  conditions: readonly ResolvedCondition[],
  settle: Settle,
): (record: DecodedRecord) => boolean {
  const tests = conditions.map((condition) => compileCondition(condition, settle));
  return (record) => tests.some((holds) => holds(record));
}

function compileCondition({ field, test }: ResolvedCondition, settle: Settle): (record: DecodedRecord) => boolean {
  const read = compileField(field, settle);
  if (test.kind === 'is') {
    const { state } = test;
    return (record) => isIn(read(record), state);
  }
  const values = new Set(test.values);
  const isAmong = (record: DecodedRecord): boolean => {
    const text = scalarText(read(record) ?? null);
    return text !== undefined && values.has(text);
  };
  return test.kind === 'in' ? isAmong : (record) => !isAmong(record);
}

function isIn(value: FieldValue | undefined, state: 'null' | 'missing' | 'empty'): boolean {
  switch (state) {
    case 'missing':
      return value === undefined;
    case 'null':
      return value === null;
    case 'empty':
      if (typeof value === 'string' || Array.isArray(value) || Buffer.isBuffer(value)) return value.length === 0;
      return isFieldObject(value) && Object.keys(value).length === 0;
  }
}
