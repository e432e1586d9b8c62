import { expect } from 'vitest';

/** Expects the message, whose type keeps unknown fields, to hold exactly these fields and no unknown one. */
export function expectFields(message: unknown, fields: unknown): void {
  expect(withoutEmptyUnknown(message)).toEqual(fields);
}

function withoutEmptyUnknown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmptyUnknown);
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, inner]) => name !== '_unknownFields' || Object.keys(inner as object).length > 0)
      .map(([name, inner]) => [name, withoutEmptyUnknown(inner)]),
  );
}
