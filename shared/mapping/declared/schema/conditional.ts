import { z } from 'zod';
import { cellEncoding, cellTypeText, fieldPath, maxFuture, options, timeUnit, words } from './words.ts';

const family = words('Column family.');
const qualifier = z.string().describe('Qualifier as UTF-8 text; may be empty. Excludes `qualifierBase64`.');
const qualifierBase64 = z.string().describe('Qualifier as canonical padded Base64. Excludes `qualifier`.');

/** YAML numbers are exact up to 2^53; beyond it the digits must be quoted. */
const integer = (description: string): z.ZodType<number | string> =>
  z
    .union([z.number().refine(Number.isSafeInteger, { error: 'must be an integer; quote it beyond 2^53' }), z.string()])
    .describe(description);

const operandSchema = options({
  field: fieldPath('The value comes from this field.').optional(),
  type: cellTypeText.optional(),
  encoding: cellEncoding.optional(),
  unit: timeUnit.optional(),
  utf8: z.string().optional().describe('A constant text.'),
  base64: z.string().optional().describe('Constant bytes in canonical padded Base64.'),
  int64: integer('A constant signed 64-bit integer, written as 8 bytes.').optional(),
}).describe(
  'A value: exactly one of `field` (with `type`), `utf8`, `base64`, `int64`. A null field refuses the record before anything is sent.',
);

const time = {
  micros: integer('A constant, in microseconds since the epoch.').optional(),
  field: fieldPath('The time comes from this field.').optional(),
  unit: timeUnit.optional(),
};

const timeSchema = options(time).describe('A time: exactly one of `micros` and `field` (with `unit`). Never rounded.');

const timestampSchema = options({ ...time, maxFuture: maxFuture.optional() }).describe(
  'A time: exactly one of `micros` and `field` (with `unit`). Never rounded.',
);

const predicateSchema = options({
  type: z
    .enum(['row-exists', 'cell-exists', 'latest-cell-value-equals'])
    .describe(
      'Question to the row: any cell at all (of undeclared families too), any version of one column, or whether the newest version of one column has a value.',
    ),
  family: family.optional(),
  qualifier: qualifier.optional(),
  qualifierBase64: qualifierBase64.optional(),
  value: operandSchema.optional(),
});

const mutationSchema = options({
  type: z.enum(['set-cell', 'add-to-cell', 'merge-to-cell', 'delete-cells', 'delete-family', 'delete-row']),
  family: family.optional(),
  qualifier: qualifier.optional(),
  qualifierBase64: qualifierBase64.optional(),
  value: operandSchema.optional(),
  timestamp: timestampSchema
    .optional()
    .describe(
      'When the cell is from: at least −1 (the service’s clock) for set-cell, at least 0 and required for add-to-cell and merge-to-cell. Default of set-cell: the publish time, so a redelivery adds no version.',
    ),
  start: timeSchema
    .optional()
    .describe('delete-cells: first time to delete, inclusive, at least 0. Default: from the first version.'),
  end: timeSchema
    .optional()
    .describe(
      'delete-cells: end of the times to delete, exclusive, at least 1 and above the start. Default: to the last version.',
    ),
});

const branch = (when: string): z.ZodOptional<z.ZodArray<typeof mutationSchema>> =>
  z.array(mutationSchema).max(100_000).optional().describe(`Mutations, in order, when ${when}. Default: none.`);

export const conditionalSchema = options({
  predicate: predicateSchema,
  then: branch('the predicate holds'),
  otherwise: branch('it does not'),
}).describe(
  'The request of the mode conditional; required there and refused elsewhere. At least one branch has a mutation.',
);
