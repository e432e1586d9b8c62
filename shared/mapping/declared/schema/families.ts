import { z } from 'zod';
import { modesThat } from '../write-modes.ts';
import { cellTypeText, fieldPath, inWords, missingMode, nullMode, options, typed } from './words.ts';

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
      'Treatment of cells that the object does not name: `merge` leaves them, `replace` deletes the whole family first, so an empty object clears it. Default `merge`. A null object leaves the family alone either way. The service deletes families without a bound of time, so a redelivered or late record that replaces takes cells of newer records away.',
    ),
}).describe(
  `Columns that the data names. Excludes \`columns\` of the same family. Only in ${inWords(modesThat(({ isDynamic }) => isDynamic === true))}.`,
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
      'How the service combines the integers added to the family. Google does not document what becomes of a sum that leaves int64; the local Bigtable wraps around. Required for every family in the mode aggregate, refused in every other.',
    ),
}).describe('One column family: fixed columns or dynamic ones.');
