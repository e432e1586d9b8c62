import { TIME_UNITS } from '../values/time.ts';
import type { CalendarUnit, TemplateModifier } from './resolved.ts';
import { SyntaxProblem } from './syntax.ts';

/** One modifier as written: `pad:12` has the name `pad` and the argument `12`. */
export interface WrittenModifier {
  readonly name: string;
  readonly argument: string | undefined;
  /** Where its name starts. */
  readonly at: number;
}

const COUNTED_UNITS = ['micros', 'millis', 'seconds'] as const;
const CALENDAR_UNITS: readonly CalendarUnit[] = ['year', 'month', 'day', 'hour'];

/** Longest zero-padded number: that of the longest decimal type, twice over. */
const MAX_PAD = 76;
const SHA256_HEX_DIGITS = 64;
const MAX_BUCKETS = 10_000;

/** What each modifier takes. The keys are the list of known names. */
const MODIFIERS: Readonly<Record<string, (written: WrittenModifier) => TemplateModifier>> = {
  pad: (written) => ({ kind: 'pad', width: integer(written, 1, MAX_PAD) }),
  hash: (written) => ({ kind: 'hash', digits: integer(written, 1, SHA256_HEX_DIGITS) }),
  salt: (written) => ({ kind: 'salt', buckets: integer(written, 2, MAX_BUCKETS) }),
  reverse: ({ argument = '' }) => ({ kind: 'reverse', separator: argument }),
  timestamp: (written) => ({ kind: 'timestamp', unit: oneOf(written, TIME_UNITS) }),
  inverted: (written) => ({ kind: 'inverted', unit: oneOf(written, COUNTED_UNITS) }),
  utc: (written) => ({ kind: 'utc', unit: oneOf(written, CALENDAR_UNITS) }),
  escape: ({ argument = '' }) => ({ kind: 'escape', characters: argument }),
  default: (written) => ({ kind: 'default', text: text(written) }),
  hex: (written) => bare(written, 'hex'),
  lower: (written) => bare(written, 'lower'),
  upper: (written) => bare(written, 'upper'),
  number: (written) => bare(written, 'number'),
};

/** Checks one modifier and its argument. Throws a {@link SyntaxProblem}. */
export function readModifier(written: WrittenModifier): TemplateModifier {
  const read = Object.hasOwn(MODIFIERS, written.name) ? MODIFIERS[written.name] : undefined;
  if (read) return read(written);
  throw new SyntaxProblem(`a modifier must be one of ${Object.keys(MODIFIERS).join(', ')}`, written.at);
}

/**
 * Characters that the value has after its modifiers, whatever the record holds; undefined where that varies. A value
 * of fixed width needs no delimiter behind it.
 */
export function fixedWidth(modifiers: readonly TemplateModifier[]): number | undefined {
  let width: number | undefined;
  for (const modifier of modifiers) {
    switch (modifier.kind) {
      case 'pad':
        width = modifier.width;
        break;
      case 'hash':
        width = modifier.digits;
        break;
      case 'salt':
        width = saltWidth(modifier.buckets);
        break;
      case 'inverted':
        width = INVERTED_DIGITS;
        break;
      case 'reverse':
      case 'lower':
      case 'upper':
        // Digits and hexadecimal digits, which are all that has a width here, keep it.
        break;
      case 'utc':
      case 'timestamp':
      case 'escape':
      case 'default':
      case 'hex':
      case 'number':
        width = undefined;
        break;
    }
  }
  return width;
}

/** Digits of 2^63 − 1, from which instants are subtracted. */
export const INVERTED_DIGITS = 19;

/** Digits of the largest bucket number, so that buckets sort and none is a prefix of another. */
export const saltWidth = (buckets: number): number => String(buckets - 1).length;

function integer({ name, argument = '', at }: WrittenModifier, least: number, most: number): number {
  const value = /^\d{1,9}$/.test(argument) ? Number(argument) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new SyntaxProblem(`${name} needs a number from ${least} to ${most}, as in ${name}:${least}`, at);
}

function oneOf<Choice extends string>({ name, argument, at }: WrittenModifier, choices: readonly Choice[]): Choice {
  const choice = choices.find((candidate) => candidate === argument);
  if (choice !== undefined) return choice;
  throw new SyntaxProblem(`${name} needs one of ${choices.join(', ')}, as in ${name}:${choices[0] ?? ''}`, at);
}

function text({ name, argument, at }: WrittenModifier): string {
  if (argument !== undefined && argument !== '') return argument;
  throw new SyntaxProblem(`${name} needs a text, as in ${name}:none`, at);
}

function bare<Kind extends 'hex' | 'lower' | 'upper' | 'number'>(
  { name, argument, at }: WrittenModifier,
  kind: Kind,
): { kind: Kind } {
  if (argument === undefined) return { kind };
  throw new SyntaxProblem(`${name} takes no argument`, at);
}
