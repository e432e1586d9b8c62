import { UsageError } from '../errors.ts';
import type { OrderingKeyOf } from './pack.ts';

/** How a record gets its ordering key. Pure. */

const MAX_ORDERING_KEY_BYTES = 1024;

export interface OrderingOptions {
  /** One key for all messages. */
  readonly orderingKey?: string | undefined;
  /** Name of a field of the record's JSON object; dots lead into objects. */
  readonly orderingField?: string | undefined;
}

/** @throws {UsageError} where both are given or the key is not one that Pub/Sub takes. */
export function orderingKeys({ orderingKey, orderingField }: OrderingOptions): OrderingKeyOf {
  if (orderingKey !== undefined && orderingField !== undefined) {
    throw new UsageError('--ordering-key and --ordering-field exclude each other: a message has one ordering key');
  }
  if (orderingKey !== undefined) {
    const problem = keyProblem(orderingKey);
    if (problem !== undefined) throw new UsageError(`--ordering-key: ${problem}`);
    return () => ({ key: orderingKey });
  }
  if (orderingField === undefined) return () => ({});
  const path = orderingField.split('.');
  return (data) => {
    const key = keyText(valueAt(data, path));
    if (key === undefined) {
      return {
        problem: `has no text or exact number in the field ${JSON.stringify(orderingField)} for its ordering key`,
      };
    }
    const problem = keyProblem(key);
    return problem === undefined ? { key } : { problem: `has an ordering key that ${problem}` };
  };
}

function keyProblem(key: string): string | undefined {
  if (key === '') return 'must not be empty';
  return Buffer.byteLength(key) > MAX_ORDERING_KEY_BYTES
    ? `must be at most ${MAX_ORDERING_KEY_BYTES} bytes of UTF-8`
    : undefined;
}

/** A number that a double cannot hold exactly would put neighbours under one key, so it is none. */
function keyText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'boolean' || Number.isSafeInteger(value) ? String(value) : undefined;
}

function valueAt(data: Buffer, path: readonly string[]): unknown {
  let value: unknown;
  try {
    value = JSON.parse(data.toString());
  } catch {
    return undefined;
  }
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}
