import { RedeliverError } from '../../base/errors.ts';
import type { PushedMessage } from '../../model/record.ts';

/**
 * Reads the body of a push: the wrapped form of a push subscription, or the CloudEvent that Eventarc delivers, which
 * carries the same inside `data` (structured mode) or as it is (binary mode). Pure, and done without the Pub/Sub
 * library, which would cost half a second of every cold start.
 *
 * Fields: https://cloud.google.com/pubsub/docs/push#receive_push. `data` may be absent (a message of attributes
 * alone), `orderingKey` and `deliveryAttempt` are sent only where they apply.
 */
export function decodePush(body: unknown): PushedMessage {
  const outer = asObject(body, 'the body');
  const push = 'message' in outer ? outer : asObject(outer.data, 'data');
  const message = asObject(push.message, 'message');
  const data = message.data ?? '';
  if (typeof data !== 'string') throw malformed('message.data must be base64 text');
  const messageId = message.messageId ?? message.message_id;
  if (typeof messageId !== 'string' || messageId === '') throw malformed('message.messageId must be a non-empty text');
  const { deliveryAttempt } = push;
  return {
    messageId,
    publishTimeMicros: microsOf(message.publishTime ?? message.publish_time),
    data: Buffer.from(data, 'base64'),
    attributes: attributesOf(message.attributes),
    orderingKey: textOr(message.orderingKey ?? message.ordering_key, ''),
    subscription: textOr(push.subscription, ''),
    ...(typeof deliveryAttempt === 'number' && { deliveryAttempt }),
  };
}

const malformed = (rule: string): RedeliverError =>
  new RedeliverError('malformed-push', `not a Pub/Sub push: ${rule}. Only Pub/Sub and Eventarc may call this function`);

function asObject(value: unknown, name: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw malformed(`${name} must be a JSON object`);
}

const textOr = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise);

function attributesOf(value: unknown): Record<string, string> {
  if (value === undefined || value === null) return {};
  const entries = Object.entries(asObject(value, 'message.attributes'));
  return Object.fromEntries(
    entries.map(([name, text]) => {
      if (typeof text !== 'string') throw malformed('message.attributes must hold texts');
      return [name, text];
    }),
  );
}

const RFC3339 = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/;

/** Microseconds since the epoch, exactly: `Date` alone would cut to milliseconds. */
function microsOf(value: unknown): bigint {
  const match = typeof value === 'string' ? RFC3339.exec(value) : null;
  const seconds = match ? Date.parse(`${match[1] ?? ''}${match[3] ?? ''}`) : Number.NaN;
  if (!match || Number.isNaN(seconds)) throw malformed('message.publishTime must be an RFC 3339 time');
  const micros = (match[2] ?? '').padEnd(6, '0').slice(0, 6);
  return BigInt(seconds) * 1000n + BigInt(micros);
}
