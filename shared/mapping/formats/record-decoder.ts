import type { InputRecord } from '../../model/record.ts';
import type { FieldValue } from '../values/field-value.ts';

/** Turns the bytes of a record into a tree of fields. */
export interface RecordDecoder {
  /** Throws a `RecordError` for bytes that are no record of the format; its message quotes none of them. */
  readonly decode: (record: InputRecord) => FieldValue;
  /** Gives the value of a part of the tree; only what a mapping reads is paid for. */
  readonly settle: (value: FieldValue) => FieldValue;
}
