import { RecordError } from '../../base/errors.ts';
import { utf8Text } from '../codecs/bytes.ts';
import type { CellFormat } from '../codecs/cell-codec.ts';
import { type CellType, scalarOf } from '../codecs/cell-types.ts';
import { jsonScalar } from '../codecs/json.ts';
import type { NullMode } from '../declared/write-modes.ts';
import { formatInstant, type TimeUnit, yearOf } from '../values/time.ts';
import { countIn } from './key-part.ts';

/** Bytes of cells as the JSON that the mapping reads the same bytes from. Pure. */

/** What becomes of bytes behind a value of fixed width: they are ignored, as HBase does, or the row is refused. */
export type TrailingBytes = 'ignore' | 'reject';

/** The JSON text of a value. Throws a `RecordError` that names the path, the rule and how many bytes there were. */
export type CellText = (bytes: Buffer, path: string) => string;

/** Types whose values may have no byte at all. */
const MAY_BE_EMPTY: ReadonlySet<CellType['kind']> = new Set(['string', 'bytes', 'raw']);

/**
 * As {@link cellText}, with nulls. Under `encode` the bytes of a null are null. Where nulls leave no cell an empty one is
 * null, unless it is a value of the type; where they are refused it is a value or an error.
 */
export function nullableCellText(format: CellFormat, onNull: NullMode, trailing: TrailingBytes): CellText {
  const { type, nullString } = format;
  const text = cellText(format, trailing);
  if (onNull === 'reject') return text;
  if (onNull !== 'encode') {
    return MAY_BE_EMPTY.has(type.kind) ? text : (bytes, path) => (bytes.length === 0 ? 'null' : text(bytes, path));
  }
  const nullBytes = Buffer.from(type.kind === 'string' ? nullString : '');
  return (bytes, path) => (bytes.equals(nullBytes) ? 'null' : text(bytes, path));
}

export function cellText({ type, encoding }: Pick<CellFormat, 'type' | 'encoding'>, trailing: TrailingBytes): CellText {
  const scalar = scalarOf(type);
  const width = trailing === 'ignore' ? scalar.width : undefined;
  const write = writerOf(type);
  const read =
    encoding === 'text'
      ? (bytes: Buffer, path: string): unknown => scalar.fromText(utf8Text(bytes, path), path)
      : (bytes: Buffer, path: string): unknown =>
          scalar.fromBytes(width !== undefined && bytes.length > width ? bytes.subarray(0, width) : bytes, path);
  return (bytes, path) => {
    try {
      return write(read(bytes, path), path);
    } catch (error) {
      if (!(error instanceof RecordError)) throw error;
      const hint = `the value has ${bytes.length} bytes, and another encoding may have written it`;
      throw new RecordError(`${error.message}; ${hint}`, { cause: error });
    }
  };
}

/** From the checked form of a type to JSON. */
function writerOf(type: CellType): (value: unknown, path: string) => string {
  const scalar = scalarOf(type);
  switch (type.kind) {
    case 'json':
      // Its checked form is compact JSON already.
      return (value) => value as string;
    case 'raw':
      // JSON says bytes of this type as the text that they are.
      return (value, path) => JSON.stringify(utf8Text(value as Buffer, path));
    case 'timestamp':
      return (value, path) => instantText(type.unit, (value as bigint) * 1_000_000n, path);
    case 'time':
      // Four bytes may hold more than a day.
      return (value, path) => jsonScalar.check(scalar.toValue(scalar.check(value as bigint, path)), path);
    case 'float':
    case 'double':
      return (value, path) => (Object.is(value, -0) ? '-0' : jsonScalar.check(value as number, path));
    default:
      return (value, path) => jsonScalar.check(scalar.toValue(value), path);
  }
}

/** An instant as a field of this unit says it. */
export function instantText(unit: TimeUnit, nanos: bigint, path: string): string {
  if (unit !== 'rfc3339') return countIn(unit, nanos);
  const year = yearOf(nanos);
  if (year >= 0 && year <= 9999) return `"${formatInstant(nanos)}"`;
  throw new RecordError(`${path}: must be of the years 0 to 9999, which RFC 3339 has, got the year ${year}`);
}
