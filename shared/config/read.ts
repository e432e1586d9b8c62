import * as z from 'zod';
import type { ConfigProblem } from '../base/errors.ts';
import { nearestName } from './nearest.ts';
import { problem, type Path } from './problems.ts';

/**
 * Reads a section option by option. Zod alone gives up on an object once one of its values is wrong; here every option
 * is read, so that all problems are reported at once and rules between options still see what could be read. Pure.
 */

/** What could be read of a section: an option that has a problem is missing. */
export type Readable<Value> = Value extends readonly unknown[] | number
  ? Value
  : Value extends object
    ? { readonly [Key in keyof Value]?: Readable<Value[Key]> }
    : Value;

export interface Reading<Value> {
  readonly partial: Readable<Value>;
  /** Everything, with defaults; undefined when there is any problem. */
  readonly complete: Value | undefined;
  readonly problems: readonly ConfigProblem[];
}

export interface ReadOptions {
  /** Read only what is there: nothing is required and no default is filled in. */
  readonly onlyPresent?: boolean;
}

export function readSection<Section extends z.ZodObject>(
  section: Section,
  value: unknown,
  path: Path,
  options: ReadOptions = {},
): Reading<z.output<Section>> {
  const problems: ConfigProblem[] = [];
  const values = isSection(value)
    ? readKeys(section, value, path, options, problems)
    : void problems.push(problem(path, SECTION_RULE, value));
  return {
    partial: (values ?? {}) as Readable<z.output<Section>>,
    complete: problems.length === 0 ? (values as z.output<Section>) : undefined,
    problems,
  };
}

export const SECTION_RULE = 'must be a section of options';

export const isSection = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function readKeys(
  section: z.ZodObject,
  value: Readonly<Record<string, unknown>>,
  path: Path,
  options: ReadOptions,
  problems: ConfigProblem[],
): Record<string, unknown> {
  const known = section.shape;
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(known, key)) continue;
    problems.push(problem([...path, key], unknownRule(key, knownNames(section)), value[key]));
  }
  const values: Record<string, unknown> = {};
  for (const [key, schema] of Object.entries(known)) {
    const isPresent = Object.hasOwn(value, key) && value[key] !== undefined;
    if (!isPresent && options.onlyPresent) continue;
    const read = readValue(schema as z.ZodType, isPresent ? value[key] : undefined, [...path, key], options, problems);
    if (read !== undefined) values[key] = read;
  }
  return values;
}

function readValue(
  schema: z.ZodType,
  value: unknown,
  path: Path,
  options: ReadOptions,
  problems: ConfigProblem[],
): unknown {
  const section = isSection(value) ? sectionOf(schema, value) : undefined;
  if (section && isSection(value)) return readKeys(section, value, path, options, problems);
  const collection = unwrap(schema);
  if (collection instanceof z.ZodRecord && isSection(value)) return readMap(collection, value, path, problems);
  if (collection instanceof z.ZodArray && Array.isArray(value)) return readList(collection, value, path, problems);
  if (value !== undefined && isOnlySection(schema)) {
    problems.push(problem(path, SECTION_RULE, value));
    return undefined;
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  // The checks of one value all speak of the same rule, so the first says what there is to say.
  const [issue] = result.error.issues;
  problems.push(problem(path, issue ? ruleOf(issue) : 'is not valid', value));
  return undefined;
}

/** Sections by name. They are inherited as a whole, so each must be complete. */
function readMap(
  map: z.ZodRecord,
  value: Readonly<Record<string, unknown>>,
  path: Path,
  problems: ConfigProblem[],
): unknown {
  const before = problems.length;
  const entries = Object.entries(value).map(([key, inner]) => {
    const [issue] = z.safeParse(map.keyType, key).error?.issues ?? [];
    if (issue) problems.push(problem([...path, key], issue.message, key));
    return [key, readValue(map.valueType as z.ZodType, inner, [...path, key], {}, problems)] as const;
  });
  return checked(map, value, Object.fromEntries(entries), path, problems, before);
}

function readList(list: z.ZodArray, value: readonly unknown[], path: Path, problems: ConfigProblem[]): unknown {
  const before = problems.length;
  const items = value.map((item, index) => readValue(list.element as z.ZodType, item, [...path, index], {}, problems));
  return checked(list, value, items, path, problems, before);
}

/** What was read of a collection, if it keeps its own rules too: those are asked once all that it holds is right. */
function checked(
  schema: z.ZodType,
  value: unknown,
  read: unknown,
  path: Path,
  problems: ConfigProblem[],
  problemsBefore: number,
): unknown {
  if (problems.length > problemsBefore) return undefined;
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  if (!issue) return read;
  problems.push(problem(path, ruleOf(issue), value));
  return undefined;
}

/** Of a choice between forms, the rule of the form that was meant, where a value has its type and breaks its rule. */
function ruleOf(issue: z.core.$ZodIssue): string {
  const branches = issue.code === 'invalid_union' ? issue.errors : [];
  return branches.flat().find(({ code }) => code === 'custom')?.message ?? issue.message;
}

/** Whether nothing but a section will do. */
const isOnlySection = (schema: z.core.$ZodType): boolean => unwrap(schema) instanceof z.ZodObject;

/** What a schema is beneath "optional", defaults and laziness. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault || schema instanceof z.ZodLazy;
  return isWrapped ? unwrap(schema.unwrap()) : schema;
}

/** The section that a schema holds; of several, the one that shares a key with the value. */
function sectionOf(wrapped: z.core.$ZodType, value: Readonly<Record<string, unknown>>): z.ZodObject | undefined {
  const schema = unwrap(wrapped);
  if (schema instanceof z.ZodObject) return schema;
  if (!(schema instanceof z.ZodUnion)) return undefined;
  const sections = schema.options.flatMap((branch) => sectionOf(branch, value) ?? []);
  return sections.find(({ shape }) => Object.keys(shape).some((key) => Object.hasOwn(value, key))) ?? sections[0];
}

/** The section that an option is, or the first that it may be. */
export const nestedSection = (schema: z.core.$ZodType): z.ZodObject | undefined => sectionOf(schema, {});

/** Every section that an option may be, with what stands between its name and theirs: `.<name>` in a map. */
export function nestedSections(wrapped: z.core.$ZodType): { readonly infix: string; readonly section: z.ZodObject }[] {
  const schema = unwrap(wrapped);
  if (schema instanceof z.ZodObject) return [{ infix: '', section: schema }];
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((branch) => nestedSections(branch));
  if (!(schema instanceof z.ZodRecord)) return [];
  return nestedSections(schema.valueType).map(({ infix, section }) => ({ infix: `.<name>${infix}`, section }));
}

/** The names of a section's options, and of those one level below: an option is often written one level too high. */
function knownNames(section: z.ZodObject): string[] {
  return Object.entries<z.core.$ZodType>(section.shape).flatMap(([key, schema]) => {
    const nested = nestedSection(schema);
    return [key, ...(nested ? Object.keys(nested.shape).map((inner) => `${key}.${inner}`) : [])];
  });
}

function unknownRule(key: string, known: readonly string[]): string {
  const nearest = nearestName(key, known);
  const topLevel = known.filter((name) => !name.includes('.'));
  return nearest === undefined
    ? `is not an option here (known: ${topLevel.join(', ')})`
    : `is not an option here, did you mean "${nearest}"?`;
}
