import type { ConfigProblem } from '../../base/errors.ts';
import { parseFieldReference } from './field-reference.ts';
import type { FieldReference } from './resolved.ts';
import { SyntaxProblem } from './syntax.ts';

/** Longest rendering of a value in a problem. */
const MAX_SHOWN = 100;

/**
 * Collects what is wrong with a mapping while it is resolved, so that every problem is reported at once. Resolvers ask
 * it to read texts too: what cannot be read becomes a problem and `undefined`, and the resolver goes on.
 */
export interface Report {
  readonly problems: readonly ConfigProblem[];
  /** Every field of the payload that the mapping reads, with the option that names it. */
  readonly payloadFields: readonly { readonly path: string; readonly field: PayloadField }[];
  /** Adds a problem. `got` is the value as its author wrote it; absent values read as nothing. */
  readonly add: (path: string, rule: string, got: unknown) => void;
  /** Reads a field path that starts at `within`. */
  readonly field: (path: string, text: string, within?: FieldReference) => FieldReference | undefined;
  /** Takes a payload field that no text names. */
  readonly named: (path: string, name: string, within?: FieldReference) => FieldReference;
  /** Notes a field that a template reads. */
  readonly read: (path: string, field: FieldReference) => void;
  /** Runs a parser; its syntax problem becomes a problem of the option. */
  readonly parse: <Value>(path: string, text: string, parser: (text: string) => Value) => Value | undefined;
}

export type PayloadField = Extract<FieldReference, { from: 'payload' }>;

export function createReport(): Report {
  const problems: ConfigProblem[] = [];
  const payloadFields: { path: string; field: PayloadField }[] = [];
  const add = (path: string, rule: string, got: unknown): void => {
    problems.push({ path, rule, got: shown(got) });
  };
  const parse = <Value>(path: string, text: string, parser: (text: string) => Value): Value | undefined => {
    try {
      return parser(text);
    } catch (error) {
      if (!(error instanceof SyntaxProblem)) throw error;
      add(path, error.message, text);
      return undefined;
    }
  };
  const inside = (path: string, reference: FieldReference, within?: FieldReference): FieldReference => {
    if (reference.from !== 'payload') return reference;
    const field =
      within?.from === 'payload'
        ? { ...reference, path: [...within.path, ...reference.path], label: `${within.label}.${reference.label}` }
        : reference;
    payloadFields.push({ path, field });
    return field;
  };
  return {
    problems,
    payloadFields,
    add,
    parse,
    field: (path, text, within) => {
      const reference = parse(path, text, parseFieldReference);
      return reference && inside(path, reference, within);
    },
    read: (path, field) => {
      if (field.from === 'payload') payloadFields.push({ path, field });
    },
    named: (path, name, within) => inside(path, { from: 'payload', path: [name], label: label(name) }, within),
  };
}

const label = (name: string): string => (/^[^\s."|{}$@]+$/.test(name) ? name : JSON.stringify(name));

function shown(got: unknown): string {
  if (got === undefined) return 'nothing';
  const text = JSON.stringify(got, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

/** The path of a member or an element: `families.cf`, `skipWhen[0]`, `columns["odd.name"]`. */
export function memberPath(path: string, ...names: readonly PropertyKey[]): string {
  return names.reduce<string>((built, name) => {
    if (typeof name === 'number') return `${built}[${name}]`;
    const text = String(name);
    if (!/^[\w-]+$/.test(text)) return `${built}[${JSON.stringify(text)}]`;
    return built === '' ? text : `${built}.${text}`;
  }, path);
}

/** Refuses every option that is set. */
export function refuseAll(
  options: Readonly<Record<string, unknown>>,
  rule: string,
  path: string,
  report: Report,
): void {
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined) report.add(memberPath(path, name), rule, value);
  }
}
