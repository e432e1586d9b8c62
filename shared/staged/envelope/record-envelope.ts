import type { ResolvedFraming } from '../../config/resolved.ts';
import { replayedLetter } from '../../letters/read.ts';
import { identityOf, identityOfId, isIdentity } from '../../model/identity.ts';
import type { RowEntry } from '../../model/mutation.ts';
import type { InputRecord, PushedMessage } from '../../model/record.ts';
import type { TableName } from '../../model/table-name.ts';
import { createEnvelope, type Envelope, type EnvelopeSource } from './envelope.ts';
import { markerTimestampMicros } from '../../markers/lifetime.ts';

/** What of a pipeline goes into its envelopes. */
export interface EnvelopeOptions {
  readonly pipeline: string;
  /** As configured, so that the trigger has no say in it. */
  readonly subscription: string;
  readonly framing: ResolvedFraming;
  /** Attribute by which the publisher identifies a message. */
  readonly idAttribute?: string;
  /** Empty is the instance's default profile. */
  readonly appProfileId: string;
  readonly markerFamily: string;
  readonly markerHorizonMillis?: number;
}

/** Freezes what a record became. Pure. Throws a `RecordError` for an entry that cannot be applied exactly once. */
export function envelopeOfRecord(
  record: InputRecord,
  table: TableName,
  entry: RowEntry,
  options: EnvelopeOptions,
): Envelope {
  const source = sourceOf(record, options.pipeline);
  return createEnvelope({
    identity: identityOfLetter(record, options.pipeline) ?? identityOfRecord(record, source, options),
    table,
    appProfileId: options.appProfileId,
    markerFamily: options.markerFamily,
    markerTimestampMicros: markerTimestampMicros(source.publishTimeMicros, options.markerHorizonMillis),
    entry,
    source,
  });
}

/** The message that first carried the record, where it came in a dead letter of this pipeline that was published back. */
export function sourceOf({ message, index }: InputRecord, pipeline: string): EnvelopeSource {
  const letter = isOwnLetter(message, pipeline) ? replayedLetter(message) : undefined;
  return {
    messageId: letter?.messageId ?? message.messageId,
    recordIndex: index,
    publishTimeMicros: message.publishTimeMicros,
  };
}

/** Only within a pipeline does what a letter says of its first message identify anything. */
const isOwnLetter = ({ attributes }: PushedMessage, pipeline: string): boolean =>
  attributes['dlq-connector'] === 'bigtable' && attributes['dlq-pipeline'] === pipeline;

/** Of a letter whose record was staged: its attributes, and with them a publisher's id, are gone. */
function identityOfLetter({ message }: InputRecord, pipeline: string): string | undefined {
  const identity = isOwnLetter(message, pipeline) ? message.attributes['dlq-identity'] : undefined;
  return identity !== undefined && isIdentity(identity) ? identity : undefined;
}

function identityOfRecord({ message }: InputRecord, source: EnvelopeSource, options: EnvelopeOptions): string {
  const { pipeline, subscription, framing, idAttribute } = options;
  const id = idAttribute === undefined ? undefined : message.attributes[idAttribute];
  if (id === undefined || id === '') {
    return identityOf({ pipeline, subscription, messageId: source.messageId, recordIndex: source.recordIndex });
  }
  // The records of one message are effects of their own.
  return identityOfId(pipeline, framing === 'single' ? id : `${source.recordIndex}:${id}`);
}
