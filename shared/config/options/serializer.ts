import * as z from 'zod';
import type { ResolvedMapping } from '../../mapping/declared/resolved.ts';
import { declare, notBlank, optional, type Output, ruled, text } from '../option.ts';
import type { Rule } from '../rules.ts';

/** What a record becomes: by a serializer, or by a mapping, which `shared/mapping/declared` declares and checks. */

/** Any value that JSON can hold. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** `file:///m.js` would be read as a path. One letter before the colon is a drive. */
const notUrl = (value: string): string | undefined =>
  /^[a-z][a-z0-9+.-]+:/i.test(value.trim()) ? 'must be the path of a file, not a URL' : undefined;

/** A section that names a module. @param does what its default export is there for, in words. */
export const moduleSectionOf = (does: string) =>
  z.strictObject({
    module: text(
      `Path of your own module, a JavaScript or TypeScript file, relative to the configuration. ${does}`,
      (value) => notBlank(value) ?? notUrl(value),
      'a path, no URL',
    ),
    options: declare(
      optional(z.custom<JsonValue>(isJson, { error: 'must be a value that JSON can hold' })),
      'Handed to the module as it is. Not checked here.',
      { type: 'any JSON' },
    ),
  });

const moduleSection = moduleSectionOf('Its default export makes the serializer.');

/** Anything here; `resolveMapping` checks it and reports all of its problems, each at its own path. */
export const mappingValue = z.custom<unknown>();

const formOr = <const Form extends string>(form: Form) =>
  optional(z.union([z.literal(form), moduleSection], ruled(`must be "${form}" or a section with "module"`)));

const facts = (form: string) => ({ type: 'text or section', bounds: `"${form}" or {module, options}` });

export const mappingOption = (about: string) =>
  declare(optional(mappingValue), `${about} Its options have a page of their own, mapping.md.`, {
    type: 'section',
    bounds: 'see mapping.md',
  });

export const serializerOptions = {
  serializer: declare(
    formOr('entry'),
    'How a record becomes a row, unless a mapping says it: "entry" reads a MutateRowsRequest.Entry in protobuf bytes or proto JSON, and a module is your own code, which may skip a record or name its table.',
    facts('entry'),
  ),
  mapping: mappingOption(
    'How a record becomes a row, declared without code: its format, row key, columns, write mode and timestamps. Excludes serializer.',
  ),
};

export const requestSerializerOptions = {
  serializer: declare(
    formOr('request'),
    'How a record becomes a request, unless a mapping says it: "request" reads a conditional or read-modify-write request in its JSON or protobuf form, which may name its table, and a module is your own code, which may skip a record or name its table.',
    facts('request'),
  ),
  mapping: mappingOption(
    'How a record becomes a request, declared without code: its format, row key, columns or branches, and write mode. Excludes serializer.',
  ),
};

/** Of any sink, whichever form its records may have. */
export interface SerializerOptions extends Output<Pick<typeof serializerOptions, 'mapping'>> {
  readonly serializer?: 'entry' | 'request' | z.output<typeof moduleSection> | undefined;
}

/** `Form` names what a record is already where nothing has to be made of it. */
export type ResolvedSerializer<Form extends 'entry' | 'request' = 'entry'> =
  | { readonly kind: Form }
  /** `module` is a path relative to the directory of the configuration. */
  | { readonly kind: 'module'; readonly module: string; readonly options?: JsonValue }
  /** Declared in the configuration: no code. */
  | { readonly kind: 'mapping'; readonly mapping: ResolvedMapping };

export function serializerOf<Form extends 'entry' | 'request'>(
  serializer: Form | z.output<typeof moduleSection> | undefined,
  mapping: ResolvedMapping | undefined,
): ResolvedSerializer<Form> {
  if (mapping) return { kind: 'mapping', mapping };
  if (!serializer) throw new TypeError('the rules let a pipeline pass that has neither serializer nor mapping');
  if (typeof serializer === 'string') return { kind: serializer };
  const { module, options } = serializer;
  return { kind: 'module', module, ...(options !== undefined && { options }) };
}

export const hasOneWayToSerialize: Rule<SerializerOptions> = ({ isSet }) => {
  if (isSet('serializer') !== isSet('mapping')) return [];
  return isSet('mapping')
    ? [{ at: ['serializer'], rule: 'must not be set beside mapping: one of them says what a record becomes' }]
    : [{ at: ['serializer'], rule: 'is required unless there is a mapping' }];
};

function isJson(value: unknown): value is JsonValue {
  if (typeof value === 'number') return Number.isFinite(value);
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value !== 'object') return false;
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  return isPlain && Object.values(value).every(isJson);
}
