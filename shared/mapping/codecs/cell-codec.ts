import type { FieldValue } from '../values/field-value.ts';
import { utf8Text } from './bytes.ts';
import { type CellType, scalarOf } from './cell-types.ts';

/** Between fields and cells of one declared type, both ways. Throws a `RecordError` that names `path` and the rule. */
export interface CellCodec {
  readonly encode: (value: NonNullable<FieldValue>, path: string) => Buffer;
  readonly decode: (bytes: Buffer, path: string) => FieldValue;
  /**
   * What a null is written as: `nullString` for texts, nothing for every other type. A null of bytes therefore reads
   * like empty bytes, which the binary format has always done.
   */
  readonly nullBytes: Buffer;
  /** As `decode`, but the bytes of a null read as null. */
  readonly decodeNullable: (bytes: Buffer, path: string) => FieldValue;
}

/** How a typed value becomes bytes: HBase's binary form, or the UTF-8 text that a person would write. */
export type CellEncoding = 'binary' | 'text';

export interface CellFormat {
  readonly type: CellType;
  readonly encoding: CellEncoding;
  /** The text that a null text is written as; every other type writes an empty value. */
  readonly nullString: string;
}

export function cellCodec({ type, encoding, nullString }: CellFormat): CellCodec {
  const scalar = scalarOf(type);
  const nullBytes = Buffer.from(type.kind === 'string' ? nullString : '', 'utf8');
  const decode =
    encoding === 'binary'
      ? (bytes: Buffer, path: string): FieldValue => scalar.toValue(scalar.fromBytes(bytes, path))
      : (bytes: Buffer, path: string): FieldValue => scalar.toValue(scalar.fromText(utf8Text(bytes, path), path));
  return {
    encode:
      encoding === 'binary'
        ? (value, path) => scalar.toBytes(scalar.check(value, path))
        : (value, path) => Buffer.from(scalar.toText(scalar.check(value, path)), 'utf8'),
    decode,
    nullBytes,
    decodeNullable: (bytes, path) => (bytes.equals(nullBytes) ? null : decode(bytes, path)),
  };
}
