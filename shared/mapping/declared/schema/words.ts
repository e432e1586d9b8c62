import { z } from 'zod';
import { CELL_TYPES_IN_WORDS } from '../../codecs/cell-types.ts';
import { TIME_UNITS } from '../../values/time.ts';
import { modesThat } from '../write-modes.ts';

/** An object of options that knows all its names, so that an unknown one can be answered with the known. */
export function options<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? `must be one of ${known}` : undefined),
  });
}

/** A text with at least one character that is not white space. */
export const words = (description: string): z.ZodString =>
  z.string().regex(/\S/, { error: 'must not be blank' }).describe(description);

/** `a, b and c`. */
export const inWords = (names: readonly string[]): string => names.join(', ').replace(/, ([^,]*)$/, ' and $1');

/** A field that an option names. */
export const fieldPath = (what: string): z.ZodString =>
  words(
    `${what} A path of names (\`account.balance\`, \`items.0.sku\`, \`"odd.name"\`), or \`@attributes.name\`, \`@orderingKey\`, \`@messageId\`, \`@publishTime\`.`,
  );

export const nullMode = z
  .enum(['encode', 'ignore', 'delete', 'reject'])
  .describe(
    `Treatment of a null: \`encode\` writes the null encoding (\`nullString\` for texts, an empty value otherwise), \`ignore\` leaves the cell alone, \`delete\` deletes its versions up to the timestamp of the record (\`columnDeletes\`), \`reject\` refuses the record. Default \`encode\`; \`ignore\` in the modes ${inWords(modesThat(({ nulls: [first] }) => first === 'ignore'))}, which take nothing else but \`reject\`.`,
  );

export const missingMode = z
  .enum(['reject', 'null'])
  .describe(
    'Meaning of a field that the record does not have: `reject` refuses the record, `null` takes it for a null; a text, number, boolean or list where the path wants an object is no missing field and refuses the record. Default `reject`, because a misspelt path would otherwise write nulls forever.',
  );

export const timeUnit = z
  .enum(TIME_UNITS)
  .describe(
    'How the field says when: a count since the epoch in this unit, or RFC 3339 text with its offset. There is no guess: a count in another unit would be wrong by a factor of a thousand. An Avro or Protobuf timestamp is taken as it is.',
  );

export const maxFuture = z
  .string()
  .regex(/^(?:[1-9]\d{0,5}d|none)$/, { error: 'must be a number of days, as in 3650d, up to 999999d, or none' })
  .describe(
    'How far a time may lie after the publish time of its message, in days. A later one refuses the record, as microseconds that were read as milliseconds do. Measured from the publish time, so that redeliveries decide alike. `none` lifts the bound, for cells whose timestamp is a count of another kind. Default `3650d`.',
  );

export const cellTypeText = words(
  `Type of the cell: ${CELL_TYPES_IN_WORDS}. Values are checked against it; nothing is rounded, cut or wrapped.`,
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
export const typed = {
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
