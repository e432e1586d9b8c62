import type { ConfigProblem } from '../base/errors.ts';
import { problem, type Path } from './problems.ts';
import { isSection, type Readable } from './read.ts';

/**
 * Rules between options. An option that is wrong by itself is missing from the values, and breaks none of them: its own
 * problem says enough. Pure.
 */

export interface Subject<Options> {
  /** Of the pipeline. */
  readonly name: string;
  readonly options: Readable<Options>;
  /** Whether the document sets an option, rightly or wrongly. */
  readonly isSet: (option: keyof Options) => boolean;
}

export interface BrokenRule {
  readonly at: Path;
  readonly rule: string;
  /** Where it is not what the document says there. */
  readonly got?: unknown;
}

export type Rule<Options> = (subject: Subject<Options>) => readonly BrokenRule[];

/** The problems between options; `value` is the section as written, over the defaults. */
export function brokenRules<Options>(
  rules: readonly Rule<Options>[],
  name: string,
  options: Readable<Options>,
  value: unknown,
  path: Path,
): ConfigProblem[] {
  const isSet = (option: keyof Options): boolean => isSection(value) && value[option as string] !== undefined;
  return rules
    .flatMap((rule) => rule({ name, options, isSet }))
    .map(({ at, rule, got }) => problem([...path, ...at], rule, got ?? valueAt(value, at)));
}

/** What the document says at a path, as written. */
const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, key) => {
    if (Array.isArray(inner)) return inner[key as number];
    return isSection(inner) ? inner[key] : undefined;
  }, value);
