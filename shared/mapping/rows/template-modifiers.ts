import { createHash } from 'node:crypto';
import { RecordError } from '../../base/errors.ts';
import { INVERTED_DIGITS, saltWidth } from '../declared/modifiers.ts';
import type { CalendarUnit, TemplateModifier } from '../declared/resolved.ts';
import { wellFormedText } from '../codecs/bytes.ts';
import { decimalOf, formatDecimal, integerOf } from '../values/decimal.ts';
import { type FieldValue, Instant, NumberText, refuseValue } from '../values/field-value.ts';
import { floorDivide, formatInstant, instantOf, type TimeUnit, unitRule, yearOf } from '../values/time.ts';

/** What a field is on its way through the modifiers: its value, and in the end a text. */
type Step = (value: NonNullable<FieldValue>, path: string) => NonNullable<FieldValue>;

/** 0000-01-01T00:00:00Z and the last nanosecond of 9999: every slice of a time between them has its width. */
const MIN_NANOS = -62_167_219_200_000_000_000n;
const MAX_NANOS = 253_402_300_799_999_999_999n;

const MAX_INT64 = 2n ** 63n - 1n;

const NANOS_PER: Readonly<Record<Exclude<TimeUnit, 'rfc3339'>, bigint>> = {
  micros: 1000n,
  millis: 1_000_000n,
  seconds: 1_000_000_000n,
};

/** How much of `2026-11-29T22:26:52Z` each unit shows. */
const SHOWN: Readonly<Record<CalendarUnit, number>> = {
  year: '2026'.length,
  month: '2026-11'.length,
  day: '2026-11-29'.length,
  hour: '2026-11-29T22'.length,
};

/** The text of a value in a key or a name. Refuses what has no one text: null, bytes, lists and objects. */
export function templateText(value: FieldValue, path: string): string {
  if (typeof value === 'string') return wellFormedText(value, path);
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (value instanceof NumberText) return value.text;
  if (value instanceof Instant) return formatInstant(value.nanos);
  return refuseValue(path, 'must be a text, a number, a boolean or an instant (hex renders bytes)', value);
}

/** Compiles one modifier. `default` is not among them: it is about values that are not there. */
export function compileModifier(modifier: Exclude<TemplateModifier, { kind: 'default' }>): Step {
  switch (modifier.kind) {
    case 'pad':
      return (value, path) => padded(value, modifier.width, path);
    case 'hash':
      return (value, path) => digest(value, path).toString('hex').slice(0, modifier.digits);
    case 'salt': {
      const width = saltWidth(modifier.buckets);
      return (value, path) =>
        String(digest(value, path).readUIntBE(0, SALT_BYTES) % modifier.buckets).padStart(width, '0');
    }
    case 'reverse':
      return (value, path) => reversed(templateText(value, path), modifier.separator);
    case 'timestamp':
      return (value, path) => {
        const nanos = instantOf(value, modifier.unit);
        if (nanos === undefined) return refuseValue(path, unitRule(modifier.unit), value);
        if (nanos >= MIN_NANOS && nanos <= MAX_NANOS) return new Instant(nanos);
        throw new RecordError(
          `${path}: must be an instant of the years 0 to 9999, got one of the year ${yearOf(nanos)}; is it a count in another unit?`,
        );
      };
    case 'inverted':
      return (value, path) => inverted(value, NANOS_PER[modifier.unit], path);
    case 'utc':
      return (value, path) => templateText(value, path).slice(0, SHOWN[modifier.unit]);
    case 'escape':
      return escaper(modifier.characters);
    case 'hex':
      return (value, path) =>
        (Buffer.isBuffer(value) ? value : Buffer.from(templateText(value, path), 'utf8')).toString('hex');
    case 'number':
      return canonicalNumber;
    case 'lower':
      return (value, path) => templateText(value, path).toLowerCase();
    case 'upper':
      return (value, path) => templateText(value, path).toUpperCase();
  }
}

/** One text for equal numbers, however they were written: `1`, `1.0` and `1e0` are `1`. */
function canonicalNumber(value: FieldValue, path: string): string {
  const decimal = decimalOf(value);
  if (!decimal) return refuseValue(path, 'must be a number', value);
  const text = formatDecimal(decimal);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** Bytes of the digest that choose a bucket: all that a double can hold. */
const SALT_BYTES = 6;

/** SHA-256, because a bucket must be the same in every process and every language. */
const digest = (value: NonNullable<FieldValue>, path: string): Buffer =>
  createHash('sha256')
    .update(Buffer.isBuffer(value) ? value : templateText(value, path))
    .digest();

function padded(value: FieldValue, width: number, path: string): string {
  const integer = typeof value === 'number' && Number.isSafeInteger(value) ? value : integerOf(value);
  const digits = integer === undefined || integer < 0 ? undefined : integer.toString();
  if (digits !== undefined && digits.length <= width) return digits.padStart(width, '0');
  // A longer number would sort before shorter ones, a negative one before none.
  return refuseValue(path, `must be an integer from 0 with at most ${width} digits`, value);
}

function reversed(text: string, separator: string): string {
  return separator === '' ? Array.from(text).reverse().join('') : text.split(separator).reverse().join(separator);
}

/** The larger the instant, the smaller the text: newest rows first. Always 19 digits. */
function inverted(value: FieldValue, nanosPerUnit: bigint, path: string): string {
  const count = value instanceof Instant ? floorDivide(value.nanos, nanosPerUnit) : undefined;
  if (count !== undefined && count >= 0n && count <= MAX_INT64) {
    return String(MAX_INT64 - count).padStart(INVERTED_DIGITS, '0');
  }
  return refuseValue(path, 'must be an instant from the epoch on', value);
}

/** Percent-encodes the given characters and the percent sign itself, so that decoding is unambiguous. */
export function escaper(characters: string): (value: NonNullable<FieldValue>, path: string) => string {
  const escaped = new Set(characters).add('%');
  return (value, path) => {
    let text = '';
    for (const character of templateText(value, path)) text += escaped.has(character) ? percent(character) : character;
    return text;
  };
}

const percent = (character: string): string =>
  [...Buffer.from(character, 'utf8')].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
