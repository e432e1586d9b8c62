import { toError } from '../base/errors.ts';
import type { ResolvedFraming } from '../config/resolved.ts';
import { replayedLetter, type ReplayedLetter } from '../letters/read.ts';
import { recordsOf } from './framing.ts';
import type { InputRecord, PushedMessage } from '../model/record.ts';

/** One record of a message, with what makes it special. */
export interface FramedRecord extends InputRecord {
  /** The frame is broken: the message is the one bad record. */
  readonly broken?: Error;
  /** It came in a dead letter that was published back. */
  readonly letter?: ReplayedLetter;
}

/**
 * The records of a message. Pure. A dead letter that was published back holds one record, whatever the framing, and
 * keeps the publish time that the record had at first.
 */
export function framedRecords(message: PushedMessage, framing: ResolvedFraming): readonly FramedRecord[] {
  const letter = replayedLetter(message);
  if (!letter) return framed(message, framing);
  const timed = { ...message, publishTimeMicros: letter.publishTimeMicros ?? message.publishTimeMicros };
  if (letter.payload === 'message') return framed(timed, framing).map((record) => ({ ...record, letter }));
  return [{ message: timed, index: letter.recordIndex, data: message.data, letter }];
}

function framed(message: PushedMessage, framing: ResolvedFraming): readonly FramedRecord[] {
  try {
    return recordsOf(message, framing);
  } catch (error) {
    return [{ message, index: 0, data: message.data, broken: toError(error) }];
  }
}
