import { toError } from '../base/errors.ts';
import type { ResolvedFraming } from '../config/resolved.ts';
import { recordsOf } from './framing.ts';
import type { InputRecord, PushedMessage } from '../model/record.ts';

/** One record of a message, with what makes it special. */
export interface FramedRecord extends InputRecord {
  /** The frame is broken: the message is the one bad record. */
  readonly broken?: Error;
}

/** The records of a message. Pure. One that came back as a dead letter of a record holds that one, whatever the framing. */
export function framedRecords(message: PushedMessage, framing: ResolvedFraming): readonly FramedRecord[] {
  const { letter } = message;
  if (letter && letter.payload !== 'message') return [{ message, index: letter.recordIndex, data: message.data }];
  try {
    return recordsOf(message, framing);
  } catch (error) {
    return [{ message, index: 0, data: message.data, broken: toError(error) }];
  }
}
