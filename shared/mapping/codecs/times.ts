import { type FieldValue, Instant, refuseValue } from '../values/field-value.ts';
import {
  daysOfDate,
  floorDivide,
  formatDate,
  formatInstant,
  instantOf,
  parseRfc3339,
  type TimeUnit,
  unitRule,
} from '../values/time.ts';
import { integerScalar } from './integers.ts';
import type { Scalar } from './scalar.ts';

const NANOS_PER_MILLI = 1_000_000n;
const MILLIS_PER_DAY = 86_400_000n;
const int32 = integerScalar(4);
const int64 = integerScalar(8);

const DATE = /^([+-]?\d{4,7})-(\d\d)-(\d\d)$/;

/** A day: ISO text or a count of days since the epoch; 4 bytes. */
export const dateScalar: Scalar<bigint> = {
  ...int32,
  check: checkDate,
  toText: (days) => formatDate(Number(days)),
  fromText: checkDate,
  toValue: (days) => formatDate(Number(days)),
};

function checkDate(value: FieldValue, path: string): bigint {
  if (typeof value !== 'string') return int32.check(value, path);
  const [, year = '', month = '', day = ''] = DATE.exec(value) ?? [];
  const days = year === '' ? undefined : daysOfDate(Number(year), Number(month), Number(day));
  return days === undefined ? refuseValue(path, 'must be a date, YYYY-MM-DD', value) : int32.check(days, path);
}

const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?$/;

/** A time of day: ISO text or a count of milliseconds since midnight; 4 bytes of milliseconds. */
export const timeScalar: Scalar<bigint> = {
  ...int32,
  check: checkTime,
  toText: formatTime,
  fromText: checkTime,
  toValue: formatTime,
};

function checkTime(value: FieldValue, path: string): bigint {
  const millis = typeof value === 'string' ? millisOfTime(value) : int32.check(value, path);
  const rule = 'must be a time of day with milliseconds at most, HH:MM:SS.mmm';
  return millis === undefined || millis < 0n || millis >= MILLIS_PER_DAY ? refuseValue(path, rule, value) : millis;
}

function millisOfTime(text: string): bigint | undefined {
  // A date in front lets the one reader of clock times decide.
  if (!TIME.test(text)) return undefined;
  const nanos = parseRfc3339(`1970-01-01T${text}Z`);
  return nanos === undefined || nanos % NANOS_PER_MILLI !== 0n ? undefined : nanos / NANOS_PER_MILLI;
}

function formatTime(millis: bigint): string {
  const text = formatInstant(millis * NANOS_PER_MILLI);
  return text.slice('1970-01-01T'.length, -1);
}

/**
 * TIMESTAMP(3): 8 bytes of milliseconds since the epoch. `unit` says how the field counts. Finer than a millisecond is
 * refused, or truncated towards the past where that was asked for.
 */
export function timestampScalar(unit: TimeUnit, truncateToMillis: boolean): Scalar<bigint> {
  const checkIn = (value: FieldValue, path: string, as: TimeUnit): bigint => {
    const nanos = instantOf(value, as);
    if (nanos === undefined) return refuseValue(path, unitRule(as), value);
    const millis = floorDivide(nanos, NANOS_PER_MILLI);
    if (!truncateToMillis && millis * NANOS_PER_MILLI !== nanos) {
      return refuseValue(path, 'must not be finer than a millisecond (truncateToMillis drops the rest)', value);
    }
    return int64.check(millis, path);
  };
  return {
    ...int64,
    check: (value, path) => checkIn(value, path, unit),
    toText: (millis) => formatInstant(millis * NANOS_PER_MILLI),
    fromText: (text, path) => checkIn(text, path, 'rfc3339'),
    toValue: (millis) => new Instant(millis * NANOS_PER_MILLI),
  };
}
