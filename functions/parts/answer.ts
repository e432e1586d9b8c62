import { RedeliverError, type RedeliveryReason, toError } from '../../shared/base/errors.ts';
import { describeError, type Logger } from '../../shared/base/logging.ts';
import type { Metrics } from '../../shared/base/metrics.ts';
import type { Answer } from './entry-point.ts';

/** Every status asks for redelivery alike; which one only helps people who read request logs. */
const STATUS: Readonly<Record<RedeliveryReason, number>> = {
  deadline: 504,
  transient: 503,
  ambiguous: 503,
  'missing-table': 503,
  'missing-family': 503,
  refused: 503,
  client: 503,
  'failure-policy': 500,
  'empty-branch': 500,
  'dead-letter-unconfirmed': 503,
  'result-unconfirmed': 503,
  'rejection-limit': 429,
  backlog: 429,
  staging: 503,
  destination: 500,
  'malformed-push': 500,
  draining: 503,
  unexpected: 500,
};

/** Reasons that are the operator's business; the others are weather, which metrics count and redelivery heals. */
const NEEDS_SOMEBODY: ReadonlySet<RedeliveryReason> = new Set<RedeliveryReason>([
  'missing-table',
  'missing-family',
  'refused',
  'client',
  'failure-policy',
  'empty-branch',
  'dead-letter-unconfirmed',
  'result-unconfirmed',
  'staging',
  'destination',
  'malformed-push',
  'unexpected',
]);

/** Turns what ended a message into its answer, its log line and its count. */
export function answerRedelivery(
  error: unknown,
  messageId: string | undefined,
  logger: Logger,
  metrics: Metrics,
): Answer {
  const known = error instanceof RedeliverError ? error : unexpected(error);
  metrics.count('messagesRedelivered', 1, known.reason);
  logger.log(NEEDS_SOMEBODY.has(known.reason) ? 'ERROR' : 'WARNING', known.message, {
    reason: known.reason,
    ...(messageId !== undefined && { messageId }),
    ...(known.cause !== undefined && { cause: describeError(known.cause) }),
  });
  return { status: STATUS[known.reason], text: known.message };
}

const unexpected = (error: unknown): RedeliverError =>
  new RedeliverError('unexpected', `the message could not be processed: ${toError(error).message}`, { cause: error });
