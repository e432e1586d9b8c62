import { z } from 'zod';
import { modesThat, WRITE_MODES, type WriteMode, writeModes } from '../write-modes.ts';
import { conditionalSchema } from './conditional.ts';
import { familySchema } from './families.ts';
import { formatSchema } from './format.ts';
import {
  fieldPath,
  inWords,
  maxFuture,
  missingMode,
  nullMode,
  options,
  timeUnit,
  typedValueShape,
  words,
} from './words.ts';

const template = words(
  'Text with fields: `${path|modifier:argument}`. Modifiers, left to right: pad:N (zero-padded integer), hash:N (first N hexadecimal digits of the SHA-256), salt:N (bucket of N), reverse (characters) or reverse:. (parts), timestamp:unit (reads an instant of the years 0 to 9999), inverted:unit (newest first), utc:year|month|day|hour, escape (percent-encodes the delimiter), default:text, hex, lower, upper, number (one text for equal numbers: 1.0 and 1e0 are 1; without it a number keeps its spelling). `$$` is a dollar sign.',
);

const rowKeySchema = z
  .union([
    template,
    options({
      template: template.optional(),
      field: fieldPath('One field that is the whole key, in the bytes of `type`. Excludes `template`.').optional(),
      ...typedValueShape,
      onNull: z
        .enum(['reject', 'empty'])
        .optional()
        .describe(
          'A null or missing field of the template: refuse the record, or render it as nothing. Default `reject`.',
        ),
      onEmpty: z
        .enum(['reject', 'allow'])
        .optional()
        .describe('An empty text in the template: refuse the record, or allow it. Default `reject`.'),
      onDelimiter: z
        .enum(['reject', 'escape', 'allow'])
        .optional()
        .describe(
          'A value that contains the delimiter behind it: refuse the record, percent-encode the delimiter in it, or allow it although two records may then share a key. Default `reject`.',
        ),
    }),
  ])
  .describe('How the row key is made: a template, or its options. The key must have 1 to 4096 bytes.');

const timestampSchema = z
  .union([
    z.literal('publishTime'),
    options({
      field: fieldPath('When the record is from.'),
      unit: timeUnit,
      truncateToMillis: z
        .boolean()
        .optional()
        .describe(
          'Drops what is finer than a millisecond. Default false: the record is refused, by the sink and unsent, since no table keeps finer times.',
        ),
      onNull: z
        .enum(['reject', 'publish-time'])
        .optional()
        .describe('A null or missing field: refuse the record, or take the publish time. Default `reject`.'),
      maxFuture: maxFuture.optional(),
    }),
  ])
  .describe(
    'One timestamp for all cells of a record. Default `publishTime`, floored to the millisecond: it is the same at every redelivery, so a redelivery overwrites instead of adding a version.',
  );

const columnName = words('A column as `family:qualifier`.');

const operationSchema = options({
  field: fieldPath('Field that says what to do with the record.'),
  values: z
    .record(
      z.string(),
      z.union([
        z.enum(['write', 'skip', 'delete-row']),
        options({
          deleteFamilies: z
            .array(words('Column family.'))
            .min(1)
            .optional()
            .describe(
              'Families to delete, newer cells too: the service deletes families without a bound of time. `deleteColumns` has one.',
            ),
          deleteColumns: z
            .array(columnName)
            .min(1)
            .optional()
            .describe('Columns to delete: their versions up to the timestamp of the record (`columnDeletes`).'),
        }),
      ]),
    )
    .describe(
      'Action for each value of the field: `write`, `skip`, `delete-row`, {deleteFamilies: […]} or {deleteColumns: […]}. A value that is not listed refuses the record. A delete needs only the row key, and `deleteColumns` the timestamp too (unless `columnDeletes` is `all-versions`). The service deletes rows and families without a bound of time: a redelivered or late `delete-row` or `deleteFamilies` takes newer cells away, where `deleteColumns` leaves them.',
    ),
  onMissing: z
    .enum(['reject', 'write'])
    .optional()
    .describe('A null or missing field: refuse the record, or write it. Default `reject`.'),
  rowDelete: z
    .enum(['row', 'declared-families'])
    .optional()
    .describe(
      'Extent of `delete-row`: the whole row, or every declared family. Default `row`; staged pipelines need `declared-families`, because their markers live in the row.',
    ),
}).describe(`Deletes. Only in the modes ${inWords(modesThat(({ carries }) => carries === 'cells-or-deletes'))}.`);

