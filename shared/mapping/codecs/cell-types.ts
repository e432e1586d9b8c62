import type { TimeUnit } from '../values/time.ts';
import { decimalScalar } from './decimals.ts';
import { floatScalar } from './floats.ts';
import { integerScalar } from './integers.ts';
import { jsonScalar } from './json.ts';
import type { Scalar } from './scalar.ts';
import { booleanScalar, bytesScalar, rawScalar, stringScalar } from './text-types.ts';
import { dateScalar, timeScalar, timestampScalar } from './times.ts';

/** What the types need that are more than a name. */
interface Parameters {
  readonly decimal: { readonly precision: number; readonly scale: number };
  readonly timestamp: { readonly unit: TimeUnit; readonly truncateToMillis: boolean };
}

/**
 * Every type of a cell: its name, and what checks and codes its values. The order is that of messages and pages. A new
 * type is a scalar and a line here.
 */
const TYPES = {
  string: { scalar: stringScalar },
  boolean: { scalar: booleanScalar },
  bytes: { scalar: bytesScalar },
  int8: { scalar: integerScalar(1) },
  int16: { scalar: integerScalar(2) },
  int32: { scalar: integerScalar(4) },
  int64: { scalar: integerScalar(8) },
  float: { scalar: floatScalar(4) },
  double: { scalar: floatScalar(8) },
  decimal: {
    scalarOf: ({ precision, scale }: Parameters['decimal']) => decimalScalar(precision, scale),
    written: 'decimal(precision,scale)',
  },
  date: { scalar: dateScalar },
  time: { scalar: timeScalar },
  timestamp: {
    scalarOf: ({ unit, truncateToMillis }: Parameters['timestamp']) => timestampScalar(unit, truncateToMillis),
    written: 'timestamp',
  },
  'interval-year-month': { scalar: integerScalar(4) },
  'interval-day-second': { scalar: integerScalar(8) },
  raw: { scalar: rawScalar, note: 'the bytes as they came' },
  json: { scalar: jsonScalar, note: 'compact JSON of whatever is there' },
} as const;

/** Types that need no more than their name. */
export type PlainCellType = Exclude<keyof typeof TYPES, keyof Parameters>;

/** A type as a mapping declares it. */
export type CellType =
  | { readonly kind: PlainCellType }
  | ({ readonly kind: 'decimal' } & Parameters['decimal'])
  | ({ readonly kind: 'timestamp' } & Parameters['timestamp']);

/** Each type's scalar has its own checked form; only its own functions ever see it. */
export function scalarOf(type: CellType): Scalar<unknown> {
  const scalar =
    type.kind === 'decimal'
      ? TYPES.decimal.scalarOf(type)
      : type.kind === 'timestamp'
        ? TYPES.timestamp.scalarOf(type)
        : TYPES[type.kind].scalar;
  return scalar as Scalar<unknown>;
}

interface TypeFacts {
  readonly scalar?: unknown;
  readonly written?: string;
  readonly note?: string;
}
const ALL: readonly (readonly [name: string, facts: TypeFacts])[] = Object.entries(TYPES);
const PLAIN = ALL.filter(([, facts]) => facts.written === undefined).map(([name]) => name);

/** What a type's text must be, for messages and the reference. */
export const CELL_TYPE_RULE = `must be one of ${PLAIN.join(', ')}, ${TYPES.timestamp.written}, ${TYPES.decimal.written}`;

/** All types in words, for the reference. */
export const CELL_TYPES_IN_WORDS = ALL.map(
  ([name, { written = name, note }]) => `${written}${note === undefined ? '' : ` (${note})`}`,
)
  .join(', ')
  .replace(/, ([^,]*)$/, ' or $1');

/** Digits of the largest SQL decimal. */
const MAX_PRECISION = 38;

const DECIMAL = /^decimal\((\d{1,2}), ?(\d{1,2})\)$/;

/** Reads a type. `undefined` when it is none, a text when it is one with a bound broken. */
export function parseCellType(text: string, timestamp: Parameters['timestamp']): CellType | string | undefined {
  if (text === 'timestamp') return { kind: 'timestamp', ...timestamp };
  if (PLAIN.includes(text)) return { kind: text as PlainCellType };
  const match = DECIMAL.exec(text);
  if (!match) return undefined;
  const [precision, scale] = [Number(match[1]), Number(match[2])];
  if (precision >= 1 && precision <= MAX_PRECISION && scale <= precision) return { kind: 'decimal', precision, scale };
  return `decimal needs a precision from 1 to ${MAX_PRECISION} and a scale from 0 to the precision`;
}
