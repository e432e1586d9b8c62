import * as z from 'zod';
import type { ConfigProblem } from '../base/errors.ts';
import { KINDS } from './kinds.ts';
import type { Kind } from './kinds/kind.ts';
import { sharedDeadLetter } from './options/failure.ts';
import { formatPath } from './problems.ts';
import { isSection, readSection } from './read.ts';

/**
 * What the document's `defaults` say for every pipeline. A pipeline takes what it does not set itself; of a section
 * (writerOptions, deadLetter) it takes option by option. Pure.
 */

type Values = Readonly<Record<string, unknown>>;

/** The options that `defaults` may hold: those that any kind shares. Where kinds differ, they hold what any may. */
export const defaultsShape: Readonly<Record<string, z.ZodType>> = {
  ...Object.fromEntries(
    Object.values(KINDS).flatMap(({ section, shared }) =>
      shared.map((name) => [name, section.shape[name] as z.ZodType] as const),
    ),
  ),
  deadLetter: sharedDeadLetter,
};

const defaultsSection = z.strictObject(defaultsShape);

export interface Defaults {
  /** As written, without what has a problem: that is reported once, here, and not again by each pipeline. */
  readonly values: Values;
  readonly problems: readonly ConfigProblem[];
  /** Whether a pipeline lacks an option only because the defaults have it wrong. */
  readonly explain: (problem: ConfigProblem, pipeline: string) => boolean;
}

export function readDefaults(value: unknown): Defaults {
  if (value === undefined) return { values: {}, problems: [], explain: () => false };
  const { problems } = readSection(defaultsSection, value, ['defaults'], { onlyPresent: true });
  const broken = new Set(problems.map(({ path }) => path));
  return {
    values: isSection(value) ? without(value, ['defaults'], broken) : {},
    problems,
    explain: ({ path, got }, pipeline) => got === 'nothing' && broken.has(path.replace(pipeline, 'defaults')),
  };
}

function without(value: Values, path: readonly string[], broken: ReadonlySet<string>): Values {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !broken.has(formatPath([...path, key])))
      .map(([key, inner]) => [key, isSection(inner) ? without(inner, [...path, key], broken) : inner]),
  );
}

/** What a pipeline chose leaves no room for some defaults: those are then not inherited. */
function isExcluded(name: string, defaults: Values, own: Values): boolean {
  if (name === 'serviceAccountKeyFile') return own.emulatorEndpoint !== undefined;
  if (name === 'emulatorEndpoint') return own.serviceAccountKeyFile !== undefined;
  if (name === 'tableCreateOptions') {
    return (own.createDisposition ?? defaults.createDisposition) !== 'create-if-needed';
  }
  if (name === 'firestoreDatabase') return own.commit === 'on-receipt';
  const policies = [own.failurePolicy ?? defaults.failurePolicy, own.onRejected];
  return name === 'deadLetter' && !policies.includes('dead-letter');
}

/** What of a default a kind has a use for: the payload of dead letters may be one of another kind. */
function fitting(name: string, value: unknown, { section }: Kind): unknown {
  const { problems } = readSection(section, { [name]: value }, [], { onlyPresent: true });
  return without({ [name]: value }, [], new Set(problems.map(({ path }) => path)))[name];
}

/** A pipeline's own options over the defaults of its kind. */
export function inherit(defaults: Values, own: Values, kind: Kind): Values {
  const merged: Record<string, unknown> = { ...own };
  for (const name of kind.shared) {
    if (defaults[name] === undefined || isExcluded(name, defaults, own)) continue;
    const inherited = fitting(name, defaults[name], kind);
    const chosen = own[name];
    if (chosen === undefined) merged[name] = inherited;
    else if (isSection(chosen) && isSection(inherited)) merged[name] = { ...inherited, ...chosen };
  }
  return merged;
}
