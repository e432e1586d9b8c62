import type { OutgoingMessage } from '../../model/publishing.ts';

/** What Pub/Sub takes (https://cloud.google.com/pubsub/quotas#resource_limits). Pure. */

/** The most that a message or a request may take, its attributes and framing included (the service's limit is 10 MB). */
export const MAX_MESSAGE_BYTES = 9_500_000;

const MAX_ATTRIBUTES = 100;
const MAX_NAME_BYTES = 256;
/** Of an attribute's value, and of an ordering key. */
export const MAX_VALUE_BYTES = 1024;

/**
 * The rule of the service that the message breaks, as a sentence; undefined where there is none. Its size is not looked
 * at.
 *
 * @param common attributes that the message has besides its own.
 */
export function brokenRule(
  { data, attributes, orderingKey = '' }: OutgoingMessage,
  common: Readonly<Record<string, string>>,
): string | undefined {
  let count = 0;
  for (const name in attributes) {
    count += 1;
    if (name === '' || name.startsWith('goog')) return `the attribute name ${quoted(name)} is not allowed`;
    if (isLonger(name, MAX_NAME_BYTES)) return `the name of attribute ${quoted(name)} has more than 256 bytes`;
    if (isLonger(attributes[name] ?? '', MAX_VALUE_BYTES)) return `attribute ${quoted(name)} has more than 1,024 bytes`;
  }
  if (isLonger(orderingKey, MAX_VALUE_BYTES)) return 'the ordering key has more than 1,024 bytes';
  // Nearly every message has so few of its own that those of its unit need not be counted.
  if (count > MAX_OWN && unionSize(attributes, common) > MAX_ATTRIBUTES) return 'there are more than 100 attributes';
  if (data.length === 0 && unionSize(attributes, common) === 0) return 'a message without data needs an attribute';
  return undefined;
}

/** Common attributes are those of a source: fewer than half of what a message may have. */
const MAX_OWN = MAX_ATTRIBUTES / 2;

const quoted = (name: string): string => JSON.stringify(name.slice(0, 64));

/** Nearly every text is so short that its bytes need not be counted. */
const isLonger = (text: string, bytes: number): boolean =>
  text.length > bytes / 3 && (text.length > bytes || Buffer.byteLength(text) > bytes);

const unionSize = (one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): number =>
  new Set([...Object.keys(one), ...Object.keys(other)]).size;
