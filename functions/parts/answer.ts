import { RedeliverError, type RedeliveryReason, toError } from '../../shared/base/errors.ts';
import { describeError } from '../../shared/base/logging.ts';
import type { Runtime } from '../../shared/base/runtime.ts';
import { type Refusal, REFUSALS } from '../bodies/refusals.ts';
import type { Answer } from './entry-point.ts';

interface ReasonFacts {
  /** Every status asks for redelivery alike; which one only helps people who read request logs. */
  readonly status: number;
  /** An operator must act; the others are transient failures: metrics count them, and a redelivery succeeds. */
  readonly needsSomebody: boolean;
}

const REASONS: Readonly<Record<RedeliveryReason, ReasonFacts>> = {
  deadline: { status: 504, needsSomebody: false },
  transient: { status: 503, needsSomebody: false },
  ambiguous: { status: 503, needsSomebody: false },
  'missing-table': { status: 503, needsSomebody: true },
  'missing-family': { status: 503, needsSomebody: true },
  refused: { status: 503, needsSomebody: true },
  client: { status: 503, needsSomebody: true },
  'failure-policy': { status: 500, needsSomebody: true },
  'empty-branch': { status: 500, needsSomebody: true },
  'dead-letter-unconfirmed': { status: 503, needsSomebody: true },
  'result-unconfirmed': { status: 503, needsSomebody: true },
  'rejection-limit': { status: 429, needsSomebody: false },
  backlog: { status: 429, needsSomebody: false },
  staging: { status: 503, needsSomebody: true },
  changed: { status: 503, needsSomebody: true },
  destination: { status: 500, needsSomebody: true },
  letter: { status: 500, needsSomebody: true },
  'malformed-push': { status: 400, needsSomebody: true },
  'no-room': { status: 429, needsSomebody: false },
  draining: { status: 503, needsSomebody: false },
  unexpected: { status: 500, needsSomebody: true },
};

/** Turns what ended a message into its answer, its log line and its count. */
export function answerRedelivery(error: unknown, messageId: string | undefined, { logger, metrics }: Runtime): Answer {
  const known = error instanceof RedeliverError ? error : unexpected(error);
  const { status, needsSomebody } = REASONS[known.reason];
  metrics.count('messagesRedelivered', 1, known.reason);
  logger.log(needsSomebody ? 'ERROR' : 'WARNING', known.message, {
    reason: known.reason,
    ...(messageId !== undefined && { messageId }),
    ...(known.cause !== undefined && { cause: describeError(known.cause) }),
  });
  return { status, text: known.message };
}

/** The answer to a push whose body was not taken: nothing is known of its message. */
export function answerRefusal(refusal: Refusal, { logger, metrics }: Runtime): Answer {
  const { status, text, needsSomebody } = REFUSALS[refusal];
  const reason: RedeliveryReason = refusal === 'no-room' ? 'no-room' : 'malformed-push';
  metrics.count('messagesRedelivered', 1, reason);
  logger.log(needsSomebody ? 'ERROR' : 'WARNING', text, { reason, status });
  return { status, text };
}

const unexpected = (error: unknown): RedeliverError =>
  new RedeliverError('unexpected', `the message could not be processed: ${toError(error).message}`, { cause: error });
