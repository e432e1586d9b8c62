import { nextTurn, RECORDS_PER_TURN } from '../../base/clock.ts';
import { RecordError, RedeliverError } from '../../base/errors.ts';
import type { Runtime } from '../../base/runtime.ts';
import { countFailures, type FailedRecord } from '../../letters/failed-record.ts';
import type { FailurePolicy } from '../../letters/policy.ts';
import type { PushedMessage } from '../../model/record.ts';
import { type FramedRecord, framedRecords } from '../../records/framed-records.ts';
import { recordIdentity } from '../../records/identity.ts';
import { prepareWrite, type Reading, type Unprepared } from '../../records/prepare.ts';
import { type EnvelopeOptions, type ReceivedEnvelope, envelopeOfRecord } from '../envelope/create-envelope.ts';

/** Everything a message needs; made once per instance by the wiring. */
export interface StagedSink extends Reading {
  readonly envelopes: EnvelopeOptions;
  /** Throws a `RedeliverError` where nothing more may be taken in now. */
  readonly admit: () => void;
  /** Makes the envelopes of a message durable, in the store or in their rows. Rejects with a `RedeliverError`. */
  readonly keep: (received: readonly ReceivedEnvelope[], signal: AbortSignal) => Promise<void>;
  /** The policy for records that never become an envelope. */
  readonly policy: FailurePolicy;
  readonly perDestinationMetrics: boolean;
  readonly runtime: Runtime;
}

/** What a record becomes before anything is kept. */
type Enveloped = { readonly kind: 'envelope'; readonly received: ReceivedEnvelope } | Unprepared;

/**
 * One message from its push to the right to acknowledge it. Resolves when every record of it is durable under its
 * identity, skipped, or durably handed to the failure policy; rejects with a {@link RedeliverError} when the message
 * must be redelivered.
 *
 * The order for each record is fixed: destination → serialize → skip → envelope → keep. The failure policy runs last,
 * once all else of the message is kept, so that an outage does not file the same dead letter at every delivery.
 */
export async function stageMessage(message: PushedMessage, sink: StagedSink, signal: AbortSignal): Promise<void> {
  const { runtime } = sink;
  sink.admit();
  const records = framedRecords(message, sink.framing);
  if (records.length === 0) runtime.metrics.count('messagesWithoutRecords');
  const enveloped: Enveloped[] = [];
  for (const [at, record] of records.entries()) {
    if (at > 0 && at % RECORDS_PER_TURN === 0) await nextTurn(runtime.clock);
    enveloped.push(envelop(record, sink));
  }
  // Nothing is stored of a message that must be redelivered: it would be stored anew at every delivery.
  const again = enveloped.find((one) => one.kind === 'redeliver');
  if (again) throw new RedeliverError(again.reason, again.message);
  const skipped = enveloped.filter(({ kind }) => kind === 'skipped').length;
  if (skipped > 0) runtime.metrics.count('recordsSkipped', skipped);
  await sink.keep(
    enveloped.flatMap((one) => (one.kind === 'envelope' ? [one.received] : [])),
    signal,
  );
  const failed = enveloped.flatMap((one) => (one.kind === 'failed' ? [one.failed] : []));
  countFailures(failed, sink);
  if (failed.length > 0) await sink.policy.handle(failed, signal);
}

function envelop(record: FramedRecord, sink: StagedSink): Enveloped {
  const prepared = prepareWrite(record, sink);
  if (prepared.kind === 'failed') return { kind: 'failed', failed: identified(prepared.failed, record, sink) };
  if (prepared.kind !== 'write') return prepared;
  const { table, entry } = prepared;
  try {
    const envelope = envelopeOfRecord(record, table, entry, sink.envelopes);
    return { kind: 'envelope', received: { envelope, record, isReplayed: record.message.letter !== undefined } };
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    const detail = `cannot be applied exactly once: ${error.message}`;
    const failed = { record, destination: table, entry, reason: 'serializer', summary: detail, detail } as const;
    return { kind: 'failed', failed: identified(failed, record, sink) };
  }
}

/** With what its effect would have been known by, so that it counts once whoever takes it back. */
const identified = (failed: FailedRecord, record: FramedRecord, { envelopes }: StagedSink): FailedRecord => ({
  ...failed,
  identity: recordIdentity(record, envelopes),
});
