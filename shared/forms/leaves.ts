import * as z from 'zod';
import { NumberText } from '../mapping/values/field-value.ts';
import { bytesOfBase64 } from '../model/bytes.ts';
import { countRule } from '../model/filter/filter.ts';
import { int64OfJson } from '../model/int64.ts';
import { familyRule, qualifierRule, rangeEndRule, rangeStartRule } from '../model/mutation-rules.ts';

/** The values at the ends of a written form: what each may be, in JSON and in the model. Pure. */

type JsonSchema = Readonly<Record<string, unknown>>;

/** What JSON Schema says of the values that only our own code can read. */
export const LEAF_SCHEMAS = new Map<z.core.$ZodType, JsonSchema>();

const member = (name: string, schema: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { [name]: schema },
  required: [name],
  additionalProperties: false,
});

/** What several leaves share, by name. */
export const LEAF_DEFINITIONS: JsonSchema = {
  int64: {
    description: 'Digits in a text keep every one of them; so does a number here, but in few other readers of JSON.',
    anyOf: [{ type: 'string', pattern: '^-?[0-9]{1,19}$' }, { type: 'integer' }],
  },
  bytes: {
    description: 'A text stands for its UTF-8, an integer for its 8 bytes, big-endian.',
    anyOf: [
      { type: 'string' },
      member('utf8', { type: 'string' }),
      member('base64', { type: 'string' }),
      member('int64', { $ref: '#/$defs/int64' }),
    ],
  },
};

const INT64_JSON = { $ref: '#/$defs/int64' };
export const BYTES_JSON = { $ref: '#/$defs/bytes' };

export interface Leaf<Value> {
  /** `must be …`. */
  readonly rule: string;
  readonly json: JsonSchema;
  /** Undefined where it is no such value. */
  readonly read: (json: unknown) => Value | undefined;
  /** What is wrong with a value that was read: `must be …, got …`. */
  readonly check?: (value: Value) => string | undefined;
}

/** A schema that reads one value and says what is wrong with it. */
export function leaf<Value>({ rule, json, read, check }: Leaf<Value>): z.ZodType<Value> {
  const schema = z.unknown().transform((input, context) => {
    const value = read(input);
    const problem = value === undefined ? broken(rule, input) : check?.(value);
    if (value !== undefined && problem === undefined) return value;
    context.issues.push({ code: 'custom', message: problem ?? rule, input });
    return z.NEVER;
  });
  LEAF_SCHEMAS.set(schema, json);
  return schema;
}

/** A rule with what stands there instead; what is not there at all is told apart. */
export const broken = (rule: string, input: unknown): string =>
  input === undefined ? `is required and ${rule}` : `${rule}, got ${kindOf(input)}`;

/** A text that UTF-8 can say: half a surrogate pair would be written as another character. */
const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed();

const INT64_RULE = 'must be a 64-bit integer, as a text of digits or a number';

/** Numbers that a double may not keep arrive as they were written. */
const readInt64 = (json: unknown): bigint | undefined => int64OfJson(json instanceof NumberText ? json.text : json);

export const readBytes = (json: unknown): Buffer | undefined => {
  if (isText(json)) return Buffer.from(json);
  if (typeof json !== 'object' || json === null) return undefined;
  const [member, ...others] = Object.entries(json);
  return member && others.length === 0 ? BYTES[member[0]]?.(member[1]) : undefined;
};

const BYTES: Readonly<Record<string, (json: unknown) => Buffer | undefined>> = {
  utf8: (json) => (isText(json) ? Buffer.from(json) : undefined),
  base64: (json) => (typeof json === 'string' ? bytesOfBase64(json) : undefined),
  int64: (json) => {
    const value = readInt64(json);
    if (value === undefined) return undefined;
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64BE(value);
    return bytes;
  },
};

export const BYTES_RULE = 'must be bytes: a text, {"utf8": text}, {"base64": text} or {"int64": integer}';
export const bytesWhere = (check?: (bytes: Buffer) => string | undefined): z.ZodType<Buffer> =>
  leaf({ rule: BYTES_RULE, json: BYTES_JSON, read: readBytes, ...(check && { check }) });

export const int64Where = (check?: (value: bigint) => string | undefined): z.ZodType<bigint> =>
  leaf({ rule: INT64_RULE, json: INT64_JSON, read: readInt64, ...(check && { check }) });

/** A text stands for its UTF-8; an integer for its 8 bytes, big-endian. */
export const bytes = bytesWhere();
export const qualifier = bytesWhere(qualifierRule);
export const int64 = int64Where();
/** Microseconds of whole milliseconds, never rounded. */
export const rangeStart = int64Where(rangeStartRule);
export const rangeEnd = int64Where(rangeEndRule);

export const textWhere = (check?: (text: string) => string | undefined, json: JsonSchema = {}): z.ZodType<string> =>
  leaf({
    rule: 'must be a text',
    json: { type: 'string', ...json },
    read: (value) => (isText(value) ? value : undefined),
    ...(check && { check }),
  });

export const text = textWhere();
export const family = textWhere(familyRule, { minLength: 1 });

export const count = leaf({
  rule: 'must be an integer from 1 to 2^31 − 1',
  json: { type: 'integer', minimum: 1, maximum: 2 ** 31 - 1 },
  read: (json) => (typeof json === 'number' ? json : undefined),
  check: countRule,
});

export const flag = leaf({
  rule: 'must be true or false',
  json: { type: 'boolean' },
  read: (json) => (typeof json === 'boolean' ? json : undefined),
});

/** One of these values and no other. */
export const only = <const Value extends number | string | boolean>(...values: readonly Value[]): z.ZodType<Value> =>
  leaf({
    rule: `must be ${values.map((value) => JSON.stringify(value)).join(' or ')}`,
    json: values.length === 1 ? { const: values[0] } : { enum: values },
    read: (json) => values.find((value) => value === json),
  });

/** What stands there in a person's words: its kind, never itself, for it may be row data. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'a text';
  if (value instanceof NumberText) return 'a number';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
