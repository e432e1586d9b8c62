import { RedeliverError } from '../../base/errors.ts';
import type { Clock } from '../../base/clock.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { FailedSource } from '../../letters/failed-record.ts';
import type { FailurePolicy } from '../../letters/policy.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { failedEnvelope } from '../envelope/failed-envelope.ts';
import { type EnvelopeWriting, writeEnvelopes } from './write-envelopes.ts';
import type { Outcome } from '../../markers/outcome.ts';

export interface ReceiptWriting extends EnvelopeWriting {
  /** What becomes of envelopes that can never be applied. */
  readonly onRejected: FailurePolicy;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** An envelope and its record, as the message brought it. */
export interface ReceivedEnvelope {
  readonly envelope: Envelope;
  readonly record: FailedSource;
  /** It came in a dead letter that was published back: what it waited for was a person, and is no latency. */
  readonly isReplayed: boolean;
}

/**
 * The envelopes of one message straight into their rows, without staging: the message's identity is durable in Pub/Sub.
 * Resolves when every one is applied, was applied before, or is durably handed to the failure policy, which is when the
 * message may be acknowledged; rejects with a {@link RedeliverError} when it must be redelivered.
 */
export async function writeOnReceipt(
  received: readonly ReceivedEnvelope[],
  receipt: ReceiptWriting,
  signal: AbortSignal,
): Promise<void> {
  const envelopes = received.map(({ envelope }) => envelope);
  const results = await writeEnvelopes(envelopes, receipt, signal);
  countApplied(received, results, receipt);
  const open = results.find((result) => result.kind === 'unfinished');
  if (open) throw new RedeliverError(open.reason, open.message);
  // Last, and only once nothing of the message must be redelivered: an outage does not file the same letter twice.
  const failed = received.flatMap(
    ({ envelope, record }, index) => failedEnvelope(envelope, results[index] as Outcome, record) ?? [],
  );
  if (failed.length === 0) return;
  receipt.metrics.count('numRecordsSendErrors', failed.length);
  await receipt.onRejected.handle(failed, signal);
}

function countApplied(
  received: readonly ReceivedEnvelope[],
  results: readonly Outcome[],
  { clock, metrics }: ReceiptWriting,
): void {
  const now = clock.now();
  for (const [index, { envelope, isReplayed }] of received.entries()) {
    if (isReplayed || results[index]?.kind !== 'applied') continue;
    metrics.record('publishToAppliedLatency', now - Number(envelope.source.publishTimeMicros / 1000n));
  }
}
