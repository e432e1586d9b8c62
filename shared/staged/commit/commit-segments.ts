import type { Clock } from '../../base/clock.ts';
import { RedeliverError, type RedeliveryReason, toError } from '../../base/errors.ts';
import { describeError } from '../../base/logging.ts';
import { type HeldSegment, HeldSegments } from './held-segments.ts';
import type { CommittingStore } from '../ports.ts';
import type { CommitWork } from '../work-message.ts';
import { decodeSegment } from '../envelope/segment.ts';
import { StoreError } from '../../model/store.ts';
import { applyEnvelopes, type EnvelopeApplying } from '../write/write-envelopes.ts';

/** Everything that draining needs; made once per instance by the wiring. */
export interface Committer extends EnvelopeApplying {
  readonly store: CommittingStore;
  /** A new name for each invocation. */
  readonly newHolder: () => string;
}

/** What became of a segment: answered for all of its envelopes, or why not. */
type Drained =
  | { readonly kind: 'answered' }
  /** Another invocation drains it now. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'unfinished'; readonly reason: RedeliveryReason; readonly message: string };

/**
 * One work message: the segments of a completed checkpoint from their claims to their deletion. Resolves when nothing
 * of the work is left to this message: its segments are finished, gone, or held by another invocation. Rejects with a
 * {@link RedeliverError} when some were given back.
 *
 * A segment is deleted only when every envelope in it is applied, was applied before, or is durably handed to the
 * failure policy. Until then its envelopes stay as they are, and are sent again as they are.
 */
export async function commitSegments(work: CommitWork, committer: Committer, signal: AbortSignal): Promise<void> {
  const ending = endingSignal(committer.runtime.clock);
  try {
    const stored = await committer.store.readSegments(work.segments, signal);
    const held = await HeldSegments.claim(stored, { ...committer, holder: committer.newHolder() }, signal);
    const { segments } = held;
    const drained = await Promise.all(segments.map((segment) => drainSegment(segment, committer)));
    await held.end();
    const answered = segments.filter((_, index) => drained[index]?.kind === 'answered');
    const unfinished = drained.flatMap((one, index) => {
      const segment = segments[index];
      return segment && one.kind === 'unfinished' ? [{ segment, ...one }] : [];
    });
    ending.start();
    await held.giveBack(unfinished, ending.signal);
    await finish(answered, committer, ending.signal);
    const [first] = unfinished;
    if (first) throw new RedeliverError(first.reason, describe(work, unfinished.length, first.message));
  } catch (error) {
    committer.runtime.metrics.count('requestsFailed');
    throw error instanceof StoreError ? ofStore(work, error) : error;
  } finally {
    ending.end();
  }
}

async function drainSegment(segment: HeldSegment, committer: Committer): Promise<Drained> {
  try {
    const open = await applyEnvelopes(decodeSegment(segment.payload), committer, segment.signal);
    const [first] = open;
    if (first) {
      return segment.lost.aborted ? { kind: 'lost' } : { ...first, message: ofMany(first.message, open.length) };
    }
    return { kind: 'answered' };
  } catch (error) {
    if (segment.lost.aborted) return { kind: 'lost' };
    const { head } = segment;
    committer.runtime.logger.log('ERROR', 'a segment could not be drained', {
      segment: head.id,
      checkpoint: head.checkpoint,
      error: describeError(error),
    });
    const reason = error instanceof RedeliverError ? error.reason : 'unexpected';
    return { kind: 'unfinished', reason, message: toError(error).message };
  }
}

/** In one commit, because it counts a checkpoint down; one by one where somebody else has finished any of them. */
async function finish(answered: readonly HeldSegment[], committer: Committer, signal: AbortSignal): Promise<void> {
  if (answered.length === 0) return;
  const heads = answered.map(({ head }) => head);
  const result = await committer.store.finish(heads, committer.runtime.clock.now(), signal);
  if (result === 'committed') committer.runtime.metrics.count('segmentsCommitted', heads.length);
  else if (answered.length > 1) for (const one of answered) await finish([one], committer, signal);
}

/** What is decided is stored even when the invocation's own time is used up: within the margin it has to answer in. */
function endingSignal(clock: Clock): { signal: AbortSignal; start: () => void; end: () => void } {
  const controller = new AbortController();
  let cancel: (() => void) | undefined;
  return {
    signal: controller.signal,
    start: () => {
      cancel = clock.after(ENDING_MILLIS, () => {
        const message = `Firestore did not answer within ${ENDING_MILLIS} ms what the work came to; it is told again at the next delivery, and no effect counts twice`;
        controller.abort(new RedeliverError('transient', message));
      });
    },
    end: () => cancel?.(),
  };
}

const ENDING_MILLIS = 5000;

const ofMany = (message: string, count: number): string => (count === 1 ? message : `${message} (one of ${count})`);

const describe = ({ checkpoint, segments }: CommitWork, count: number, message: string): string =>
  `${count} of ${segments.length} segments of checkpoint ${checkpoint} are not finished: ${message}`;

const ofStore = ({ checkpoint }: CommitWork, error: StoreError): RedeliverError =>
  new RedeliverError(
    error.isTransient ? 'transient' : 'refused',
    `the segments of checkpoint ${checkpoint} are not finished: ${error.message}`,
    { cause: error },
  );
