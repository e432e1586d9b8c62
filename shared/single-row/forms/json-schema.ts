import * as z from 'zod';
import { LEAF_DEFINITIONS, LEAF_SCHEMAS } from '../../forms/leaves.ts';
import { requestDocument } from './request-form.ts';
import { resultDocument } from './result-form.ts';
import { CHOICES } from '../../forms/shapes.ts';

/**
 * JSON Schemas of row requests and their results, for editors and for other languages: made of the same declarations as
 * the check. They say less than the check does: bounds of int64 and rules between members have no words there.
 */
export const requestJsonSchema = (): JsonSchema =>
  schemaOf(requestDocument, 'Row request', ['conditional', 'readModifyWrite']);

export const resultJsonSchema = (): JsonSchema => schemaOf(resultDocument, 'Result of a row request');

type JsonSchema = Readonly<Record<string, unknown>>;

function schemaOf(document: z.ZodType, title: string, oneOf: readonly string[] = []): JsonSchema {
  const schema = z.toJSONSchema(document, {
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
  return {
    ...schema,
    $defs: { ...schema.$defs, ...LEAF_DEFINITIONS },
    title: `${title} of the Bigtable connector for Cloud Functions, version 1`,
    ...(oneOf.length > 0 && { oneOf: oneOf.map((name) => ({ required: [name] })) }),
  };
}
