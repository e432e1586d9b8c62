import * as z from 'zod';

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

/** What is read of options that are declared together. */
export type Output<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>;

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

const list = (values: readonly string[]): string => values.map((value) => JSON.stringify(value)).join(', ');

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
