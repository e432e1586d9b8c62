import type { ResolvedFraming } from '../config/resolved.ts';
import { identityOf, identityOfId } from '../model/identity.ts';
import type { ReplayedLetter } from '../letters/read.ts';
import type { FramedRecord } from './framed-records.ts';

/** By what a pipeline tells the effects of its records apart. */
export interface IdentityRules {
  readonly pipeline: string;
  /** As configured, so that neither the trigger nor the way a record comes back has a say in it. */
  readonly subscription: string;
  readonly framing: ResolvedFraming;
  /** Attribute by which the publisher identifies a message. */
  readonly idAttribute?: string;
}

/** The message that first carried a record, and the record's place in it. */
export interface RecordPlace {
  readonly messageId: string;
  /** From 0. */
  readonly recordIndex: number;
}

/** Where a record came from at first: a dead letter of the pipeline that is published back keeps its first message and place. */
export const placeOf = (record: FramedRecord, pipeline: string): RecordPlace => ({
  messageId: ownLetter(record, pipeline)?.messageId ?? record.message.messageId,
  recordIndex: record.index,
});

/** Only within a pipeline does what a letter says of its first message identify anything. */
const ownLetter = ({ letter }: FramedRecord, pipeline: string): ReplayedLetter | undefined =>
  letter?.pipeline === pipeline ? letter : undefined;

/**
 * The identity of a record's effect: 32 hexadecimal digits. Pure, and the only definition: whatever gives an effect its
 * marker asks here. The same at every delivery and in a dead letter that is published back, whatever the push says of
 * its subscription.
 */
export function recordIdentity(record: FramedRecord, rules: IdentityRules): string {
  const { pipeline, subscription, framing, idAttribute } = rules;
  // Of a record whose attributes, and with them a publisher's id, may be gone.
  const known = ownLetter(record, pipeline)?.identity;
  if (known !== undefined) return known;
  const { messageId, recordIndex } = placeOf(record, pipeline);
  const id = idAttribute === undefined ? undefined : record.message.attributes[idAttribute];
  if (id === undefined || id === '') return identityOf({ pipeline, subscription, messageId, recordIndex });
  // The records of one message are effects of their own.
  return identityOfId(pipeline, framing === 'single' ? id : `${recordIndex}:${id}`);
}
