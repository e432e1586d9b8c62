import type { Envelope } from '../envelope/envelope.ts';
import type { MarkedWrites } from './marked-writes.ts';
import type { TargetCheck } from '../../markers/target-check.ts';
import { targetKey, targetsOf } from '../../markers/target.ts';
import type { Unfinished, Outcome } from '../../markers/outcome.ts';

export interface EnvelopeWriting {
  readonly writes: Pick<MarkedWrites, 'submit'>;
  readonly targets: Pick<TargetCheck, 'check' | 'forget'>;
}

/**
 * What becomes of each envelope, in the order given: all of them at once, after every target was found sound. Those of
 * a target that is not are not sent, and hold up no others. Never rejects.
 */
export async function writeEnvelopes(
  envelopes: readonly Envelope[],
  { writes, targets }: EnvelopeWriting,
  signal: AbortSignal,
): Promise<readonly Outcome[]> {
  const refusals = new Map<string, Unfinished>();
  await Promise.all(
    [...targetsOf(envelopes)].map(async ([key, { target, families }]) => {
      const refusal = await targets.check(target, families, signal);
      if (refusal) refusals.set(key, refusal);
    }),
  );
  const refusalOf = (envelope: Envelope): Unfinished | undefined =>
    refusals.size > 0 ? refusals.get(targetKey(envelope)) : undefined;
  const sent = refusals.size > 0 ? envelopes.filter((envelope) => !refusalOf(envelope)) : envelopes;
  const results = await writes.submit(sent, signal);
  for (const [index, result] of results.entries()) {
    if (result.kind === 'unfinished' && isOfTarget(result)) targets.forget(sent[index] as Envelope);
  }
  if (sent.length === envelopes.length) return results;
  const next = results.values();
  return envelopes.map((envelope) => refusalOf(envelope) ?? (next.next().value as Outcome));
}

/** Whether a failure may come from what the target is. */
const isOfTarget = ({ reason }: Unfinished): boolean =>
  reason === 'missing-table' || reason === 'missing-family' || reason === 'refused';
