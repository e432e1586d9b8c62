import type { TableName } from './table-name.ts';

/**
 * A message as Pub/Sub pushed it, and the records inside. Both are plain values; the adapter in
 * `shared/google/pubsub` makes them and nothing after it sees a push body.
 */
export interface PushedMessage {
  /** Given by Pub/Sub at publish; the same on every redelivery. */
  readonly messageId: string;
  /** When the topic took the message, in microseconds; the same on every redelivery. */
  readonly publishTimeMicros: bigint;
  readonly data: Buffer;
  readonly attributes: Readonly<Record<string, string>>;
  /** Empty when the publisher set none. */
  readonly orderingKey: string;
  /** `projects/p/subscriptions/s`; empty where the trigger does not say. */
  readonly subscription: string;
  /** Pub/Sub counts attempts only where a dead-letter policy is set. */
  readonly deliveryAttempt?: number;
  /**
   * It came back as a dead letter: all else here is what the first message said, but for the data, which is the
   * letter's. Set by the way back for letters and by nothing else: no attribute of a message makes it one.
   */
  readonly letter?: ReturnedLetter;
}

/** One record: the whole message, or one part of it where the pipeline's framing says so. */
export interface InputRecord {
  readonly message: PushedMessage;
  /** Position in the message, from 0. With the message id it names the record forever. */
  readonly index: number;
  readonly data: Buffer;
}

/**
 * Most records in one message. What a record costs beside its bytes is held for all of them until the message is decided,
 * and an instance remembers as many of an undecided message between its deliveries.
 */
export const MAX_RECORDS = 100_000;

export const LETTER_PAYLOADS = ['entry', 'request', 'record', 'message'] as const;

/**
 * What the data of a dead letter is. `entry`: an entry's bytes; `request`: a row request in its JSON form; `record`: one
 * record, out of its frame; `message`: a whole message.
 */
export type LetterPayload = (typeof LETTER_PAYLOADS)[number];

/** What a dead letter that came back says of the record inside, beside the message that first carried it. */
export interface ReturnedLetter {
  readonly payload: LetterPayload;
  /** The pipeline that filed it. */
  readonly pipeline: string;
  /** The record's place in the first message that carried it. */
  readonly recordIndex: number;
  /** The table that the record was for. */
  readonly destination?: TableName;
  /** What the effect of its record is known by; never of a whole message. */
  readonly identity?: string;
}
