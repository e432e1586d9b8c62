import type { ResolvedFraming } from '../config/resolved.ts';
import { identityOf, identityOfId } from '../model/identity.ts';
import type { InputRecord } from '../model/record.ts';

/** By what a pipeline tells the effects of its records apart. */
export interface IdentityRules {
  readonly pipeline: string;
  /** As configured, so that neither the trigger nor the way a record comes back has a say in it. */
  readonly subscription: string;
  readonly framing: ResolvedFraming;
  /** Attribute by which the publisher identifies a message. */
  readonly idAttribute?: string;
}

/**
 * The identity of a record's effect: 32 hexadecimal digits. Pure, and the only definition: whatever gives an effect its
 * marker asks here. The same at every delivery and in a dead letter that comes back, which is the message that first
 * carried the record; one of a pipeline whose letters are taken over keeps the identity that it had there.
 */
export function recordIdentity({ message, index: recordIndex }: InputRecord, rules: IdentityRules): string {
  const { attributes, letter, messageId } = message;
  // Of a record whose attributes, and with them a publisher's id, may be gone.
  if (letter?.identity !== undefined) return letter.identity;
  const { subscription, framing, idAttribute } = rules;
  const pipeline = letter?.pipeline ?? rules.pipeline;
  const id = idAttribute === undefined ? undefined : attributes[idAttribute];
  if (id === undefined || id === '') return identityOf({ pipeline, subscription, messageId, recordIndex });
  // The records of one message are effects of their own.
  return identityOfId(pipeline, framing === 'single' ? id : `${recordIndex}:${id}`);
}
