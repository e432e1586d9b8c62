import { backoffDelay } from '../../base/backoff.ts';
import type { RedeliveryReason } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import type { RestHead } from '../state.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { encodeSegment } from '../envelope/segment.ts';
import type { NewRest, StoredRest, StoredSegment } from '../ports.ts';

/**
 * What could not be finished of a segment, set apart so that nothing waits behind it. Pure but for the randomness that is
 * handed in. It is tried again after half a minute, then at doubling distances up to a quarter of an hour, for as long as
 * it takes: once its cause is fixed it goes with no hand on a document.
 */
const TRIES = { initialMillis: 30_000, maxMillis: 15 * 60_000, jitter: 0.25 };

/** Characters of a problem that are kept for people. */
const PROBLEM_CHARACTERS = 1000;

/**
 * Whether an envelope is left because of what it is, or of what its table is: refused, and refused again until somebody
 * changes something. Everything else is only unavailable: it stays as it is, and an outage rewrites nothing.
 */
export const isForItsOwnSake = (reason: RedeliveryReason): boolean =>
  reason === 'missing-table' || reason === 'missing-family' || reason === 'refused';

/** @param open at least one. */
export function newRest(
  { head: { id, parts, stagedAt }, payload }: StoredSegment,
  open: readonly Envelope[],
  problem: string,
  now: number,
  random: Random,
): NewRest {
  return restOf({ id, parts, stagedAt }, payload, open, problem, { attempts: 0, now, random });
}

/** After one more attempt at a rest. */
export const nextRest = (
  { head: { id, parts, stagedAt, attempts }, payload }: StoredRest,
  open: readonly Envelope[],
  problem: string,
  now: number,
  random: Random,
): NewRest => restOf({ id, parts, stagedAt }, payload, open, problem, { attempts: attempts + 1, now, random });

function restOf(
  { id, parts, stagedAt }: Pick<RestHead, 'id' | 'parts' | 'stagedAt'>,
  before: Buffer,
  open: readonly Envelope[],
  problem: string,
  { attempts, now, random }: { readonly attempts: number; readonly now: number; readonly random: Random },
): NewRest {
  // What needs parts is one envelope, which is open as a whole.
  const payload = parts > 0 ? before : encodeSegment(open);
  const head = {
    id,
    problem: problem.slice(0, PROBLEM_CHARACTERS),
    attempts,
    tryAt: now + Math.round(backoffDelay(TRIES, attempts + 1, random)),
    envelopes: open.length,
    bytes: payload.length,
    parts,
    stagedAt,
  };
  return { head, payload };
}