const scalar = z.union([z.string(), z.number(), z.boolean()]);

const conditionSchema = options({
  field: fieldPath('Field that is looked at.'),
  equals: scalar.optional().describe('The field has this value. Compared as text: 5, 5.0 and "5" are equal.'),
  notEquals: scalar.optional().describe('The field has another value; a null or missing field has.'),
  in: z.array(scalar).min(1).optional().describe('The field has one of these values.'),
  notIn: z.array(scalar).min(1).optional().describe('The field has none of these values.'),
  is: z
    .enum(['null', 'missing', 'empty'])
    .optional()
    .describe('The field is null, is not there, or is an empty text, list or object.'),
}).describe('Exactly one test of one field.');

const destinationSchema = options({
  template: template.describe(
    'The table id: text with fields, as in `orders-${region}`. Needs `tables`, or `pattern` and `maxTables`.',
  ),
  tables: z
    .array(words('Table id.'))
    .min(1)
    .max(1000)
    .optional()
    .describe('Every table that may be written. Another refuses the record.'),
  pattern: words(
    'Regular expression in the syntax of RE2, without look-around and back references, that the whole table id must match. Another refuses the record.',
  ).optional(),
  maxTables: z
    .int()
    .min(1)
    .max(1000)
    .optional()
    .describe(
      'With `pattern`: most tables that one instance writes; a message for one more is redelivered, because the count says nothing about the record.',
    ),
}).describe('A table per record, within a stated range. Default: the table of the pipeline.');

/** Every mode with its effect; neighbours with the same one share it. */
function effects(): string {
  const groups: { readonly modes: WriteMode[]; readonly does: string }[] = [];
  for (const mode of writeModes) {
    const { does } = WRITE_MODES[mode];
    const last = groups.at(-1);
    if (last?.does === does) last.modes.push(mode);
    else groups.push({ modes: [mode], does });
  }
  return groups.map(({ modes, does }) => `${inWords(modes.map((mode) => `\`${mode}\``))} ${does}`).join('; ');
}

const NUMBERS = ['none', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

/** Modes that make requests stand last in the table. */
function lastRequestModes(): string {
  const { length } = modesThat(({ makes }) => makes !== 'entry');
  return NUMBERS[length] ?? String(length);
}

/** The declarative mapping of a pipeline: what a record is and which row, cells or request it becomes. */
export const mappingSchema = options({
  format: formatSchema.optional(),
  rowKey: rowKeySchema,
  writeMode: z
    .enum(writeModes)
    .optional()
    .describe(
      `Change that a record makes to its row. ${effects()}. The last ${lastRequestModes()} need a request pipeline. Default \`upsert\`.`,
    ),
  timestamp: timestampSchema.optional(),
  columnDeletes: z
    .enum(['up-to-timestamp', 'all-versions'])
    .optional()
    .describe(
      `Which versions of a column go where a record deletes it (${inWords(['`keep-latest`', '`onNull: delete`', '`deleteColumns`'])}): those up to the timestamp of the record, its own millisecond included, or all. Default \`up-to-timestamp\`: a redelivered or late record takes nothing newer away, and a version older than the newest may lie beneath it: keep one version by garbage collection (\`maxVersions: 1\`), or read the latest. With \`all-versions\` the record that is applied last wins, redelivered and late ones too. Only in the modes ${inWords(modesThat(({ carries }) => carries === 'cells-or-deletes'))}.`,
    ),
  nullString: z.string().optional().describe('Text that a null text is written as. Default `null`.'),
  onNull: nullMode.optional(),
  onMissing: missingMode.optional(),
  families: z
    .record(z.string(), familySchema)
    .optional()
    .describe('Column families and their columns. At least one column; refused in the mode conditional.'),
  conditional: conditionalSchema.optional(),
  operation: operationSchema.optional(),
  skipWhen: z
    .array(conditionSchema)
    .optional()
    .describe(
      'The record is acknowledged and nothing is written when any of these holds. Tests of attributes come before the record is decoded. Default: none.',
    ),
  destination: destinationSchema.optional(),
}).describe('How a record becomes a row, without code.');

/** A mapping as its author writes it. */
export type MappingInput = z.infer<typeof mappingSchema>;
