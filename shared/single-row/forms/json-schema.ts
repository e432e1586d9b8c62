import type * as z from 'zod';
import { formJsonSchema, type JsonSchema } from '../../forms/json-schema.ts';
import { requestDocument } from './request-form.ts';
import { resultDocument } from './result-form.ts';

/**
 * JSON Schemas of row requests and their results, for editors and for other languages: made of the same declarations as
 * the check. They say less than the check does: bounds of int64 and rules between members have no words there.
 */
export const requestJsonSchema = (): JsonSchema =>
  schemaOf(requestDocument, 'Row request', ['conditional', 'readModifyWrite']);

export const resultJsonSchema = (): JsonSchema => schemaOf(resultDocument, 'Result of a row request');

const schemaOf = (document: z.ZodType, title: string, oneOf: readonly string[] = []): JsonSchema => ({
  ...formJsonSchema(document),
  title: `${title} of the Bigtable connector for Cloud Functions, version 1`,
  ...(oneOf.length > 0 && { oneOf: oneOf.map((name) => ({ required: [name] })) }),
});
