import type { Document, Value } from '../../../../../shared/proto/google/firestore/v1/document.ts';
import type { Timestamp } from '../../../../../shared/proto/google/protobuf/timestamp.ts';
import { timestampOfMicros } from '../../rpc/proto-time.ts';
import type { FieldPath } from './field-path.ts';

export type Fields = Readonly<Record<string, Value>>;

/** A version of a document. Immutable: a write replaces it, so a reader that holds one keeps what it saw. */
export interface StoredDocument {
  /** `projects/p/databases/d/documents/…`. */
  readonly name: string;
  readonly fields: Fields;
  readonly createTimeMicros: bigint;
  readonly updateTimeMicros: bigint;
}

/** The value at a path; undefined where there is none. */
export function fieldAt(fields: Fields, path: FieldPath): Value | undefined {
  let here: Fields = fields;
  for (const [depth, key] of path.entries()) {
    const value = Object.hasOwn(here, key) ? here[key] : undefined;
    if (depth === path.length - 1 || value === undefined) return value;
    if (value.valueType?.$case !== 'mapValue') return undefined;
    here = value.valueType.value.fields;
  }
  return undefined;
}

/** The fields with this value at the path, or without one for undefined. What is on the way and is no map becomes one. */
export function withFieldAt(fields: Fields, path: FieldPath, value: Value | undefined): Fields {
  const [key, ...rest] = path;
  if (key === undefined) return fields;
  if (rest.length > 0) {
    const inner = fieldAt(fields, [key])?.valueType;
    if (inner?.$case !== 'mapValue' && value === undefined) return fields;
    const innerFields = withFieldAt(inner?.$case === 'mapValue' ? inner.value.fields : {}, rest, value);
    return { ...fields, [key]: { valueType: { $case: 'mapValue', value: { fields: { ...innerFields } } } } };
  }
  if (value !== undefined) return { ...fields, [key]: value };
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== key));
}

/** Only what lies at these paths. */
export function maskedFields(fields: Fields, paths: readonly FieldPath[]): Fields {
  let masked: Fields = {};
  for (const path of paths) {
    const value = fieldAt(fields, path);
    if (value) masked = withFieldAt(masked, path, value);
  }
  return masked;
}

/** A document as answers carry it; only the fields at the paths where a mask says so. */
export function documentMessage(document: StoredDocument, mask?: readonly FieldPath[]): Document {
  return {
    name: document.name,
    fields: mask ? maskedFields(document.fields, mask) : document.fields,
    createTime: timestampOfMicros(document.createTimeMicros),
    updateTime: timestampOfMicros(document.updateTimeMicros),
  };
}

export const timestampValue = (value: Timestamp): Value => ({ valueType: { $case: 'timestampValue', value } });

/** The same instant in the whole microseconds that are stored. */
export const storedTimestamp = ({ seconds, nanos }: Timestamp): Timestamp => ({
  seconds,
  nanos: nanos - (nanos % 1000),
});
