import type { TableName } from './table-name.ts';

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
