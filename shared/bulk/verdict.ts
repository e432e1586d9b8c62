import { isConnectionLoss, isMissingFamily, type Status, STATUSES } from '../model/status.ts';
import type { EntryAnswer } from './answer.ts';

/**
 * What one answer means for its entry. Pure. Only `INVALID_ARGUMENT`, which gRPC defines as independent of the
 * system's state, may ever reach a policy that drops; and only when the entry was alone in its request, because the
 * service refuses a whole request for one entry.
 */
export type Verdict =
  | { readonly kind: 'applied' }
  /** Refused together with others: to be narrowed down before anyone is blamed. */
  | { readonly kind: 'suspect'; readonly status: Status }
  /** Refused alone: this record is wrong. */
  | { readonly kind: 'rejected'; readonly status: Status }
  /** A transient failure: worth another attempt within the invocation's time. */
  | { readonly kind: 'retry'; readonly status: Status }
  /** Back to Pub/Sub at once: waiting here would not help. */
  | {
      readonly kind: 'redeliver';
      readonly reason: 'missing-table' | 'missing-family' | 'transient' | 'refused';
      readonly status: Status;
      /** What to do, where more is known than the reason says. */
      readonly advice?: string;
    };

/** A verdict that ends an entry's stay in the batcher. */
export type FinalVerdict = Exclude<Verdict, { kind: 'suspect' } | { kind: 'retry' }>;

const SILENCE: Status = { code: 'UNKNOWN', message: 'the request ended without an answer for this entry' };

/** @param isAlone whether the entry was the only one of its request, which is decided from what we sent, never from the error. */
export function verdictOf(answer: EntryAnswer, isAlone: boolean): Verdict {
  if (answer.kind === 'applied') return APPLIED;
  const status = answer.status ?? SILENCE;
  const isSilence = answer.kind === 'unanswered' && answer.status === undefined;
  const { isUnreached, passes, blamesCall } = STATUSES[status.code];
  if (isSilence || isUnreached || isConnectionLoss(status)) return { kind: 'retry', status };
  if (blamesCall) return { kind: isAlone ? 'rejected' : 'suspect', status };
  if (status.code === 'NOT_FOUND') {
    // A missing family refuses every entry of the request, those of existing families too; a missing table is the
    // same for all, so nothing would be learned by asking again for fewer.
    if (!isMissingFamily(status)) return { kind: 'redeliver', reason: 'missing-table', status };
    return isAlone ? { kind: 'redeliver', reason: 'missing-family', status } : { kind: 'suspect', status };
  }
  return { kind: 'redeliver', reason: passes === 'yes' ? 'transient' : 'refused', status };
}

const APPLIED: Verdict = { kind: 'applied' };
