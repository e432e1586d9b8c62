import type { PubsubMessage } from '../../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { GrpcError } from '../../rpc/grpc.ts';

/**
 * The service's limits on what is published (cloud.google.com/pubsub/quotas#resource_limits). Pure.
 * All are refused with INVALID_ARGUMENT, and a request is accepted or refused as a whole.
 */
export const PUBLISH_LIMITS = {
  messageBytes: 10_000_000,
  requestBytes: 10_000_000,
  messages: 1000,
  attributes: 100,
  attributeKeyBytes: 256,
  attributeValueBytes: 1024,
  orderingKeyBytes: 1024,
} as const;

/** A message's size as the limits count it: data, attribute keys and values, ordering key. */
export function messageBytes(message: PubsubMessage): number {
  let bytes = message.data.length + Buffer.byteLength(message.orderingKey);
  for (const key in message.attributes) {
    bytes += Buffer.byteLength(key) + Buffer.byteLength(message.attributes[key] ?? '');
  }
  return bytes;
}

/** Refuses a publish that the service would refuse; returns the sum of its messages' sizes. */
export function checkPublish(messages: readonly PubsubMessage[]): number {
  if (messages.length === 0) throw refused('the request has no message; publish at least one');
  atMost('messages of a request', messages.length, PUBLISH_LIMITS.messages);
  refuseTwoKeys(messages);
  let requestBytes = 0;
  for (const message of messages) requestBytes += checkMessage(message);
  atMost('bytes of a request', requestBytes, PUBLISH_LIMITS.requestBytes);
  return requestBytes;
}

/** "All PubsubMessages published in a given PublishRequest must specify the same ordering_key value" (pubsub.proto). */
function refuseTwoKeys([first, ...rest]: readonly PubsubMessage[]): void {
  if (rest.some(({ orderingKey }) => orderingKey !== first?.orderingKey)) {
    throw refused('all messages of a request must have the same ordering key');
  }
}

function checkMessage(message: PubsubMessage): number {
  const attributes = Object.entries(message.attributes);
  if (message.data.length === 0 && attributes.length === 0 && message.orderingKey === '') {
    throw refused('a message must have data, an attribute or an ordering key');
  }
  atMost('attributes of a message', attributes.length, PUBLISH_LIMITS.attributes);
  for (const [key, value] of attributes) {
    if (key === '') throw refused('an attribute key must not be empty');
    if (key.startsWith('goog')) throw refused('an attribute key must not start with "goog"');
    atMost('bytes of an attribute key', Buffer.byteLength(key), PUBLISH_LIMITS.attributeKeyBytes);
    atMost('bytes of an attribute value', Buffer.byteLength(value), PUBLISH_LIMITS.attributeValueBytes);
  }
  atMost('bytes of an ordering key', Buffer.byteLength(message.orderingKey), PUBLISH_LIMITS.orderingKeyBytes);
  const bytes = messageBytes(message);
  atMost('bytes of a message', bytes, PUBLISH_LIMITS.messageBytes);
  return bytes;
}

function atMost(what: string, actual: number, maximum: number): void {
  if (actual > maximum) throw refused(`${what}: at most ${maximum}, got ${actual}`);
}

const refused = (rule: string): GrpcError => new GrpcError('INVALID_ARGUMENT', `publish: ${rule}`);
