import * as z from 'zod';
import {
  DURATION_PATTERN,
  MAX_DURATION_MILLIS,
  SIZE_PATTERN,
  formatDuration,
  parseDuration,
  parseSize,
} from './units.ts';

/**
 * The words in which options are declared. Each maker takes the sentence that explains the option, its default and its
 * bounds, and gives a zod schema: one declaration is the check, the editor's JSON Schema and the reference table.
 */

/** What the reference table says of an option besides its description. */
export interface OptionFacts {
  readonly type: string;
  /** As a person would write it; absent where there is none. */
  readonly default?: string;
  readonly bounds?: string;
  readonly isRequired?: boolean;
}

export const optionFacts = z.registry<OptionFacts>();

/** Registers the facts of an option and writes its sentence into the JSON Schema. */
export function declare<Schema extends z.ZodType>(schema: Schema, about: string, facts: OptionFacts): Schema {
  const described = schema.meta({ description: about });
  optionFacts.add(described, facts);
  return described;
}

/** The message of an absent value is not that of a wrong one. */
export const ruled = (rule: string) => ({
  error: (issue: { readonly input: unknown }) => (issue.input === undefined ? `is required and ${rule}` : rule),
});

const grouped = (value: number): string => value.toLocaleString('en-US');
const list = (values: readonly string[]): string => values.map((value) => JSON.stringify(value)).join(', ');

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
  const schema = measured(DURATION, example, bounds, (millis, rule) => {
    if (millis > MAX_DURATION_MILLIS) return 'must be a duration of at most 2^63-1 nanoseconds (about 292 years)';
    return isWithin(range, millis) && millis % multiple === 0 ? undefined : rule;
  });
  return { schema, bounds };
}

/** A number of bytes with its unit; bytes once parsed. */
export function size(about: string, { default: fallback, ...range }: Range & { readonly default: string }) {
  const bounds = rangeText(range, (bytes) => `${grouped(bytes)} B`);
  const schema = measured(SIZE, fallback, bounds, (bytes, rule) =>
    isWithin(range, bytes) && Number.isSafeInteger(bytes) ? undefined : rule,
  );
  return declare(schema.prefault(fallback), about, { type: 'size', default: fallback, bounds });
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

function measured(
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
      if (value !== undefined && broken === undefined) return value;
      context.addIssue({ code: 'custom', message: broken ?? rule });
      return z.NEVER;
    });
}

export function flag(about: string, fallback: boolean) {
  const schema = z.boolean(ruled('must be true or false')).prefault(fallback);
  return declare(schema, about, { type: 'boolean', default: String(fallback) });
}

/** One of a few words, matched exactly. */
export function choice<const Values extends readonly [string, ...string[]]>(
  about: string,
  values: Values,
  fallback: Values[number],
) {
  const bounds = list(values);
  const schema = z
    .enum(values, ruled(`must be one of ${bounds}`))
    .prefault(fallback as z.util.NoUndefined<Values[number]>);
  return declare(schema, about, { type: 'choice', default: fallback, bounds });
}

/** A text that passes `problemOf`, which says what is wrong or undefined. */
export function text(about: string, problemOf: (value: string) => string | undefined, bounds?: string) {
  const schema = z.string(ruled('must be a text')).check((context) => {
    const rule = problemOf(context.value);
    if (rule !== undefined) context.issues.push({ code: 'custom', message: rule, input: context.value });
  });
  return declare(schema, about, { type: 'text', isRequired: true, ...(bounds !== undefined && { bounds }) });
}

/** The same text where there is one to fall back to. */
export function withDefault(schema: z.ZodString, fallback: string) {
  const facts = optionFacts.get(schema) ?? { type: 'text' };
  return declare(schema.prefault(fallback), schema.description ?? '', {
    ...facts,
    isRequired: false,
    default: fallback,
  });
}

/** The same option where it may be left out. */
export function optional<Schema extends z.ZodType>(schema: Schema): z.ZodOptional<Schema> {
  const facts = optionFacts.get(schema) ?? { type: 'section' };
  return declare(schema.optional(), schema.description ?? '', { ...facts, isRequired: false });
}

export const notBlank = (value: string): string | undefined => (value.trim() === '' ? 'must not be blank' : undefined);

function millisOf(text: string): number {
  const millis = parseDuration(text);
  if (millis === undefined) throw new TypeError(`a bound is declared as ${text}, which is not a duration`);
  return millis;
}
