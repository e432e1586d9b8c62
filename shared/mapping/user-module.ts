import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError, toError } from '../base/errors.ts';

/** A module of a user's own: how it is loaded, whichever option names it. */

/** What such a module exports by default: the function itself, or an object that holds it under its name. */
export interface ModuleKind {
  /** The option that names the module, in a section of `module` and `options`. */
  readonly option: string;
  /** Name of the function in an object. */
  readonly method: string;
  /** Whether an object is such a default export. */
  readonly isExported: (members: Readonly<Record<string, unknown>>) => boolean;
}

/**
 * The default export of a module, whose code runs; its `open` does not. Throws a {@link ConfigError} where it does not
 * load, with the reason as its cause, or exports something else.
 *
 * @param baseDirectory what the path is relative to.
 */
export async function importUserModule<Exported extends object>(
  module: string,
  baseDirectory: string,
  kind: ModuleKind,
): Promise<Exported> {
  let loaded: Record<string, unknown>;
  try {
    loaded = (await import(pathToFileURL(resolve(baseDirectory, module)).href)) as Record<string, unknown>;
  } catch (error) {
    const rule = `must be a module that loads, relative to the configuration's directory (${toError(error).message})`;
    throw problem(kind, rule, module, error);
  }
  const exported = loaded.default;
  if (typeof exported === 'function') return exported as Exported;
  if (typeof exported === 'object' && exported !== null && kind.isExported(exported as Record<string, unknown>)) {
    return exported as Exported;
  }
  const rule = `must have a default export that is a function or an object with a function "${kind.method}"`;
  throw problem(kind, rule, typeof exported);
}

/** Runs the `open` of a module that has one. Throws a {@link ConfigError} that says why it failed. */
export async function openUserModule(
  opened: { readonly open?: (options: unknown) => void | Promise<void> },
  module: string,
  options: unknown,
  kind: Pick<ModuleKind, 'option'>,
): Promise<void> {
  try {
    await opened.open?.(options);
  } catch (error) {
    throw problem(kind, `must open (${toError(error).message})`, module);
  }
}

export const isOptionalFunction = (member: unknown): boolean => member === undefined || typeof member === 'function';

function problem({ option }: Pick<ModuleKind, 'option'>, rule: string, got: string, cause?: unknown): ConfigError {
  const error = new ConfigError(option, [{ path: `${option}.module`, rule, got }]);
  if (cause !== undefined) error.cause = cause;
  return error;
}
