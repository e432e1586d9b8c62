import { toError } from '../../base/errors.ts';
import { importUserModule, isOptionalFunction, type ModuleKind, openUserModule } from '../../mapping/user-module.ts';
import { EMISSION_ATTRIBUTES } from '../../emission/messages/attributes.ts';
import type { Row } from '../../model/row.ts';
import { SCAN_ATTRIBUTES } from './attributes.ts';
import type { Form, FormRecord } from './form.ts';

/** A message that a module makes of a row: its data, or its data with attributes. */
export type RowMessage =
  Uint8Array | { readonly data: Uint8Array; readonly attributes?: Readonly<Record<string, string>> | undefined };

/**
 * Makes messages of a row: none, one or several, in the order in which they are handed on. Called once for each reading
 * of the row, in the order of row keys within a split; at once, without a promise: it holds up every split of its slot.
 *
 * - The row is the caller's: copy what is to be kept after the call. What the messages are made of may be its own buffers.
 * - An empty list leaves the row out, which is no failure.
 * - Throwing is a failure of this row; the option `failurePolicy` decides what becomes of it.
 */
export type RowMessages = (row: Row) => readonly RowMessage[];

/** The default export of a user's module, or just its `messages`. */
export interface RowModule {
  readonly messages: RowMessages;
  /** Called once, before the first row, with the `options` of the configuration. A rejection fails the start. */
  readonly open?: (options: unknown) => void | Promise<void>;
}

const ROW_MODULE: ModuleKind = {
  option: 'form',
  method: 'messages',
  isExported: ({ messages, open }) => typeof messages === 'function' && isOptionalFunction(open),
};

/** The default export of a user's module; its `open` does not run. Throws a `ConfigError` where it does not load. */
export const importRowModule = (module: string, baseDirectory: string): Promise<RowMessages | RowModule> =>
  importUserModule(module, baseDirectory, ROW_MODULE);

/**
 * The form that a user's module is. Its `open` has run when this resolves. Throws a `ConfigError` that says what is wrong
 * with the module; its form throws where the module does, or where it returns something else than messages.
 *
 * @param isPacked several records share a message, whose lines have no attributes.
 */
export async function loadModuleForm(
  { module, options }: { readonly module: string; readonly options?: unknown },
  baseDirectory: string,
  isPacked: boolean,
): Promise<Form> {
  const exported = await importRowModule(module, baseDirectory);
  if (typeof exported === 'function') return moduleForm(exported, isPacked);
  await openUserModule(exported, module, options, ROW_MODULE);
  return moduleForm((row) => exported.messages(row), isPacked);
}

/** The form that a function is. */
export const moduleForm = (messages: RowMessages, isPacked: boolean): Form => ({
  name: 'module',
  version: 1,
  records: (row) => {
    let made: unknown;
    try {
      made = messages(copied(row));
    } catch (error) {
      const { name, message } = toError(error);
      throw new Error(`the module threw ${name}: ${message}`, { cause: error });
    }
    // Nobody waits for it, and a rejection that nobody hears ends the process.
    if (made instanceof Promise) made.catch(() => undefined);
    if (!Array.isArray(made)) throw new TypeError(`the module must return a list of messages, got ${kindOf(made)}`);
    return made.map((message: unknown, at) => recordOf(message, at, isPacked));
  },
});

/**
 * Keys decide how far a split has come, and buffers of qualifiers are shared by all rows of a scan: a module that writes
 * into them must not reach ours.
 */
const copied = ({ key, cells, bytes }: Row): Row => ({
  key: Buffer.from(key),
  cells: cells.map((cell) => ({ ...cell, qualifier: Buffer.from(cell.qualifier) })),
  bytes,
});

function recordOf(message: unknown, at: number, isPacked: boolean): FormRecord {
  const where = `message ${at + 1} of the module`;
  if (message instanceof Uint8Array) return dataOf(message, where, isPacked);
  const { data, attributes } = (message ?? {}) as { readonly data?: unknown; readonly attributes?: unknown };
  if (!(data instanceof Uint8Array)) {
    throw new TypeError(`${where} must be bytes, or an object with bytes in "data", got ${kindOf(message)}`);
  }
  if (attributes === undefined) return dataOf(data, where, isPacked);
  if (typeof attributes !== 'object' || attributes === null || Array.isArray(attributes)) {
    throw new TypeError(`the attributes of ${where} must be an object of texts, got ${kindOf(attributes)}`);
  }
  if (isPacked) {
    throw new Error(`${where} has attributes, which the lines of a message have not: set maxRecordsPerMessage to 1`);
  }
  for (const [name, value] of Object.entries(attributes)) {
    if (OWN_NAMES.has(name)) throw new Error(`${where} has the attribute ${name}, which the scan sets itself`);
    if (typeof value === 'string') continue;
    throw new TypeError(`the attribute ${JSON.stringify(name)} of ${where} must be a text, got ${kindOf(value)}`);
  }
  return { data: dataOf(data, where, isPacked), attributes: { ...(attributes as Record<string, string>) } };
}

function dataOf(bytes: Uint8Array, where: string, isPacked: boolean): Buffer {
  // Readers of lines skip empty ones.
  if (isPacked && bytes.length === 0) throw new Error(`${where} is empty, which makes no line`);
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const OWN_NAMES: ReadonlySet<string> = new Set(
  [...Object.values(SCAN_ATTRIBUTES), ...Object.values(EMISSION_ATTRIBUTES)].map(({ name }) => name),
);

/** In words; values never reach a message. */
function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Promise) return 'a promise: the module must answer at once';
  return value === undefined ? 'nothing' : `a value of type ${typeof value}`;
}
