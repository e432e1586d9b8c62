import type { RowEntry } from '../../model/mutation.ts';
import type { TableName } from '../../model/table-name.ts';
import type { FramedRecord } from '../../records/framed-records.ts';
import { type IdentityRules, placeOf, recordIdentity } from '../../records/identity.ts';
import { createEnvelope, type Envelope } from './envelope.ts';
import { markerTimestampMicros } from '../../markers/lifetime.ts';

/** What of a pipeline goes into its envelopes. */
export interface EnvelopeOptions extends IdentityRules {
  /** Empty is the instance's default profile. */
  readonly appProfileId: string;
  readonly markerFamily: string;
  readonly markerHorizonMillis?: number;
}

/** Freezes what a record became. Pure. Throws a `RecordError` for an entry that cannot be applied exactly once. */
export function envelopeOfRecord(
  record: FramedRecord,
  table: TableName,
  entry: RowEntry,
  options: EnvelopeOptions,
): Envelope {
  const { publishTimeMicros } = record.message;
  return createEnvelope({
    identity: recordIdentity(record, options),
    table,
    appProfileId: options.appProfileId,
    markerFamily: options.markerFamily,
    markerTimestampMicros: markerTimestampMicros(publishTimeMicros, options.markerHorizonMillis),
    entry,
    source: { ...placeOf(record, options.pipeline), publishTimeMicros },
  });
}
