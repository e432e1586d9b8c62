import { decimalOf, powerOfTen, rescaleExactly } from './decimal.ts';
import { type FieldValue, Instant } from './field-value.ts';

/** How a field says when: a count since the epoch in this unit, or RFC 3339 text with its offset. */
export const TIME_UNITS = ['micros', 'millis', 'seconds', 'rfc3339'] as const;

export type TimeUnit = (typeof TIME_UNITS)[number];

const NANOS_PER_SECOND = 1_000_000_000n;
const SECONDS_PER_DAY = 86_400n;

/** Decimal places from the unit down to a nanosecond. */
const NANO_PLACES = { micros: 3, millis: 6, seconds: 9 } as const;

/** Days since 1970-01-01 in the proleptic Gregorian calendar; undefined for a date that does not exist. */
export function daysOfDate(year: number, month: number, day: number): number | undefined {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const days =
    era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468;
  const back = dateOfDays(days);
  return back.year === year && back.month === month && back.day === day ? days : undefined;
}

/** The date of a count of days since 1970-01-01. */
export function dateOfDays(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

const RFC3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;
const FRACTION_AT = '2026-11-29T22:26:52.'.length;

/**
 * Nanoseconds since the epoch of an RFC 3339 date-time. Undefined for a text without offset, with a date that does not
 * exist, with a leap second, or finer than a nanosecond. The pattern fixes every place, so digits are read where they
 * stand: captures would cost more than the rest.
 */
export function parseRfc3339(text: string): bigint | undefined {
  if (!RFC3339.test(text)) return undefined;
  const days = daysOfDate(digitsAt(text, 0, 4), digitsAt(text, 5, 2), digitsAt(text, 8, 2));
  const [hour, minute, second] = [digitsAt(text, 11, 2), digitsAt(text, 14, 2), digitsAt(text, 17, 2)];
  if (days === undefined || hour > 23 || minute > 59 || second > 59) return undefined;
  const isUtc = text.endsWith('Z') || text.endsWith('z');
  const zoneAt = text.length - (isUtc ? 1 : '+00:00'.length);
  const offsetMinutes = isUtc ? 0 : offsetAt(text, zoneAt);
  if (offsetMinutes === undefined) return undefined;
  const seconds = days * 86_400 + hour * 3600 + (minute - offsetMinutes) * 60 + second;
  const places = Math.max(0, zoneAt - FRACTION_AT);
  const nanos = digitsAt(text, FRACTION_AT, places) * 10 ** (9 - places);
  return BigInt(seconds) * NANOS_PER_SECOND + BigInt(nanos);
}

function offsetAt(text: string, at: number): number | undefined {
  const [hours, minutes] = [digitsAt(text, at + 1, 2), digitsAt(text, at + 4, 2)];
  if (hours > 23 || minutes > 59) return undefined;
  return (text.charAt(at) === '-' ? -1 : 1) * (hours * 60 + minutes);
}

const ZERO = 0x30;

function digitsAt(text: string, from: number, count: number): number {
  let number = 0;
  for (let at = from; at < from + count; at += 1) number = number * 10 + text.charCodeAt(at) - ZERO;
  return number;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** RFC 3339 in UTC with as many digits of a second (0, 3, 6 or 9) as the instant needs. */
export function formatInstant(nanos: bigint): string {
  const ofSecond = ((nanos % NANOS_PER_SECOND) + NANOS_PER_SECOND) % NANOS_PER_SECOND;
  const seconds = (nanos - ofSecond) / NANOS_PER_SECOND;
  const ofDay = Number(((seconds % SECONDS_PER_DAY) + SECONDS_PER_DAY) % SECONDS_PER_DAY);
  const date = formatDate(Number((seconds - BigInt(ofDay)) / SECONDS_PER_DAY));
  const time = `${two(Math.floor(ofDay / 3600))}:${two(Math.floor(ofDay / 60) % 60)}:${two(ofDay % 60)}`;
  const digits = String(ofSecond).padStart(9, '0');
  const places = [0, 3, 6, 9].find((count) => /^0*$/.test(digits.slice(count))) ?? 9;
  return `${date}T${time}${places === 0 ? '' : `.${digits.slice(0, places)}`}Z`;
}

/** `2026-11-29`; years outside 0..9999 get a sign, as ISO 8601 asks. */
export function formatDate(days: number): string {
  const { year, month, day } = dateOfDays(days);
  const sign = year < 0 ? '-' : year > 9999 ? '+' : '';
  return `${sign}${String(Math.abs(year)).padStart(4, '0')}-${two(month)}-${two(day)}`;
}

/**
 * Nanoseconds since the epoch of what a field holds. An instant is taken as it is, since its format declares what it
 * is; everything else is read in the stated unit and in no other. Undefined when it cannot be read so.
 */
export function instantOf(value: FieldValue, unit: TimeUnit): bigint | undefined {
  if (value instanceof Instant) return value.nanos;
  if (unit === 'rfc3339') return typeof value === 'string' ? parseRfc3339(value) : undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value) * powerOfTen(NANO_PLACES[unit]);
  const decimal = decimalOf(value);
  return decimal && rescaleExactly(decimal, NANO_PLACES[unit]);
}

/** The year of an instant in UTC, for messages. */
export const yearOf = (nanos: bigint): number =>
  dateOfDays(Number(floorDivide(nanos, NANOS_PER_SECOND * SECONDS_PER_DAY))).year;

/** Division that rounds towards the past, before the epoch too. */
export function floorDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value % divisor !== 0n && value < 0n ? quotient - 1n : quotient;
}

/** The rule of {@link instantOf} in words, for the message of a refusal. */
export const unitRule = (unit: TimeUnit): string =>
  unit === 'rfc3339' ? 'must be RFC 3339 text with an offset' : `must be a count of ${unit} since the epoch`;
