import * as z from 'zod';
import { LEAF_DEFINITIONS, LEAF_SCHEMAS } from './leaves.ts';
import { CHOICES } from './shapes.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The JSON Schema of a written form, its parts in `$defs`: made of the same declaration as the check, of which it says less. */
export function formJsonSchema(form: z.ZodType): JsonSchema & { readonly $defs: JsonSchema } {
  const schema = z.toJSONSchema(form, {
    io: 'input',
    target: 'draft-2020-12',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      // A description makes a copy, which knows what it was made of.
      const { parent = zodSchema } = zodSchema._zod;
      Object.assign(jsonSchema, LEAF_SCHEMAS.get(parent));
      if (CHOICES.has(zodSchema)) Object.assign(jsonSchema, { minProperties: 1, maxProperties: 1 });
    },
  });
  return { ...schema, $defs: { ...schema.$defs, ...LEAF_DEFINITIONS } };
}
