import { isIdentity } from '../model/identity.ts';
import type { PushedMessage } from '../model/record.ts';
import { parseTableName, type TableName } from '../model/table-name.ts';

const LETTER_PAYLOADS = ['entry', 'request', 'record', 'message'] as const;

/**
 * What the data of a dead letter is. `entry`: an entry's bytes; `request`: a row request in its JSON form; `record`: one
 * record, out of its frame; `message`: a whole message.
 */
export type LetterPayload = (typeof LETTER_PAYLOADS)[number];

/** A dead letter that was published back as it is: what its attributes say of the record inside. */
export interface ReplayedLetter {
  readonly payload: LetterPayload;
  /** The pipeline that filed it. */
  readonly pipeline?: string;
  /** What the effect of its record is known by; never of a whole message. */
  readonly identity?: string;
  /** Id of the first message that carried the record. */
  readonly messageId?: string;
  /** The record's place in the first message that carried it. */
  readonly recordIndex: number;
  /** When that message was published: cells of the replay take this time, so that it cannot overtake newer records. */
  readonly publishTimeMicros?: bigint;
  /** The table that the record was for. */
  readonly destination?: TableName;
}

/** Reads the attributes of a message; undefined when it is no dead letter of this connector. Pure. */
export function replayedLetter({ attributes }: PushedMessage): ReplayedLetter | undefined {
  if (attributes['dlq-connector'] !== 'bigtable') return undefined;
  const payload = LETTER_PAYLOADS.find((known) => known === attributes['dlq-payload']);
  if (payload === undefined) return undefined;
  const messageId = attributes['dlq-original-message-id'];
  const micros = attributes[PUBLISH_TIME];
  const pipeline = attributes['dlq-pipeline'];
  const identity = attributes['dlq-identity'];
  const destination = parseTableName(attributes['dlq-destination'] ?? '', undefined);
  return {
    payload,
    ...(pipeline !== undefined && { pipeline }),
    ...(payload !== 'message' && identity !== undefined && isIdentity(identity) && { identity }),
    ...(messageId !== undefined && { messageId }),
    recordIndex: wholeNumber(attributes['dlq-record-index']),
    ...(micros !== undefined && /^\d{1,18}$/.test(micros) && { publishTimeMicros: BigInt(micros) }),
    ...(destination && { destination }),
  };
}

/** Microseconds since the epoch, in decimal digits. */
export const PUBLISH_TIME = 'dlq-original-publish-time-micros';

const wholeNumber = (text: string | undefined): number =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : 0;
