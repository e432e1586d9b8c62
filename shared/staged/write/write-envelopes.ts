import { RedeliverError } from '../../base/errors.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { FailurePolicy } from '../../letters/policy.ts';
import type { Outcome, Unfinished } from '../../markers/outcome.ts';
import type { TargetCheck, Unsound } from '../../markers/target-check.ts';
import { targetKey, targetsOf } from '../../markers/target.ts';
import type { ReceivedEnvelope } from '../envelope/create-envelope.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { failedEnvelope } from './failed-envelope.ts';

/** What is known of the envelopes that are submitted. */
export interface Submission {
  /** They were refused before: each is sent by itself, so that what is refused again costs no more than its own request. */
  readonly areSuspects?: boolean;
}

export interface EnvelopeWriting {
  readonly writes: {
    /** What became of each envelope, in the order given. Never rejects; `marked-writes.ts` says how. */
    submit(envelopes: readonly Envelope[], signal: AbortSignal, submission?: Submission): Promise<readonly Outcome[]>;
  };
  readonly targets: Pick<TargetCheck, 'check' | 'forget'>;
}

/** Everything that envelopes need from here on; made once per instance by the wiring. */
export interface EnvelopeApplying extends EnvelopeWriting {
  /** The policy for envelopes that can never be applied. */
  readonly onRejected: FailurePolicy;
  readonly runtime: Runtime;
}

/**
 * The envelopes of one message straight into their rows, without staging: the message's identity is durable in Pub/Sub.
 * Resolves when every one is applied, was applied before, or is durably handed to the failure policy, which is when the
 * message may be acknowledged; rejects with a {@link RedeliverError} when it must be redelivered.
 */
export async function writeOnReceipt(
  received: readonly ReceivedEnvelope[],
  applying: EnvelopeApplying,
  signal: AbortSignal,
): Promise<void> {
  const envelopes = received.map(({ envelope }) => envelope);
  const [open] = await applyEnvelopes(envelopes, applying, signal, received);
  if (open) throw new RedeliverError(open.reason, open.message);
}

/**
 * Envelopes into their rows. Resolves with those that are unfinished; with none once every one is applied, was applied
 * before, or is durably handed to the failure policy. The policy runs last, and only once nothing of them is left:
 * an outage does not file the same letter twice.
 *
 * @param received the records of the envelopes, in their order, where their message brought them.
 */
export async function applyEnvelopes(
  envelopes: readonly Envelope[],
  applying: EnvelopeApplying,
  signal: AbortSignal,
  received?: readonly ReceivedEnvelope[],
): Promise<readonly Unfinished[]> {
  const { onRejected, runtime } = applying;
  const outcomes = await writeEnvelopes(envelopes, applying, signal);
  recordLatencies(envelopes, outcomes, runtime, received);
  const open = outcomes.filter((outcome) => outcome.kind === 'unfinished');
  if (open.length > 0) return open;
  const failed = envelopes.flatMap(
    (envelope, index) => failedEnvelope(envelope, outcomes[index] as Outcome, received?.[index]?.record) ?? [],
  );
  if (failed.length > 0) {
    runtime.metrics.count('numRecordsSendErrors', failed.length);
    await onRejected.handle(failed, signal);
  }
  return open;
}

/**
 * The outcome of each envelope, in the order given: all of them at once, after every target was looked at. Those of a
 * target that is not sound are not sent, nor those that name a family which is missing; they hold up no others. Never
 * rejects.
 */
export async function writeEnvelopes(
  envelopes: readonly Envelope[],
  { writes, targets }: EnvelopeWriting,
  signal: AbortSignal,
  submission: Submission = {},
): Promise<readonly Outcome[]> {
  const unsound = new Map<string, Unsound>();
  await Promise.all(
    [...targetsOf(envelopes)].map(async ([key, { target, families }]) => {
      const found = await targets.check(target, families, signal);
      if (found) unsound.set(key, found);
    }),
  );
  const refusals = unsound.size > 0 ? envelopes.map((envelope) => refusalOf(envelope, unsound)) : undefined;
  const sent = refusals ? envelopes.filter((_, index) => !refusals[index]) : envelopes;
  const outcomes = await writes.submit(sent, signal, submission);
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.kind === 'unfinished' && isOfTarget(outcome)) targets.forget(sent[index] as Envelope);
  }
  if (!refusals) return outcomes;
  const next = outcomes.values();
  return refusals.map((refusal) => refusal ?? (next.next().value as Outcome));
}

/** Why an envelope is not sent: its target takes nothing, or lacks a family that it names. */
function refusalOf(envelope: Envelope, unsound: ReadonlyMap<string, Unsound>): Unfinished | undefined {
  const found = unsound.get(targetKey(envelope));
  if (found?.kind !== 'families') return found?.refusal;
  const missing = envelope.dataFamilies.find((family) => found.refusals.has(family));
  return missing === undefined ? undefined : found.refusals.get(missing);
}

/** Whether a failure may come from what the target is. */
const isOfTarget = ({ reason }: Unfinished): boolean =>
  reason === 'missing-table' || reason === 'missing-family' || reason === 'refused';

function recordLatencies(
  envelopes: readonly Envelope[],
  outcomes: readonly Outcome[],
  { clock, metrics }: Runtime,
  received: readonly ReceivedEnvelope[] | undefined,
): void {
  const now = clock.now();
  for (const [index, { source }] of envelopes.entries()) {
    if (outcomes[index]?.kind !== 'applied' || received?.[index]?.isReplayed === true) continue;
    metrics.record('publishToAppliedLatency', now - Number(source.publishTimeMicros / 1000n));
  }
}
