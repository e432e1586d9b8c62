import { rfc3339OfMicros } from '../../rpc/proto-time.ts';
import type { Delivery } from '../delivery/entry.ts';
import type { PushSettings } from '../delivery/settings.ts';

/** What one push request carries. Pure. */
export interface PushRequest {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Names the service as production does in its own pushes. */
const USER_AGENT = 'CloudPubSub-Google';

/**
 * The request of one delivery (cloud.google.com/pubsub/docs/push#receive_push).
 * @param showAttempt whether the body carries `deliveryAttempt`: only with a dead-letter policy.
 */
export function pushRequest(
  delivery: Delivery,
  subscription: string,
  format: PushSettings['body'],
  showAttempt: boolean,
): PushRequest {
  if (format === 'wrapped') {
    const publishTime = rfc3339OfMicros(delivery.message.publishMicros);
    return wrappedRequest({ ...delivery.message.wire, publishTime }, subscription, showAttempt ? delivery.attempt : 0);
  }
  const { wire } = delivery.message;
  const metadata = format === 'unwrapped-with-metadata' ? metadataHeaders(delivery, subscription) : {};
  return { body: wire.data, headers: { ...metadata, 'user-agent': USER_AGENT } };
}

/** The JSON body that wraps a message. Both spellings of id and time are the service's own. */
export interface WrappedPushBody {
  readonly message: {
    readonly data: string;
    readonly messageId: string;
    readonly message_id: string;
    readonly publishTime: string;
    readonly publish_time: string;
    readonly attributes: Readonly<Record<string, string>>;
    readonly orderingKey?: string;
  };
  readonly subscription: string;
  readonly deliveryAttempt?: number;
}

/** A message as a push shows it. */
export interface PushedMessage {
  readonly data: Buffer;
  readonly attributes: Readonly<Record<string, string>>;
  readonly messageId: string;
  /** RFC 3339. */
  readonly publishTime: string;
  /** Empty for none. */
  readonly orderingKey: string;
}

/** A push with the wrapped body. @param deliveryAttempt from 1; 0 leaves it out. */
export function wrappedRequest(message: PushedMessage, subscription: string, deliveryAttempt: number): PushRequest {
  const { data, attributes, messageId, publishTime, orderingKey } = message;
  const body: WrappedPushBody = {
    message: {
      data: data.toString('base64'),
      messageId,
      message_id: messageId,
      publishTime,
      publish_time: publishTime,
      attributes,
      ...(orderingKey && { orderingKey }),
    },
    subscription,
    ...(deliveryAttempt > 0 && { deliveryAttempt }),
  };
  return {
    body: Buffer.from(JSON.stringify(body)),
    headers: { 'content-type': 'application/json', 'user-agent': USER_AGENT },
  };
}

/** A header's value as HTTP allows it: visible Latin-1, spaces, tabs. What cannot be a header is left out. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers that say how the request itself is framed; an attribute must not change them. */
const FRAMING = new Set([
  'connection',
  'content-length',
  'host',
  'transfer-encoding',
  'upgrade',
  'expect',
  'te',
  'trailer',
]);

function metadataHeaders({ message }: Delivery, subscription: string): Record<string, string> {
  const { wire } = message;
  const own = {
    'x-goog-pubsub-subscription-name': subscription,
    'x-goog-pubsub-message-id': wire.messageId,
    'x-goog-pubsub-publish-time': rfc3339OfMicros(message.publishMicros),
    ...(wire.orderingKey && { 'x-goog-pubsub-ordering-key': wire.orderingKey }),
  };
  const all = Object.entries({ ...wire.attributes, ...own });
  return Object.fromEntries(
    all.filter(
      ([name, value]) => HEADER_NAME.test(name) && HEADER_VALUE.test(value) && !FRAMING.has(name.toLowerCase()),
    ),
  );
}
