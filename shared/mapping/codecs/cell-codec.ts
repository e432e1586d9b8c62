import type { CellFormat, CellType } from '../declared/resolved.ts';
import type { FieldValue } from '../values/field-value.ts';
import { utf8Text } from './bytes.ts';
import { decimalScalar } from './decimals.ts';
import { floatScalar } from './floats.ts';
import { integerScalar } from './integers.ts';
import { jsonScalar } from './json.ts';
import type { Scalar } from './scalar.ts';
import { booleanScalar, bytesScalar, rawScalar, stringScalar } from './text-types.ts';
import { dateScalar, timeScalar, timestampScalar } from './times.ts';

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

export function cellCodec({ type, encoding, nullString }: CellFormat): CellCodec {
  const nullBytes = Buffer.from(type.kind === 'string' ? nullString : '', 'utf8');
  return withScalar(type, (scalar) => {
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
  });
}

/** Each type's scalar has its own checked form; only its own functions ever see it. */
function withScalar<Result>(type: CellType, use: <Value>(scalar: Scalar<Value>) => Result): Result {
  switch (type.kind) {
    case 'string':
      return use(stringScalar);
    case 'boolean':
      return use(booleanScalar);
    case 'bytes':
      return use(bytesScalar);
    case 'raw':
      return use(rawScalar);
    case 'json':
      return use(jsonScalar);
    case 'int8':
      return use(integerScalar(1));
    case 'int16':
      return use(integerScalar(2));
    case 'int32':
    case 'interval-year-month':
      return use(integerScalar(4));
    case 'int64':
    case 'interval-day-second':
      return use(integerScalar(8));
    case 'float':
      return use(floatScalar(4));
    case 'double':
      return use(floatScalar(8));
    case 'date':
      return use(dateScalar);
    case 'time':
      return use(timeScalar);
    case 'decimal':
      return use(decimalScalar(type.precision, type.scale));
    case 'timestamp':
      return use(timestampScalar(type.unit, type.truncateToMillis));
  }
}
