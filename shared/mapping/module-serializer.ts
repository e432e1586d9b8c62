import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError, toError } from '../base/errors.ts';
import type { RowEntry } from '../model/mutation.ts';
import type { Serialize, Serializer } from './serializer.ts';

/**
 * Loads a user's serializer: a TypeScript or JavaScript module whose default export is a function
 * `(record, context) => RowEntry | null` (in a request sink: `RowRequest | null`), or an object {@link Serializer}. Its
 * `open` has run when this resolves. The module promises what it returns: only its shape is checked, at each record.
 * Throws a {@link ConfigError} that says what is wrong with the module.
 */
export async function loadModuleSerializer<Write = RowEntry>(
  module: string,
  baseDirectory: string,
  options: unknown,
): Promise<Serializer<Write>> {
  const exported = await importSerializer<Write>(module, baseDirectory);
  if (typeof exported === 'function') return { serialize: exported };
  try {
    await exported.open?.(options);
  } catch (error) {
    throw problem(`must open (${toError(error).message})`, module);
  }
  return {
    serialize: (record, context) => exported.serialize(record, context),
    ...(exported.resolve && { resolve: (record) => exported.resolve?.(record) }),
  };
}

/**
 * The default export of a user's module, whose code runs; its `open` does not. Throws a {@link ConfigError} where it
 * does not load, with the reason as its cause, or has another default export than a serializer.
 */
export async function importSerializer<Write = RowEntry>(
  module: string,
  baseDirectory: string,
): Promise<Serialize<Write> | Serializer<Write>> {
  const path = resolve(baseDirectory, module);
  let loaded: Record<string, unknown>;
  try {
    loaded = (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (error) {
    const rule = `must be a module that loads, relative to the configuration's directory (${toError(error).message})`;
    throw problem(rule, module, error);
  }
  const exported = loaded.default;
  if (typeof exported === 'function') return exported as Serialize<Write>;
  if (isSerializer<Write>(exported)) return exported;
  const rule = 'must have a default export that is a function or an object with a function "serialize"';
  throw problem(rule, typeof exported);
}

function problem(rule: string, got: string, cause?: unknown): ConfigError {
  const error = new ConfigError('serializer', [{ path: 'serializer.module', rule, got }]);
  if (cause !== undefined) error.cause = cause;
  return error;
}

function isSerializer<Write>(value: unknown): value is Serializer<Write> {
  if (typeof value !== 'object' || value === null) return false;
  const { serialize, resolve: route, open } = value as Record<string, unknown>;
  const isOptional = (member: unknown): boolean => member === undefined || typeof member === 'function';
  return typeof serialize === 'function' && isOptional(route) && isOptional(open);
}
