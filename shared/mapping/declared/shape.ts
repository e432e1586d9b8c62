import type { z } from 'zod';
import { memberPath, type Report } from './problems.ts';
import { type MappingInput, mappingSchema } from './schema/mapping.ts';

export interface Shape {
  /**
   * The mapping without its broken options, for the rules that span options; undefined when too little is left to say
   * anything of the rest.
   */
  readonly input?: MappingInput;
  /** Paths of the options that are broken. What is said of their surroundings is an echo of that. */
  readonly broken: readonly string[];
}

/** Taking out what is broken may break what needed it, a level further up each time. */
const MAX_ROUNDS = 8;

/** Checks the shape of a mapping and reports every problem of it. */
export function readShape(value: unknown, path: string, report: Report): Shape {
  const first = mappingSchema.safeParse(value);
  if (first.success) return { input: first.data, broken: [] };
  const issues = first.error.issues.flatMap(flatten);
  const described = describe(issues, value);
  for (const { path: names, rule, got } of described) report.add(memberPath(path, ...names), rule, got);
  const broken = described.map(({ path: names }) => memberPath(path, ...names));
  // Nearly every rule depends on the mode: a guess at it would make up problems.
  if (!isObject(value) || issues.some((issue) => issue.path[0] === 'writeMode')) return { broken };
  const input = readRest(value, issues);
  return { broken, ...(input && { input }) };
}

function readRest(value: object, issues: readonly Issue[]): MappingInput | undefined {
  // The placeholder is never resolved into anything: problems have been reported, so no mapping is returned.
  let rest: object = { rowKey: '${@messageId}', ...without(value, issues) };
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const parsed = mappingSchema.safeParse(rest);
    if (parsed.success) return parsed.data;
    rest = { rowKey: '${@messageId}', ...without(rest, parsed.error.issues.flatMap(flatten)) };
  }
  return undefined;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Issue = z.core.$ZodIssue;

/** Of a choice that fits in no way, the issues of the way that was most likely meant. */
function flatten(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const isOtherKind = (branch: readonly Issue[]): boolean =>
    branch.some(({ path, code }) => path.length === 0 && (code === 'invalid_type' || code === 'invalid_value'));
  const meant = issue.errors.find((branch) => !isOtherKind(branch));
  if (!meant) {
    const rules = issue.errors.map((branch) =>
      branch.map((inner) => ruleOf(inner).replace(/^must be /, '')).join(', '),
    );
    return [{ code: 'custom', path: issue.path, message: `must be ${rules.join(', or ')}`, input: undefined }];
  }
  return meant.flatMap((inner) => flatten({ ...inner, path: [...issue.path, ...inner.path] }));
}

interface Described {
  readonly path: readonly PropertyKey[];
  readonly rule: string;
  readonly got: unknown;
}

function describe(issues: readonly Issue[], value: unknown): Described[] {
  return issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      const rule = `unknown option: ${issue.message}`;
      return issue.keys.map((key) => ({ path: [...issue.path, key], rule, got: at(value, [...issue.path, key]) }));
    }
    if (issue.code === 'invalid_key') {
      return issue.issues.map((inner) => ({ path: issue.path, rule: ruleOf(inner), got: issue.path.at(-1) }));
    }
    return [{ path: issue.path, rule: ruleOf(issue), got: at(value, issue.path) }];
  });
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  object: 'an object of options',
  record: 'an object',
  array: 'a list',
  boolean: 'true or false',
  int: 'an integer',
  number: 'a number',
};

function ruleOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return `must be at least ${issue.minimum}${issue.origin === 'array' ? ' long' : ''}`;
    case 'too_big':
      return `must be at most ${issue.maximum}${issue.origin === 'array' ? ' long' : ''}`;
    case 'custom':
    case 'invalid_element':
    case 'invalid_format':
    case 'invalid_key':
    case 'invalid_union':
    case 'not_multiple_of':
    case 'unrecognized_keys':
      return issue.message;
  }
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let found: unknown = value;
  for (const name of path) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as Readonly<Record<PropertyKey, unknown>>)[name];
  }
  return found;
}

/** The value with every broken option taken out; where one is missing, what misses it. */
function without(value: object, issues: readonly Issue[]): object {
  const copy = structuredClone(value);
  for (const issue of issues) {
    const broken = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
    for (const path of broken) {
      const isMissing = at(copy, path) === undefined;
      remove(copy, isMissing ? path.slice(0, -1) : path);
    }
  }
  return copy;
}

function remove(from: object, path: readonly PropertyKey[]): void {
  const parent = at(from, path.slice(0, -1));
  const last = path.at(-1);
  if (typeof parent === 'object' && parent !== null && last !== undefined) Reflect.deleteProperty(parent, last);
}
