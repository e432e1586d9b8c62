import * as z from 'zod';
import { broken } from './leaves.ts';

/** How the parts of a request's JSON form are put together: objects without unknown members, choices, lists. Pure. */

/** Schemas of which exactly one member must be there; JSON Schema has its own words for that. */
export const CHOICES = new Set<z.core.$ZodType>();

/** An object of these members and no others. */
export const body = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape, errorOf('an object', shape));

/** Exactly one of these members; its value is the result. An id gives it a name in the JSON Schema. */
export function oneOf<Value>(shape: Readonly<Record<string, z.ZodType<Value>>>, id?: string): z.ZodType<Value> {
  const names = Object.keys(shape);
  const rule = `must be exactly one of ${names.map((name) => `{"${name}": …}`).join(', ')}`;
  const optional = Object.fromEntries(names.map((name) => [name, z.exactOptional(shape[name] as z.ZodType<Value>)]));
  const plain = z.strictObject(optional, errorOf('an object', shape)).check(({ value, issues }) => {
    const { length } = Object.keys(value);
    // A member that is not known was meant to be the one.
    if (length !== 1 && issues.length === 0)
      issues.push({ code: 'custom', message: `${rule}, got ${length === 0 ? 'none' : length}`, input: value });
  });
  const choice = id === undefined ? plain : plain.meta({ id });
  CHOICES.add(choice);
  return choice.transform((value) => Object.values(value)[0] as Value);
}

export const listOf = <Value>(item: z.ZodType<Value>, limit: number) =>
  z
    .array(item, { error: ({ input }) => broken('must be a list', input) })
    .max(limit, { error: ({ input }) => `must hold at most ${limit}, got ${lengthOf(input)}` });

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0);

function errorOf(what: string, shape: object) {
  const names = Object.keys(shape).join(', ');
  return {
    error: (issue: { readonly code: string; readonly input: unknown; readonly keys?: readonly string[] }): string =>
      issue.code === 'unrecognized_keys'
        ? `takes ${names === '' ? 'no member' : names}, got ${shown(issue.keys ?? [])}`
        : broken(`must be ${what}`, issue.input),
  };
}

const MAX_NAMES = 5;
const MAX_NAME = 40;

/** Names of members are no row data, but whoever wrote them may have meant them to be. */
const shown = (names: readonly string[]): string => {
  const some = names.slice(0, MAX_NAMES).map((name) => JSON.stringify(name.slice(0, MAX_NAME)));
  return names.length > MAX_NAMES ? `${some.join(', ')} and ${names.length - MAX_NAMES} more` : some.join(', ');
};
