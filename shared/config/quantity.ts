import * as z from 'zod';
import { declare, optionFacts, type Output, ruled } from './option.ts';
import {
  DURATION_PATTERN,
  MAX_DURATION_MILLIS,
  SIZE_PATTERN,
  formatDuration,
  parseDuration,
  parseSize,
} from './units.ts';

/** Options that are quantities: counts, sizes in bytes, durations in milliseconds. */

const grouped = (value: number): string => value.toLocaleString('en-US');

interface Range {
  readonly min: number;
  readonly max?: number;
}

const isWithin = ({ min, max }: Range, value: number): boolean => value >= min && (max === undefined || value <= max);

const rangeText = ({ min, max }: Range, format: (value: number) => string): string =>
  max === undefined ? `at least ${format(min)}` : `from ${format(min)} to ${format(max)}`;

/** A whole number. `unlimited` also takes −1. */
export function count(about: string, range: Range & { readonly default: number; readonly unlimited?: true }) {
  const { min, max = Number.MAX_SAFE_INTEGER } = range;
  const bounds = `${rangeText(range, grouped)}${range.unlimited ? ', or -1 for no limit' : ''}`;
  const rule = ruled(`must be a whole number, ${bounds}`);
  const whole = z.int(rule).min(min, rule).max(max, rule);
  const schema = range.unlimited ? z.union([z.literal(-1, rule), whole], rule) : whole;
  return declare(schema.prefault(range.default), about, { type: 'number', default: String(range.default), bounds });
}

interface DurationRange {
  readonly min: string;
  readonly max?: string;
  /** Only multiples of this. */
  readonly step?: string;
}

/** A duration with its unit; milliseconds once parsed. Never longer than 2^63 − 1 ns. */
export function duration(about: string, { default: fallback, ...range }: DurationRange & { readonly default: string }) {
  const { schema, bounds } = durationWithin(range, fallback);
  return declare(schema.prefault(fallback), about, { type: 'duration', default: fallback, bounds });
}

/** A duration that has no default; `example` shows how one is written. */
export function requiredDuration(about: string, { example, ...range }: DurationRange & { readonly example: string }) {
  const { schema, bounds } = durationWithin(range, example);
  return declare(schema, about, { type: 'duration', bounds, isRequired: true });
}

function durationWithin({ min, max, step = '1ms' }: DurationRange, example: string) {
  const range = { min: millisOf(min), ...(max !== undefined && { max: millisOf(max) }) };
  const multiple = millisOf(step);
  const isWhole = multiple === 1 ? '' : `, a multiple of ${step}`;
  const bounds = `${rangeText(range, formatDuration)}${isWhole}`;
  const schema = measured<Millis>(DURATION, example, bounds, (millis, rule) => {
    if (millis > MAX_DURATION_MILLIS) return 'must be a duration of at most 2^63-1 nanoseconds (about 292 years)';
    return isWithin(range, millis) && millis % multiple === 0 ? undefined : rule;
  });
  return { schema, bounds };
}

/** A number of bytes with its unit; bytes once parsed. */
export function size(about: string, { default: fallback, ...range }: Range & { readonly default: string }) {
  const { schema, bounds } = sizeWithin(range, fallback);
  return declare(schema.prefault(fallback), about, { type: 'size', default: fallback, bounds });
}

/** A size that an instance finds for itself where it is not set; `found` says how, `example` shows how one is written. */
export function foundSize(
  about: string,
  { example, found, ...range }: Range & { readonly example: string; readonly found: string },
) {
  const { schema, bounds } = sizeWithin(range, example);
  return declare(schema.optional(), about, { type: 'size', default: found, bounds });
}

function sizeWithin(range: Range, example: string) {
  const bounds = rangeText(range, (bytes) => `${grouped(bytes)} B`);
  const schema = measured<number>(SIZE, example, bounds, (bytes, rule) =>
    isWithin(range, bytes) && Number.isSafeInteger(bytes) ? undefined : rule,
  );
  return { schema, bounds };
}

/** A quantity that is written with its unit. */
interface Measure {
  readonly type: 'duration' | 'size';
  readonly pattern: RegExp;
  readonly units: string;
  /** What a bare number could have meant. */
  readonly likelyUnits: readonly [string, string];
  readonly parse: (text: string) => number | undefined;
}

const DURATION: Measure = {
  type: 'duration',
  pattern: DURATION_PATTERN,
  units: 'ms, s, m, h, d',
  likelyUnits: ['ms', 's'],
  parse: parseDuration,
};

const SIZE: Measure = {
  type: 'size',
  pattern: SIZE_PATTERN,
  units: 'B, KiB, MiB, GiB, kB, MB, GB',
  likelyUnits: ['B', 'KiB'],
  parse: parseSize,
};

function measured<Value extends number>(
  { type, pattern, units, likelyUnits: [small, usual], parse }: Measure,
  example: string,
  bounds: string,
  brokenRule: (value: number, rule: string) => string | undefined,
) {
  const rule = `must be a ${type}, ${bounds}, written as a whole number and its unit (${units}) such as "${example}"`;
  const error = ({ input }: { readonly input: unknown }): string =>
    /^[0-9]+$/.test(String(input))
      ? `must be a ${type} with its unit, such as "${String(input)}${small}" or "${String(input)}${usual}"`
      : rule;
  return z
    .string({ error })
    .regex(pattern, { error })
    .transform((text, context) => {
      const value = parse(text);
      const broken = value === undefined ? rule : brokenRule(value, rule);
      if (value !== undefined && broken === undefined) return value as Value;
      context.addIssue({ code: 'custom', message: broken ?? rule });
      return z.NEVER;
    });
}

function millisOf(text: string): number {
  const millis = parseDuration(text);
  if (millis === undefined) throw new TypeError(`a bound is declared as ${text}, which is not a duration`);
  return millis;
}

declare const unit: unique symbol;

/** A number of milliseconds. The mark is for the types alone: it tells what was declared as a duration. */
export type Millis = number & { readonly [unit]: 'ms' };

/** Options under the names that functions know them by: a duration says its unit. */
export type InMillis<Values> = {
  readonly [
    Name in keyof Values as Name extends string
      ? NonNullable<Values[Name]> extends Millis
        ? `${Name}Millis`
        : Name
      : never
  ]: NonNullable<Values[Name]> extends Millis ? number : Exclude<Values[Name], undefined>;
};

/** Of what was read, the options of one declaration, as functions run by them: `linger` is `lingerMillis`. */
export function inMillis<Shape extends z.ZodRawShape>(
  shape: Shape,
  values: Readonly<Output<Shape>>,
): InMillis<Output<Shape>> {
  const read = Object.entries(shape).flatMap(([name, schema]) => {
    const value = (values as Readonly<Record<string, unknown>>)[name];
    if (value === undefined) return [];
    const isDuration = optionFacts.get(schema)?.type === 'duration';
    return [[isDuration ? `${name}Millis` : name, value] as const];
  });
  return Object.fromEntries(read) as InMillis<Output<Shape>>;
}
