import * as z from 'zod';
import { declare, notBlank, optional, ruled, text } from '../option.ts';
import type { JsonValue } from '../resolved.ts';

/** How a record becomes a row entry: by a serializer, or by a mapping, which `config/mapping` declares and checks. */

const moduleSection = z.strictObject({
  module: text(
    'Path of your own module, relative to the configuration. Its default export makes the serializer.',
    notBlank,
    'not blank',
  ),
  options: declare(
    optional(z.custom<JsonValue>(isJson, { error: 'must be a value that JSON can hold' })),
    'Handed to the module as it is. Not checked here.',
    { type: 'any JSON' },
  ),
});

/** Anything here; `resolveMapping` checks it and reports all of its problems, each at its own path. */
export const mappingValue = z.custom<unknown>();

const rule = 'must be "entry" or a section with "module"';

export const serializerOptions = {
  serializer: declare(
    optional(z.union([z.literal('entry'), moduleSection], ruled(rule))),
    'How a record becomes a row, unless a mapping says it: "entry" reads a MutateRowsRequest.Entry in protobuf bytes or proto JSON, and a module is your own code, which may skip a record or name its table.',
    { type: 'text or section', bounds: '"entry" or {module, options}' },
  ),
  mapping: declare(
    optional(mappingValue),
    'How a record becomes a row, declared without code: its format, row key, columns, write mode and timestamps. Excludes serializer. Its options have a page of their own, mapping.md.',
    { type: 'section', bounds: 'see mapping.md' },
  ),
};

function isJson(value: unknown): value is JsonValue {
  if (typeof value === 'number') return Number.isFinite(value);
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value !== 'object') return false;
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  return isPlain && Object.values(value).every(isJson);
}
