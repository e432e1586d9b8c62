import { isMissingFamily, type Status, type StatusName } from '../model/status.ts';
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
  /** The weather: worth another attempt within the invocation's time. */
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

/** How grpc-js reports a connection that was reset under a request (grpc-node#2625). */
const CONNECTION_LOST = 'RST_STREAM';

const RETRIED: ReadonlySet<StatusName> = new Set<StatusName>(['UNAVAILABLE', 'DEADLINE_EXCEEDED']);

/** @param isAlone whether the entry was the only one of its request, which is decided from what we sent, never from the error. */
export function verdictOf(answer: EntryAnswer, isAlone: boolean): Verdict {
  if (answer.kind === 'applied') return { kind: 'applied' };
  const status = answer.status ?? SILENCE;
  const isSilence = answer.kind === 'unanswered' && answer.status === undefined;
  if (isSilence || RETRIED.has(status.code) || isConnectionLoss(status)) return { kind: 'retry', status };
  switch (status.code) {
    case 'INVALID_ARGUMENT':
      return { kind: isAlone ? 'rejected' : 'suspect', status };
    case 'NOT_FOUND':
      // A missing family refuses every entry of the request, those of existing families too; a missing table is the
      // same for all, so nothing would be learned by asking again for fewer.
      if (!isMissingFamily(status)) return { kind: 'redeliver', reason: 'missing-table', status };
      return isAlone ? { kind: 'redeliver', reason: 'missing-family', status } : { kind: 'suspect', status };
    case 'ABORTED':
    case 'RESOURCE_EXHAUSTED':
    case 'CANCELLED':
      return { kind: 'redeliver', reason: 'transient', status };
    default:
      return { kind: 'redeliver', reason: 'refused', status };
  }
}

const isConnectionLoss = ({ code, message }: Status): boolean =>
  (code === 'INTERNAL' || code === 'CANCELLED') && message.includes(CONNECTION_LOST);
