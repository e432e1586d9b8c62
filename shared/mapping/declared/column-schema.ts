import { z } from 'zod';
import { options, words } from './options.ts';

/** Options that several parts of a mapping share, each declared once. */
export const fieldPath = (what: string): z.ZodString =>
  words(
    `${what} A path of names (\`account.balance\`, \`items.0.sku\`, \`"odd.name"\`), or \`@attributes.name\`, \`@orderingKey\`, \`@messageId\`, \`@publishTime\`.`,
  );

export const nullMode = z
  .enum(['encode', 'ignore', 'delete', 'reject'])
  .describe(
    'What becomes of a null: `encode` writes the null encoding (`nullString` for texts, an empty value otherwise), `ignore` leaves the cell alone, `delete` deletes all versions of the cell, `reject` refuses the record. Default `encode`; `ignore` in the modes aggregate, append and increment, which take nothing else but `reject`.',
  );

export const missingMode = z
  .enum(['reject', 'null'])
  .describe(
    'What a field that the record does not have counts as: `reject` refuses the record, `null` takes it for a null. Default `reject`, because a misspelt path would otherwise write nulls forever.',
  );

export const timeUnit = z
  .enum(['micros', 'millis', 'seconds', 'rfc3339'])
  .describe(
    'How the field says when: a count since the epoch in this unit, or RFC 3339 text with its offset. There is no guess: a count in another unit would be wrong by a factor of a thousand. An Avro or Protobuf timestamp is taken as it is.',
  );

export const cellTypeText = words(
  'Type of the cell: string, boolean, bytes, int8, int16, int32, int64, float, double, decimal(precision,scale), date, time, timestamp, interval-year-month, interval-day-second, raw (the bytes as they came) or json (compact JSON of whatever is there). Values are checked against it; nothing is rounded, cut or wrapped.',
);

export const cellEncoding = z
  .enum(['binary', 'text'])
  .describe(
    'How the value becomes bytes: `binary` is the form of HBase and of Flink (big-endian), `text` the UTF-8 text a person would write. Default `binary`. Does not apply to raw and json.',
  );

const truncateToMillis = z
  .boolean()
  .describe('Drops what is finer than a millisecond instead of refusing it. Default false.');

/** What a typed value needs, wherever it goes. */
const typed = {
  type: cellTypeText,
  encoding: cellEncoding.optional(),
  unit: timeUnit.optional(),
  truncateToMillis: truncateToMillis.optional(),
};

/** A typed row key: the option names must match those of a column. */
export const typedValueShape = {
  type: cellTypeText.optional(),
  encoding: cellEncoding.optional(),
  unit: timeUnit.optional(),
  truncateToMillis: truncateToMillis.optional(),
};

export const columnSchema = z
  .union([
    cellTypeText,
    options({
      ...typed,
      field: fieldPath('Where the value comes from; default: the field named like the qualifier.').optional(),
      onNull: nullMode.optional(),
      onMissing: missingMode.optional(),
    }),
  ])
  .describe('One column: its type, or its options. The name is the qualifier, in UTF-8.');

export const dynamicSchema = options({
  ...typed,
  field: fieldPath('The object whose members become cells: the name is the qualifier, the value the cell.'),
  onNull: nullMode.optional(),
  onMissing: missingMode.optional(),
  update: z
    .enum(['merge', 'replace'])
    .optional()
    .describe(
      'What becomes of cells that the object does not name: `merge` leaves them, `replace` deletes the whole family first, so an empty object clears it. Default `merge`. A null object leaves the family alone either way.',
    ),
}).describe(
  'Columns that the data names. Excludes `columns` of the same family. Only in upsert, keep-latest and insert-if-absent.',
);

export const familySchema = options({
  field: fieldPath(
    'The object that holds the fields of this family: field paths of its columns start there, and when it is null nothing of the family is written. Default: the record.',
  ).optional(),
  columns: z.record(z.string(), columnSchema).optional().describe('Columns of the family, by qualifier.'),
  dynamic: dynamicSchema.optional(),
  aggregate: z
    .enum(['int64-sum', 'int64-min', 'int64-max', 'int64-hll'])
    .optional()
    .describe(
      'How the service combines the integers added to the family. Required for every family in the mode aggregate, refused in every other.',
    ),
}).describe('One column family: fixed columns or dynamic ones.');
