import { RecordError } from '../../base/errors.ts';
import { INVERTED_DIGITS } from '../declared/modifiers.ts';
import type { TemplateModifier, TemplatePart } from '../declared/resolved.ts';
import { parseDecimal, formatDecimal } from '../values/decimal.ts';
import { type FieldValue, Instant, NumberText } from '../values/field-value.ts';
import { formatInstant, parseRfc3339, type TimeUnit } from '../values/time.ts';

/** From the text of a field in a row key back to the field: its modifiers, last to first. Pure. */

type FieldPart = Extract<TemplatePart, { readonly kind: 'field' }>;

/** Decimal places from a unit down to a nanosecond; the finer the unit, the fewer. */
const NANO_PLACES: Readonly<Record<Exclude<TimeUnit, 'rfc3339'>, number>> = { micros: 3, millis: 6, seconds: 9 };

const MAX_INT64 = 2n ** 63n - 1n;

/** The modifier that keeps a field from being read back; undefined where none does. */
export const lossyModifier = ({ modifiers }: FieldPart): TemplateModifier | undefined =>
  modifiers.find((modifier, at) => isLossy(modifier, modifiers[at - 1]));

function isLossy(modifier: TemplateModifier, before: TemplateModifier | undefined): boolean {
  switch (modifier.kind) {
    case 'pad':
    case 'reverse':
    case 'timestamp':
    case 'escape':
    case 'hex':
    case 'number':
      return false;
    case 'inverted':
      // A count in a coarser unit than the field's own has lost digits.
      return (
        before?.kind !== 'timestamp' ||
        before.unit === 'rfc3339' ||
        NANO_PLACES[modifier.unit] > NANO_PLACES[before.unit]
      );
    case 'hash':
    case 'salt':
    case 'utc':
    case 'default':
    case 'lower':
    case 'upper':
      return true;
    default:
      return modifier satisfies never;
  }
}

/** What JSON writes for the field: a text, or a number where its modifier takes numbers alone. Throws a `RecordError`. */
export function fieldOfKey({ field: { label }, modifiers }: FieldPart, text: string): FieldValue {
  let value: string | NumberText | Instant = text;
  for (const modifier of modifiers.toReversed()) value = undone(modifier, value, `row key: ${label}`);
  return value;
}

function undone(modifier: TemplateModifier, value: string | NumberText | Instant, path: string) {
  const text = value instanceof Instant ? formatInstant(value.nanos) : value instanceof NumberText ? value.text : value;
  switch (modifier.kind) {
    case 'pad':
      return numberOf(text, /^\d+$/, path);
    case 'number':
      return numberOf(text, /^-?\d+(?:\.\d+)?$/, path);
    case 'reverse': {
      const { separator } = modifier;
      return separator === ''
        ? Array.from(text).toReversed().join('')
        : text.split(separator).toReversed().join(separator);
    }
    case 'escape':
      return unescaped(text, path);
    case 'hex': {
      const bytes = Buffer.from(text, 'hex');
      const plain = bytes.toString('utf8');
      if (bytes.toString('hex') === text && Buffer.from(plain).equals(bytes)) return plain;
      throw new RecordError(`${path} must be the hexadecimal digits of UTF-8, got others`);
    }
    case 'inverted': {
      if (text.length !== INVERTED_DIGITS || !/^\d+$/.test(text)) {
        throw new RecordError(`${path} must be ${INVERTED_DIGITS} digits, got others`);
      }
      return new Instant((MAX_INT64 - BigInt(text)) * 10n ** BigInt(nanoPlaces(modifier.unit)));
    }
    case 'timestamp': {
      const nanos = value instanceof Instant ? value.nanos : parseRfc3339(text);
      if (nanos === undefined) throw new RecordError(`${path} must be a time of RFC 3339, got another text`);
      return modifier.unit === 'rfc3339' ? formatInstant(nanos) : new NumberText(countIn(modifier.unit, nanos));
    }
    default:
      throw new TypeError(`${path}: the modifier ${modifier.kind} cannot be read backwards`);
  }
}

const nanoPlaces = (unit: TimeUnit): number => (unit === 'rfc3339' ? 0 : NANO_PLACES[unit]);

/** A count since the epoch, with as many decimal places as it needs. */
export function countIn(unit: Exclude<TimeUnit, 'rfc3339'>, nanos: bigint): string {
  const text = formatDecimal({ unscaled: nanos, scale: NANO_PLACES[unit] });
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

function numberOf(text: string, shape: RegExp, path: string): NumberText {
  const decimal = shape.test(text) ? parseDecimal(text) : undefined;
  if (!decimal) throw new RecordError(`${path} must be a number, got another text`);
  return new NumberText(formatDecimal(decimal));
}

/** The text whose characters were percent-encoded. The sign itself always is. */
export function unescaped(text: string, path: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RecordError(`${path} must have two hexadecimal digits behind each "%", got others`);
  }
}
