import type { z } from 'zod';
import { memberPath, type Report } from './problems.ts';
import { type MappingInput, mappingSchema } from './schema.ts';

/**
 * Checks the shape of a mapping and reports every problem. What is returned may still be looked at by the rules that
 * span options: where only some options are broken, it is the mapping without those. Undefined when too little is left.
 */
export function readShape(value: unknown, path: string, report: Report): MappingInput | undefined {
  const first = mappingSchema.safeParse(value);
  if (first.success) return first.data;
  const issues = first.error.issues.flatMap(flatten);
  for (const { path: names, rule, got } of describe(issues, value)) report.add(memberPath(path, ...names), rule, got);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  // The placeholder is never resolved into anything: problems have been reported, so no mapping is returned.
  const second = mappingSchema.safeParse({ rowKey: '${@messageId}', ...without(value, issues) });
  return second.success ? second.data : undefined;
}

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

/** The value with every broken option taken out. */
function without(value: object, issues: readonly Issue[]): object {
  const copy = structuredClone(value);
  for (const issue of issues) {
    const broken = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
    for (const path of broken) {
      const parent = at(copy, path.slice(0, -1));
      const last = path.at(-1);
      if (typeof parent === 'object' && parent !== null && last !== undefined) Reflect.deleteProperty(parent, last);
    }
  }
  return copy;
}
