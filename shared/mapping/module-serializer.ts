import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError, toError } from '../base/errors.ts';
import type { RowEntry } from '../model/mutation.ts';
import type { Serialize, Serializer } from './serializer.ts';

/**
 * Loads a user's serializer: a TypeScript or JavaScript module whose default export is a function
 * `(record, context) => RowEntry | null` (in a request sink: `RowRequest | null`), or an object {@link Serializer}. Its
 * `open` has run when this resolves. What it returns is the module's promise: only its shape is checked, at each record.
 * Throws a {@link ConfigError} that says what is wrong with the module.
 */
export async function loadModuleSerializer<Write = RowEntry>(
  module: string,
  baseDirectory: string,
  options: unknown,
): Promise<Serializer<Write>> {
  const fail = (rule: string, got: string): never => {
    throw new ConfigError('serializer', [{ path: 'serializer.module', rule, got }]);
  };
  let loaded: Record<string, unknown>;
  try {
    loaded = (await import(pathToFileURL(resolve(baseDirectory, module)).href)) as Record<string, unknown>;
  } catch (error) {
    return fail(
      `must be a module that loads, relative to the configuration's directory (${toError(error).message})`,
      module,
    );
  }
  const exported = loaded.default;
  if (typeof exported === 'function') return { serialize: exported as Serialize<Write> };
  if (!isSerializer<Write>(exported)) {
    return fail(
      'must have a default export that is a function or an object with a function "serialize"',
      typeof exported,
    );
  }
  try {
    await exported.open?.(options);
  } catch (error) {
    return fail(`must open (${toError(error).message})`, module);
  }
  return {
    serialize: (record, context) => exported.serialize(record, context),
    ...(exported.resolve && { resolve: (record) => exported.resolve?.(record) }),
  };
}

function isSerializer<Write>(value: unknown): value is Serializer<Write> {
  if (typeof value !== 'object' || value === null) return false;
  const { serialize, resolve: route, open } = value as Record<string, unknown>;
  const isOptional = (member: unknown): boolean => member === undefined || typeof member === 'function';
  return typeof serialize === 'function' && isOptional(route) && isOptional(open);
}
