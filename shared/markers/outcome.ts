import type { RedeliveryReason } from '../base/errors.ts';
import type { Status } from '../model/status.ts';

/** What became of one envelope. Nothing is thrown: what cannot be decided now is submitted again later, as it is. */
export type Outcome =
  | { readonly kind: 'applied' }
  /** Its marker was there already: an earlier copy is applied, and this one changed nothing. */
  | { readonly kind: 'deduplicated' }
  /** Bigtable refused it alone, for what it is: it will be refused at every attempt. */
  | { readonly kind: 'rejected'; readonly status: Status }
  /** Too old to be sent: the marker of an earlier copy may be collected, so nobody can tell whether it is applied. */
  | { readonly kind: 'beyond-horizon' }
  /** Applied or not, and to be submitted again. The message says what was attempted, what is known and what to do. */
  | {
      readonly kind: 'unfinished';
      readonly reason: RedeliveryReason;
      readonly message: string;
      /** Absent where nothing was answered. */
      readonly status?: Status;
    };

export type Unfinished = Extract<Outcome, { kind: 'unfinished' }>;

/** What the second of two who wait for one effect is told: it counts once. */
export const repeated = (result: Outcome): Outcome => (result.kind === 'applied' ? { kind: 'deduplicated' } : result);

/** The result for an invocation that ran out of time. `trouble` is why the envelope was not decided by then, if it is known. */
export const outOfTime = (reason: Error, trouble: Unfinished | undefined): Unfinished =>
  trouble
    ? { ...trouble, message: `${reason.message}; ${trouble.message}` }
    : { kind: 'unfinished', reason: 'deadline', message: reason.message };
