import { importUserModule, isOptionalFunction, type ModuleKind, openUserModule } from './user-module.ts';
import type { RowEntry } from '../model/mutation.ts';
import type { Serialize, Serializer } from './serializer.ts';

/**
 * Loads a user's serializer: a TypeScript or JavaScript module whose default export is a function
 * `(record, context) => RowEntry | null` (in a request sink: `RowRequest | null`), or an object {@link Serializer}. Its
 * `open` has run when this resolves. The module promises what it returns: only its shape is checked, at each record.
 * Throws a `ConfigError` that says what is wrong with the module.
 */
export async function loadModuleSerializer<Write = RowEntry>(
  module: string,
  baseDirectory: string,
  options: unknown,
): Promise<Serializer<Write>> {
  const exported = await importSerializer<Write>(module, baseDirectory);
  if (typeof exported === 'function') return { serialize: exported };
  await openUserModule(exported, module, options, SERIALIZER);
  return {
    serialize: (record, context) => exported.serialize(record, context),
    ...(exported.resolve && { resolve: (record) => exported.resolve?.(record) }),
  };
}

/**
 * The default export of a user's module, whose code runs; its `open` does not. Throws a `ConfigError` where it
 * does not load, with the reason as its cause, or has another default export than a serializer.
 */
export const importSerializer = <Write = RowEntry>(
  module: string,
  baseDirectory: string,
): Promise<Serialize<Write> | Serializer<Write>> =>
  importUserModule<Serialize<Write> | Serializer<Write>>(module, baseDirectory, SERIALIZER);

const SERIALIZER: ModuleKind = {
  option: 'serializer',
  method: 'serialize',
  isExported: ({ serialize, resolve, open }) =>
    typeof serialize === 'function' && isOptionalFunction(resolve) && isOptionalFunction(open),
};
