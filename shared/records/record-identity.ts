import { identityOf } from '../model/identity.ts';
import type { FramedRecord } from './framed-records.ts';

/** Where a record came from at first: a dead letter that is published back keeps its first message and place. */
export const originOf = ({ message, index, letter }: FramedRecord) => ({
  messageId: letter?.messageId ?? message.messageId,
  recordIndex: letter?.recordIndex ?? index,
});

/** The identity of a record's effect, the same at every delivery and in a dead letter that is published back. */
export const recordIdentity = (record: FramedRecord, pipeline: string): string =>
  identityOf({ pipeline, subscription: record.message.subscription, ...originOf(record) });
