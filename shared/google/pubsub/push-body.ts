import { isUtf8 } from 'node:buffer';
import { RedeliverError } from '../../base/errors.ts';
import { type JsonBounds, jsonBoundsRule } from '../../base/json-bounds.ts';
import type { PushedMessage } from '../../model/record.ts';

/** A push holds a handful of objects, and its attributes. */
const BOUNDS: JsonBounds = { maxDepth: 16, maxValues: 2_000 };

/**
 * Reads the bytes of a push's body. Throws a `RedeliverError` that says what is wrong and quotes nothing: what is not
 * UTF-8 or not JSON, what is nested or split further than any push, and all that {@link decodePush} refuses.
 */
export function readPush(bytes: Buffer): PushedMessage {
  if (!isUtf8(bytes)) throw malformed('the body must be UTF-8');
  const text = bytes.toString();
  const rule = jsonBoundsRule(text, BOUNDS);
  if (rule !== undefined) throw malformed(`the body ${rule}`);
  return decodePush(parsed(text));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the body.
    throw malformed('the body must be JSON');
  }
}

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
  if (messageId.length > MAX_ID) throw malformed(`message.messageId must have at most ${MAX_ID} characters`);
  const { deliveryAttempt } = push;
  return {
    messageId,
    publishTimeMicros: microsOf(message.publishTime ?? message.publish_time),
    data: bytesOf(data),
    attributes: attributesOf(message.attributes),
    orderingKey: textOr(message.orderingKey ?? message.ordering_key, ''),
    subscription: textOr(push.subscription, ''),
    ...(typeof deliveryAttempt === 'number' && { deliveryAttempt }),
  };
}

/** Of an id that a message has; Pub/Sub's own have some 20. */
const MAX_ID = 256;

/** The platform's decoder drops what it cannot read, and stops where padding begins: the length tells. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  const padding = text.endsWith('==') ? 2 : Number(text.endsWith('='));
  const isWhole = text.length % 4 === 0 && bytes.length === (text.length / 4) * 3 - padding;
  const isStandard = !text.includes('-') && !text.includes('_');
  // Bits that belong to no byte are zero, or two texts would be the same bytes.
  const isCanonical = padding === 0 || LAST_BEFORE_PADDING[padding - 1]?.includes(text.at(-1 - padding) as string);
  if (!isWhole || !isStandard || !isCanonical) throw malformed('message.data must be base64 text');
  return bytes;
}

const LAST_BEFORE_PADDING = ['AEIMQUYcgkosw048', 'AQgw'];

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
