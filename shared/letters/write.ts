import { createHash } from 'node:crypto';
import { encodeEntry } from '../mapping/rows/entry-wire.ts';
import type { LetterPayload } from '../model/record.ts';
import { formatTableName } from '../model/table-name.ts';
import type { FailedRecord } from './failed-record.ts';
import { CONNECTOR, LETTER_ATTRIBUTES, LETTER_NAMES } from './attributes.ts';

/** One message of the dead-letter topic. */
export interface DeadLetter {
  readonly data: Buffer;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface DeadLetterOptions {
  readonly pipeline: string;
  /**
   * `entry`: the serialized entry; `request`: the row request in its JSON form; `record`: the record as it was published.
   * A record that became neither is always the record, and one that was staged is always the entry.
   */
  readonly payload: Exclude<LetterPayload, 'message'>;
}

/** The most a Pub/Sub message may hold, attributes included (10 MB), less room for what the service itself counts. */
export const MAX_MESSAGE_BYTES = 10_000_000 - 64 * 1024;

const MAX_ATTRIBUTES = 100;
const MAX_NAME_BYTES = 256;
const MAX_VALUE_BYTES = 1024;

/**
 * The dead letter of a record. Pure. Its attributes are those of the original message plus `dlq-*`; where Pub/Sub's
 * limits leave no room, attributes of the original are left out and counted.
 * What would not fit in a message gives way to the record, which arrived in one; where that does not fit beside the
 * attributes, or is not there any more, to its first bytes and a digest. So every letter can be published.
 */
export function deadLetterOf(failed: FailedRecord, options: DeadLetterOptions, now: number): DeadLetter {
  const { record, destination, identity, isWholeMessage } = failed;
  const { payload, data, whole } = contentOf(failed, options.payload);
  const own: Readonly<Partial<Record<keyof typeof LETTER_ATTRIBUTES, string>>> = {
    connector: CONNECTOR,
    pipeline: truncateUtf8(options.pipeline),
    ...(destination && { destination: truncateUtf8(formatTableName(destination)) }),
    reason: failed.reason,
    error: truncateUtf8(failed.detail),
    timestamp: new Date(now).toISOString(),
    payload,
    messageId: truncateUtf8(record.message.messageId),
    recordIndex: String(record.index),
    publishTime: String(record.message.publishTimeMicros),
    ...(identity !== undefined && !isWholeMessage && { identity }),
    ...(whole && { bytes: String(whole.length), digest: createHash('sha256').update(whole).digest('hex') }),
  };
  const named = Object.entries(own).map(([key, value]) => [LETTER_ATTRIBUTES[key as keyof typeof own].name, value]);
  return {
    data,
    attributes: withOriginal(
      Object.fromEntries(named) as Record<string, string>,
      record.message.attributes,
      MAX_MESSAGE_BYTES - data.length,
    ),
  };
}

interface Content {
  /** `excerpt`: the first bytes of `whole`, for a person to look at. It cannot be replayed. */
  readonly payload: LetterPayload | 'excerpt';
  readonly data: Buffer;
  readonly whole?: Buffer;
}

/** What was asked for, as far as the record became that and it fits. */
function contentOf(failed: FailedRecord, asked: DeadLetterOptions['payload']): Content {
  const { record, isWholeMessage } = failed;
  // Of a record that was staged only the entry is left.
  const payload = record.data === undefined ? 'entry' : asked;
  const bytes = writeBytes(failed, payload);
  if (bytes && bytes.length <= MAX_MESSAGE_BYTES) return { payload, data: bytes };
  const whole = record.data ?? bytes ?? NO_BYTES;
  if (whole.length > MAX_MESSAGE_BYTES)
    return { payload: 'excerpt', data: whole.subarray(0, MAX_MESSAGE_BYTES), whole };
  return { payload: isWholeMessage ? 'message' : formOf(record), data: whole };
}

const NO_BYTES = Buffer.alloc(0);

/** What the bytes of a record are: those of a letter that came back are what that letter held. */
function formOf({ message: { letter } }: FailedRecord['record']): LetterPayload {
  return letter === undefined || letter.payload === 'message' ? 'record' : letter.payload;
}

function writeBytes({ entry, encodeRequest }: FailedRecord, wanted: DeadLetterOptions['payload']): Buffer | undefined {
  switch (wanted) {
    case 'entry':
      return entry && encodeEntry(entry);
    case 'request':
      return encodeRequest?.();
    case 'record':
      return undefined;
    default:
      return wanted satisfies never;
  }
}

function withOriginal(
  own: Record<string, string>,
  original: Readonly<Record<string, string>>,
  roomBytes: number,
): Record<string, string> {
  const all = Object.entries(original).filter(([name]) => !LETTER_NAMES.has(name) && !name.startsWith('goog'));
  const kept = all.filter(([name, value]) => isPublishable(name, value));
  const keptBytes = kept.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value), 0);
  const room = keptBytes > roomBytes ? 0 : MAX_ATTRIBUTES - Object.keys(own).length - 1;
  const dropped = all.length - Math.min(kept.length, room);
  return {
    ...Object.fromEntries(kept.slice(0, room)),
    ...own,
    ...(dropped > 0 && { [LETTER_ATTRIBUTES.attributesDropped.name]: String(dropped) }),
  };
}

/** Whatever delivered the message, Pub/Sub refuses a letter as a whole for one attribute that it does not take. */
const isPublishable = (name: string, value: string): boolean =>
  name !== '' && Buffer.byteLength(name) <= MAX_NAME_BYTES && Buffer.byteLength(value) <= MAX_VALUE_BYTES;

/** Cuts to 1024 bytes, the most an attribute's value may be, on a character's boundary and with `...` for the rest. */
export function truncateUtf8(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_VALUE_BYTES) return bytes.toString();
  let end = MAX_VALUE_BYTES - 3;
  // 10xxxxxx continues a character: step back to its first byte.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${bytes.subarray(0, end).toString()}...`;
}
