import type { RedeliveryReason } from '../base/errors.ts';
import type { RowAnswer } from '../model/row-answer.ts';
import type { Status } from '../model/status.ts';

/** What became of one request after its one attempt. Nothing is thrown, and what is not known is said to be unknown. */
export type Outcome =
  | {
      readonly kind: 'answered';
      readonly answer: RowAnswer;
      /** The selected branch of a conditional request holds no mutation. */
      readonly isEmptyBranch: boolean;
      /** An earlier attempt had applied it and this one changed nothing; told by its marker. */
      readonly replayed?: true;
      /**
       * The predicate matched, or an earlier attempt had decided it and its marker matched: one answer cannot say which.
       * Either way nothing was changed now, and the first decision stands.
       */
      readonly mayBeReplayed?: true;
    }
  /** The request itself is wrong and will be wrong at every attempt: it belongs to the failure policy. */
  | { readonly kind: 'rejected'; readonly status: Status; readonly message: string }
  /** It may or may not be applied, and nobody will ever tell. */
  | { readonly kind: 'ambiguous'; readonly status: Status; readonly message: string; readonly isTimeout: boolean }
  /** It failed for a reason that is not its own. */
  | {
      readonly kind: 'fatal';
      readonly reason: RedeliveryReason;
      /** Absent where nothing was sent. */
      readonly status?: Status;
      readonly message: string;
    }
  /** `maxInFlightRequests` are out and the caller would not wait. */
  | { readonly kind: 'busy' };
