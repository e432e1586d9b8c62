import * as z from 'zod';
import { ENVELOPE_SCHEMA, ENVELOPE_VERSION } from './envelope-form.ts';

/**
 * The form `envelope` as a declaration: the JSON Schema that consumers check with is made of it, and the tests hold the
 * form to it. No function loads this file: what is made by hand needs no check at run time.
 */

const base64 = (description: string): z.ZodType =>
  z
    .string()
    .regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/)
    .meta({ description });

const int64 = (description: string): z.ZodType =>
  z
    .string()
    .regex(/^-?\d{1,19}$/)
    .meta({ description: `${description}, a 64-bit integer as text.` });

const value = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('raw-value'), value: base64('Bytes in base64.') }),
    z.strictObject({ kind: z.literal('raw-timestamp'), micros: int64('Microseconds since the epoch') }),
    z.strictObject({ kind: z.literal('int64'), value: int64('An integer') }),
  ])
  .meta({ id: 'value', description: 'A value of an aggregate.' });

const index = z
  .int()
  .min(0)
  .meta({ description: 'Its place in the change, from 0; a place is missing where a filter left an entry out.' });
const family = z.string().min(1).meta({ description: 'Column family.' });
const qualifier = base64('Column qualifier, in base64.');
const aggregate = { index, family, qualifier: value, timestamp: value, input: value };

const entry = z
  .discriminatedUnion('kind', [
    z.strictObject({
      index,
      kind: z.literal('set-cell'),
      family,
      qualifier,
      timestampMicros: int64('Microseconds since the epoch'),
      value: base64('The value, in base64.'),
    }),
    z.strictObject({
      index,
      kind: z.literal('delete-cells'),
      family,
      qualifier,
      timestampRange: z
        .strictObject({
          startMicros: int64('Inclusive').optional(),
          endMicros: int64('Exclusive').optional(),
        })
        .meta({ description: 'The versions that are deleted; a side that is missing is open.' }),
    }),
    z.strictObject({ index, kind: z.literal('delete-family'), family }),
    z.strictObject({ ...aggregate, kind: z.literal('add-to-cell') }),
    z.strictObject({ ...aggregate, kind: z.literal('merge-to-cell') }),
  ])
  .meta({ id: 'entry' });

export const envelopeRecord = z.strictObject({
  schema: z.literal(ENVELOPE_SCHEMA),
  version: z.literal(ENVELOPE_VERSION),
  table: z.string().meta({ description: '`projects/p/instances/i/tables/t`.' }),
  id: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .meta({ description: 'The same at every repetition of the change, and no other change has it.' }),
  rowKey: base64('Row key, in base64.'),
  type: z.enum(['USER', 'GARBAGE_COLLECTION']),
  sourceCluster: z.string().meta({ description: 'The cluster that took the write; empty of a collection.' }),
  commitTimeNanos: int64('When it was committed, in nanoseconds since the epoch'),
  tieBreaker: z.int().meta({ description: 'Tells changes of one row, commit time and cluster apart.' }),
  lowWatermarkNanos: int64("The service's low watermark of the partition, in nanoseconds since the epoch"),
  restarted: z
    .enum(['tokenless', 'fallback'])
    .optional()
    .meta({ description: 'The partition has started anew without its token: changes may be repeated, or be missing.' }),
  entries: z.array(entry).meta({ description: 'In the order in which they were applied.' }),
});

export const envelopeJsonSchema = (): Readonly<Record<string, unknown>> => ({
  ...z.toJSONSchema(envelopeRecord, { target: 'draft-2020-12' }),
  title: `Record of the form envelope of the Bigtable connector for Cloud Functions, version ${ENVELOPE_VERSION}`,
});
