import { UsageError } from '../errors.ts';

/** Limits of Pub/Sub on attributes (https://cloud.google.com/pubsub/quotas#resource_limits). */
const MAX_ATTRIBUTES = 100;
const MAX_KEY_BYTES = 256;
const MAX_VALUE_BYTES = 1024;

/** Splits `name=value` at the first `=`. @throws {UsageError} where there is none, or no name. */
export function nameAndValue(text: string, option: string): readonly [name: string, value: string] {
  const split = text.indexOf('=');
  if (split < 1) throw new UsageError(`${option}: must be name=value, got ${JSON.stringify(text)}`);
  return [text.slice(0, split), text.slice(split + 1)];
}

/**
 * Reads `--attribute name=value`, given any number of times, and checks what Pub/Sub would refuse: one wrong attribute
 * would make every message fail.
 *
 * @param from `publisher`: names that Pub/Sub keeps for itself are refused. `pubsub`: the message stands for one that
 * arrived, which has them.
 * @throws {UsageError} naming the attribute and the limit.
 */
export function parseAttributes(
  texts: readonly string[],
  from: 'publisher' | 'pubsub' = 'publisher',
): Readonly<Record<string, string>> {
  const attributes = new Map<string, string>();
  for (const text of texts) {
    const [name, value] = nameAndValue(text, '--attribute');
    const refuse = (rule: string): UsageError => new UsageError(`--attribute ${JSON.stringify(name)}: ${rule}`);
    if (attributes.has(name)) throw refuse('is given twice');
    if (from === 'publisher' && name.startsWith('goog'))
      throw refuse('must not start with "goog", which Pub/Sub keeps for itself');
    if (Buffer.byteLength(name) > MAX_KEY_BYTES) throw refuse(`must have a name of at most ${MAX_KEY_BYTES} bytes`);
    if (Buffer.byteLength(value) > MAX_VALUE_BYTES)
      throw refuse(`must have a value of at most ${MAX_VALUE_BYTES} bytes`);
    attributes.set(name, value);
  }
  if (attributes.size > MAX_ATTRIBUTES) {
    throw new UsageError(`--attribute: a message may have ${MAX_ATTRIBUTES} attributes, got ${attributes.size}`);
  }
  return Object.fromEntries(attributes);
}
