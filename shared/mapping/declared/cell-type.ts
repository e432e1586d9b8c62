import type { CellType, PlainCellType, TimeUnit } from './resolved.ts';

/** Types that need no more than their name. */
export const PLAIN_CELL_TYPES: readonly PlainCellType[] = [
  'string',
  'boolean',
  'bytes',
  'int8',
  'int16',
  'int32',
  'int64',
  'float',
  'double',
  'date',
  'time',
  'interval-year-month',
  'interval-day-second',
  'raw',
  'json',
];

/** Digits of the largest SQL decimal. */
const MAX_PRECISION = 38;

const DECIMAL = /^decimal\((\d{1,2}), ?(\d{1,2})\)$/;

/** What a type's text must be, for messages and the reference. */
export const CELL_TYPE_RULE = `must be one of ${PLAIN_CELL_TYPES.join(', ')}, timestamp, decimal(precision,scale)`;

/** Reads a type. `undefined` when it is none, a text when it is one with a bound broken. */
export function parseCellType(
  text: string,
  timestamp: { readonly unit: TimeUnit; readonly truncateToMillis: boolean },
): CellType | string | undefined {
  const plain = PLAIN_CELL_TYPES.find((kind) => kind === text);
  if (plain) return { kind: plain };
  if (text === 'timestamp') return { kind: 'timestamp', ...timestamp };
  const match = DECIMAL.exec(text);
  if (!match) return undefined;
  const [precision, scale] = [Number(match[1]), Number(match[2])];
  if (precision >= 1 && precision <= MAX_PRECISION && scale <= precision) return { kind: 'decimal', precision, scale };
  return `decimal needs a precision from 1 to ${MAX_PRECISION} and a scale from 0 to the precision`;
}
