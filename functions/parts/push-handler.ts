import { startDeadline } from '../../shared/base/deadline.ts';
import { RedeliverError } from '../../shared/base/errors.ts';
import { LETTERS_PATH } from '../../shared/config/dead-letters.ts';
import type { ResolvedInput, ResolvedSink } from '../../shared/config/resolved.ts';
import { readPush } from '../../shared/google/pubsub/push-body.ts';
import type { PushedMessage } from '../../shared/model/record.ts';
import { tellsRunCompleted } from '../../shared/scan/run-completed.ts';
import type { Refusal } from '../bodies/refusals.ts';
import { answerRedelivery, answerRefusal } from './answer.ts';
import type { Handler } from './entry-point.ts';
import { isLettersPath } from './letters.ts';
import { drainOf, type Ending, type Instance, intakeOf } from './instance.ts';
import type { Environment } from './surroundings.ts';

/** What a function does with pushed messages. */
export interface PushWork extends Ending {
  /** Resolves when the message may be acknowledged; rejects with a `RedeliverError` when it must be redelivered. */
  readonly process: (message: PushedMessage, signal: AbortSignal) => Promise<void>;
  /** Makes a dead letter that came back the message that first carried its record. Absent: the function takes none. */
  readonly openLetter?: (message: PushedMessage) => PushedMessage;
  /** After every message: closes what has long been idle. Cheap. */
  readonly sweep: () => void;
}

/** Answers pushes: 204 acknowledges. Every message has the invocation's time and no more. */
export function pushHandler(instance: Instance<ResolvedSink>, work: PushWork): Handler {
  const { pipeline, env, runtime, exporter } = instance;
  const { clock, metrics } = runtime;
  const drain = drainOf(instance, work);
  const budgetMillis = invocationMillis(pipeline.input, env);
  const handle: Handler = async (body, path) => {
    drain.enter();
    const startedAt = clock.now();
    const deadline = startDeadline(clock, budgetMillis);
    let messageId: string | undefined;
    try {
      if (drain.isDraining) throw new RedeliverError('draining', 'this instance is shutting down');
      const message = readPush(body?.take() ?? NO_BODY);
      messageId = message.messageId;
      const isLetter = isLettersPath(path);
      // The end of a scan whose output this is: there is no record in it.
      if (isLetter || !tellsRunCompleted(message.attributes)) {
        await work.process(isLetter ? letterOf(message, work) : message, deadline.signal);
      }
      metrics.count('messagesAcknowledged');
      return { status: 204 };
    } catch (error) {
      return answerRedelivery(error, messageId, runtime);
    } finally {
      deadline.end();
      metrics.record('messageLatency', clock.now() - startedAt);
      work.sweep();
      exporter.flushIfDue();
      drain.leave();
    }
  };
  return Object.assign(handle, {
    bodies: {
      intake: intakeOf(instance, MAX_PUSH_BYTES),
      refused: (refusal: Refusal) => answerRefusal(refusal, runtime),
    },
  });
}

const NO_BODY = Buffer.alloc(0);

/** More than Pub/Sub can send: 10,000,000 bytes of message, in base64 and JSON. */
const MAX_PUSH_BYTES = 14 * 1024 * 1024;

function letterOf(message: PushedMessage, { openLetter }: PushWork): PushedMessage {
  if (openLetter) return openLetter(message);
  throw new RedeliverError(
    'letter',
    `this function takes no dead letters: push the topic for replays to the path ${LETTERS_PATH} of the sink of the pipeline`,
  );
}

/** Cloud Run's default; the platform tells another one in `CLOUD_RUN_TIMEOUT_SECONDS`. */
const DEFAULT_FUNCTION_TIMEOUT_SECONDS = 60;

/** The smaller of the function's and the subscription's patience, less the margin to answer in. */
export function invocationMillis(
  { ackDeadlineMillis, deadlineMarginMillis }: Pick<ResolvedInput, 'ackDeadlineMillis' | 'deadlineMarginMillis'>,
  env: Environment,
): number {
  const seconds = Number(env.CLOUD_RUN_TIMEOUT_SECONDS ?? DEFAULT_FUNCTION_TIMEOUT_SECONDS);
  const functionMillis = (Number.isFinite(seconds) && seconds > 0 ? seconds : DEFAULT_FUNCTION_TIMEOUT_SECONDS) * 1000;
  const patience = Math.min(functionMillis, ackDeadlineMillis);
  // A function that is given less time than the margin still gets half of it to work in.
  return Math.max(patience - deadlineMarginMillis, patience / 2);
}
