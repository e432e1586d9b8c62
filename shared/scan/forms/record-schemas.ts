import * as z from 'zod';

/**
 * The forms `row` and `cell` as declarations: the JSON Schemas that consumers check with are made of them, and the tests
 * hold the forms to them. No function loads this file: what is made by hand needs no check at run time.
 */

/** Their version, in the attribute `form-version`. Another member, or another meaning of one, is another version. */
export const JSON_FORM_VERSION = 1;

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const bytes = z
  .union([z.string(), z.strictObject({ base64: z.string().regex(BASE64) })])
  .meta({ id: 'bytes', description: 'Bytes: base64, or a text that stands for its UTF-8.' });

const cellMembers = {
  family: z.string().meta({ description: 'Column family.' }),
  qualifier: bytes,
  timestampMicros: z
    .string()
    .regex(/^-?\d{1,19}$/)
    .meta({ description: 'Microseconds since the epoch, a 64-bit integer as text.' }),
  value: bytes,
  labels: z
    .array(z.string())
    .min(1)
    .optional()
    .meta({ description: 'Labels that the filter of the scan gave the cell; absent where there are none.' }),
};

/** A record of the form `row`. */
export const rowRecord = z.strictObject({
  rowKey: bytes,
  cells: z
    .array(z.strictObject(cellMembers))
    .min(1)
    .meta({ description: 'In the order of the service: family, qualifier, newest first.' }),
});

/** A record of the form `cell`. */
export const cellRecord = z.strictObject({ rowKey: bytes, ...cellMembers });

export const rowJsonSchema = (): Readonly<Record<string, unknown>> => schemaOf(rowRecord, 'row');

export const cellJsonSchema = (): Readonly<Record<string, unknown>> => schemaOf(cellRecord, 'cell');

const schemaOf = (record: z.ZodType, form: string): Readonly<Record<string, unknown>> => ({
  ...z.toJSONSchema(record, { target: 'draft-2020-12' }),
  title: `Record of the form ${form} of the Bigtable connector for Cloud Functions, version ${JSON_FORM_VERSION}`,
});
