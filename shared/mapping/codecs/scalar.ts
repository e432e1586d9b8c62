import type { FieldValue } from '../values/field-value.ts';

/**
 * One type of a cell. `Value` is its checked form, between the record and the bytes. Binary forms are those of
 * HBase's `Bytes`, so that its readers, Flink's connector and BigQuery's external tables read what is written here.
 * Every function throws a `RecordError` that names `path` and the rule.
 */
export interface Scalar<Value> {
  /** Takes what a field holds, in the type's range and without loss. */
  readonly check: (value: FieldValue, path: string) => Value;
  /** Bytes of the binary form of every value, for types whose readers elsewhere take a prefix of what is longer. */
  readonly width?: number;
  readonly toBytes: (value: Value) => Buffer;
  readonly fromBytes: (bytes: Buffer, path: string) => Value;
  readonly toText: (value: Value) => string;
  readonly fromText: (text: string, path: string) => Value;
  /** The form that readers of cells get; `check` takes it back. */
  readonly toValue: (value: Value) => FieldValue;
}
