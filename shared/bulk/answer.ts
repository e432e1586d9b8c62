import { type Status, STATUSES } from '../model/status.ts';

/**
 * What one entry of a `MutateRows` request was told. There is one answer per entry, by index, and *unanswered* is an
 * answer of its own: silence is never success. Pure.
 */
export type EntryAnswer =
  | { readonly kind: 'applied' }
  /** The service's status for this entry, or for the whole request where it refused that. */
  | { readonly kind: 'refused'; readonly status: Status }
  /** Nothing was said of this entry; it may or may not be applied. `status` is how the request ended, if badly. */
  | { readonly kind: 'unanswered'; readonly status?: Status };

/** The service asks for `factor` times the present rate, to be held for `periodMillis`. */
export interface RateLimit {
  readonly factor: number;
  readonly periodMillis: number;
}

/**
 * Completes the answers of a request that has ended: an entry that was told nothing is *refused* where the request's
 * own status is a judgement on all of it (`INVALID_ARGUMENT`, `NOT_FOUND`, `PERMISSION_DENIED` …), else *unanswered*.
 */
export function completeAnswers(told: readonly (EntryAnswer | undefined)[], ending: Status | undefined): EntryAnswer[] {
  const rest: EntryAnswer =
    ending === undefined || ending.code === 'OK'
      ? { kind: 'unanswered' }
      : STATUSES[ending.code].leavesEffectOpen
        ? { kind: 'unanswered', status: ending }
        : { kind: 'refused', status: ending };
  return Array.from(told, (answer) => answer ?? rest);
}
