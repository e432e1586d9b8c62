import { type RedeliveryReason, toError } from '../../base/errors.ts';
import { describeError } from '../../base/logging.ts';
import { isTopicOutage } from '../../letters/policy.ts';
import type { Outcome } from '../../markers/outcome.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { failedEnvelope } from '../write/failed-envelope.ts';
import { decodeSegment } from '../envelope/segment.ts';
import type { FinishedSegment, StoredSegment } from '../ports.ts';
import { writeEnvelopes } from '../write/write-envelopes.ts';
import type { Committer, Drained } from './committer.ts';
import type { Ending } from './ending.ts';
import { isForItsOwnSake, newRest } from './rest.ts';

/** Envelopes that were written together, and what became of each. */
export interface Written {
  readonly envelopes: readonly Envelope[];
  readonly results: readonly Outcome[];
}

/** What is left of them: nothing, what has to be set apart, or why they stay as they are. */
export type Left =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'open'; readonly open: readonly Envelope[]; readonly problem: string }
  | { readonly kind: 'unavailable'; readonly reason: RedeliveryReason; readonly message: string };

/** A segment with its envelopes. */
interface ReadSegment {
  readonly stored: StoredSegment;
  readonly envelopes: readonly Envelope[];
}

/**
 * Segments from their payloads to their ends: all envelopes of the page at once, so that those of one row go out
 * together; then each segment for itself, and one commit for all that are answered or set apart.
 */
export async function drainPage(
  page: readonly StoredSegment[],
  committer: Committer,
  ending: Ending,
): Promise<Drained> {
  const read = page.flatMap((stored) => readSegment(stored, committer));
  const results = await writeEnvelopes(
    read.flatMap(({ envelopes }) => envelopes),
    committer,
    ending.signal,
  );
  const unreadable = page.length - read.length;
  const ends = await Promise.all(
    sliced(read, results).map(async ({ stored, written }) => ({
      stored,
      left: await settle(written, committer, ending),
    })),
  );
  const finished = ends.flatMap(({ stored, left }) => finishedBy(stored, left, committer));
  if (finished.length > 0) await committer.store.finish(finished, ending.storing);
  const { metrics } = committer.runtime;
  if (finished.length > 0) metrics.count('segmentsCommitted', finished.length);
  const stay = ends.flatMap(({ left }) => (left.kind === 'unavailable' ? [left] : []));
  const unavailable = stay.at(0) ?? (unreadable > 0 ? UNREADABLE : undefined);
  return { segments: stay.length + unreadable, ...(unavailable && { unavailable }) };
}

/** What envelopes have come to, once the failure policy has had those that can never be applied. */
export async function settle({ envelopes, results }: Written, committer: Committer, ending: Ending): Promise<Left> {
  countApplied(envelopes, results, committer);
  const unfinished = results.flatMap((result) => (result.kind === 'unfinished' ? [result] : []));
  const unavailable = unfinished.find(({ reason }) => !isForItsOwnSake(reason));
  // Last, and only once nothing of the segment is left: an outage does not file the same letter twice.
  if (unavailable) return { kind: 'unavailable', reason: unavailable.reason, message: unavailable.message };
  const refused = envelopes.filter((_, index) => results[index]?.kind === 'unfinished');
  const unfiled = await fileFailed({ envelopes, results }, committer, ending);
  if (unfiled && ending.signal.aborted) {
    return { kind: 'unavailable', reason: 'deadline', message: unfiled.message };
  }
  if (unfiled?.isOutage) return { kind: 'unavailable', reason: 'dead-letter-unconfirmed', message: unfiled.message };
  const open = [...refused, ...(unfiled?.envelopes ?? [])];
  if (open.length === 0) return { kind: 'nothing' };
  return { kind: 'open', open, problem: unfinished.at(0)?.message ?? unfiled?.message ?? '' };
}

interface Unfiled {
  readonly envelopes: readonly Envelope[];
  readonly message: string;
  /** The topic is only unavailable: it is asked again, and nothing is rewritten. */
  readonly isOutage: boolean;
}

/** Gives the policy what can never be applied; what it would not take, and why. */
async function fileFailed(
  { envelopes, results }: Written,
  { onRejected, runtime: { metrics } }: Committer,
  { signal }: Ending,
): Promise<Unfiled | undefined> {
  const failed = envelopes.flatMap((envelope, index) => {
    const result = results[index];
    const record = result && failedEnvelope(envelope, result);
    return record ? [{ envelope, record }] : [];
  });
  if (failed.length === 0) return undefined;
  metrics.count('numRecordsSendErrors', failed.length);
  try {
    await onRejected.handle(
      failed.map(({ record }) => record),
      signal,
    );
    return undefined;
  } catch (error) {
    const envelopes = failed.map(({ envelope }) => envelope);
    return { envelopes, message: toError(error).message, isOutage: isTopicOutage(error) };
  }
}

function finishedBy(stored: StoredSegment, left: Left, { runtime }: Committer): FinishedSegment[] {
  switch (left.kind) {
    case 'nothing':
      return [{ head: stored.head }];
    case 'open': {
      const { clock, random, metrics, logger } = runtime;
      metrics.count('envelopesSetApart', left.open.length);
      logger.log('ERROR', `envelopes were set apart, and are tried again later: ${left.problem}`, {
        segment: stored.head.id,
        envelopes: left.open.length,
      });
      return [{ head: stored.head, rest: newRest(stored, left.open, left.problem, clock.now(), random) }];
    }
    case 'unavailable':
      return [];
    default:
      return left satisfies never;
  }
}

const UNREADABLE = { reason: 'unexpected', message: 'a segment cannot be read by this version; see the log' } as const;

/** One that cannot be read stays for a version that can, and holds up no other. */
function readSegment(stored: StoredSegment, { runtime: { logger } }: Committer): ReadSegment[] {
  try {
    return [{ stored, envelopes: decodeSegment(stored.payload) }];
  } catch (error) {
    logger.log('ERROR', 'a segment cannot be read', { segment: stored.head.id, error: describeError(error) });
    return [];
  }
}

function sliced(
  read: readonly ReadSegment[],
  results: readonly Outcome[],
): { readonly stored: StoredSegment; readonly written: Written }[] {
  let at = 0;
  return read.map(({ stored, envelopes }) => {
    const own = results.slice(at, (at += envelopes.length));
    return { stored, written: { envelopes, results: own } };
  });
}

function countApplied(
  envelopes: readonly Envelope[],
  results: readonly Outcome[],
  { runtime: { clock, metrics } }: Committer,
): void {
  const now = clock.now();
  for (const [index, { source }] of envelopes.entries()) {
    if (results[index]?.kind !== 'applied') continue;
    metrics.record('publishToAppliedLatency', now - Number(source.publishTimeMicros / 1000n));
  }
}
