import { backoffDelay } from '../../base/backoff.ts';
import { abortReason, sleep } from '../../base/clock.ts';
import { toError } from '../../base/errors.ts';
import { describeError } from '../../base/logging.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { Status } from '../../model/status.ts';
import { EmissionError } from '../failure.ts';
import { isHeldBack, type Outbound } from '../outbound.ts';
import type { Pace } from './pace.ts';
import type { PublishReply, SendPublish } from '../ports.ts';
import { MAX_MESSAGES, requestFill } from './request-fill.ts';
import { backoffOf, type TopicState } from './topic-state.ts';
import { verdictOf } from './verdict.ts';

/** One attempt's whole time. */
export const ATTEMPT_MILLIS = 10_000;

/** An attempt ends so long before its lease does. */
export const LEASE_MARGIN_MILLIS = 2_000;

/** Without time for an attempt, a renewal of the lease is looked for so often. */
const LEASE_LOOK_MILLIS = 200;

/** What every delivery of a topic goes by. */
export interface Course {
  readonly send: SendPublish;
  readonly runtime: Runtime;
  readonly state: TopicState;
  /** How long the lease surely lasts. */
  readonly remainingMillis: () => number;
  /** Ends everything: the slot's time is used up, or its lease is lost. */
  readonly signal: AbortSignal;
}

/** A delivery's place among the requests of its topic, which another may have while it pauses. */
export interface Place {
  leave(): void;
  /** Resolves when there is a place again. */
  retake(): Promise<void>;
}

/**
 * Delivers messages of one ordering key, or without one, in their order: each is confirmed, refused or failed before
 * this resolves. Never rejects. Retries are here and nowhere else: until the signal aborts, with growing pauses, counted
 * anew after progress.
 *
 * The order it keeps, on which everything else stands: an attempt begins with the first message that has not ended, and
 * what it holds follows without a gap. So whichever attempt is applied, and however late, all messages of the key before
 * its own were published before.
 */
export async function deliver(messages: readonly Outbound[], course: Course, place: Place): Promise<void> {
  try {
    await deliverInOrder(messages, course, place);
  } catch (thrown) {
    // The code is wrong, and yet every message ends; those that have already are not touched.
    const cause = toError(thrown);
    course.runtime.logger.log('ERROR', 'a delivery failed', { error: describeError(cause) });
    const failure = new EmissionError('unhandled', `a delivery failed: ${cause.message}`, { cause });
    for (const message of messages) message.fail(failure);
  }
}

async function deliverInOrder(messages: readonly Outbound[], course: Course, place: Place): Promise<void> {
  let rest = messages;
  /** So many are sent at once: halved by a refusal, doubled by a confirmation, until the refused one is alone. */
  let width = MAX_MESSAGES;
  let failures = 0;
  // A look at every message would be paid by all of them: nothing that is held back was taken, and few owners fail.
  let { drops } = course.state;
  while (rest.length > 0) {
    if (drops !== course.state.drops) {
      ({ drops } = course.state);
      rest = withoutHeldBack(rest);
      continue;
    }
    const first = rest[0] as Outbound;
    if (course.signal.aborted) {
      const ended = endedBy(course.signal);
      for (const message of rest) message.fail(ended);
      return;
    }
    if (first.problem !== undefined) {
      await refused(first, first.problem, place);
      rest = rest.slice(1);
      continue;
    }
    if (!hasTime(course)) {
      await pause(LEASE_LOOK_MILLIS, course, place);
      continue;
    }
    const sent = fill(rest, course.state.pace, width);
    const verdict = verdictOf(await attempt(sent, course));
    course.state.learn(verdict);
    switch (verdict.kind) {
      case 'confirmed':
        confirm(sent, course);
        rest = rest.slice(sent.length);
        width *= 2;
        failures = 0;
        break;
      case 'refused':
        width = Math.ceil(sent.length / 2);
        failures = 0;
        if (sent.length === 1) {
          await refused(first, verdict.status.message, place, verdict.status);
          rest = rest.slice(1);
        }
        break;
      default:
        failures += 1;
        rest = withoutFailed(rest, course.state.setupFailure);
        await pauseAfter(verdict.kind, failures, course, place);
    }
  }
}

async function refused(message: Outbound, problem: string, place: Place, status?: Status): Promise<void> {
  place.leave();
  await message.refuse(problem, status);
  await place.retake();
}

/** The time of one attempt, less what is kept for skew, fits into what is left of the lease. */
const hasTime = ({ remainingMillis }: Course): boolean => remainingMillis() >= ATTEMPT_MILLIS + LEASE_MARGIN_MILLIS;

/** Nothing is waited for between the look at the lease and the sending. */
async function attempt(messages: readonly Outbound[], course: Course): Promise<PublishReply> {
  const { send, runtime, state, signal } = course;
  const { clock, metrics } = runtime;
  const startedAt = clock.now();
  let reply: PublishReply;
  try {
    reply = await send({ topic: state.topic, messages, timeoutMillis: ATTEMPT_MILLIS, signals: [signal] });
  } catch (error) {
    const message = `no request could be made: ${toError(error).message}`;
    reply = { kind: 'failed', status: { code: 'UNKNOWN', message }, isUnsent: false };
  }
  metrics.record('publishLatency', clock.now() - startedAt);
  return reply;
}

function confirm(messages: readonly Outbound[], { runtime: { metrics } }: Course): void {
  let bytes = 0;
  for (const message of messages) {
    bytes += message.bytes;
    message.confirm();
  }
  metrics.count('messagesPublished', messages.length);
  metrics.count('bytesPublished', bytes);
}

/** What leaves in the next request: nearly always all that was taken together. */
function fill(messages: readonly Outbound[], pace: Pace, width: number): readonly Outbound[] {
  if (pace.share === 1 && width >= messages.length) return messages;
  const belongs = requestFill(pace, width);
  const end = messages.findIndex((message) => !belongs(message));
  return end < 0 ? messages : messages.slice(0, end);
}

/** What may not leave any more ends here: an earlier message of its owner failed. */
function withoutHeldBack(messages: readonly Outbound[]): readonly Outbound[] {
  if (!messages.some(isHeldBack)) return messages;
  return messages.filter((message) => {
    if (!isHeldBack(message)) return true;
    message.fail(undefined);
    return false;
  });
}

/** The first of each owner fails; those behind it are held back then. */
function withoutFailed(messages: readonly Outbound[], failure: EmissionError | undefined): readonly Outbound[] {
  if (!failure) return messages;
  return messages.filter((message) => {
    if (isHeldBack(message)) return true;
    message.fail(failure);
    return false;
  });
}

export const endedBy = (signal: AbortSignal): EmissionError =>
  new EmissionError('ended', `the slot ended: ${abortReason(signal).message}`, { cause: signal.reason });

async function pauseAfter(
  kind: 'retry' | 'slow-down' | 'setup',
  failures: number,
  course: Course,
  place: Place,
): Promise<void> {
  const { runtime, state } = course;
  runtime.metrics.count('publishRetries');
  if (kind === 'slow-down') state.throttle.begin();
  await pause(backoffDelay(backoffOf(kind), failures, runtime.random), course, place);
  if (kind === 'slow-down') state.throttle.end();
}

/** Ends early where the signal aborts: the loop looks at it. */
async function pause(millis: number, { runtime, signal }: Course, place: Place): Promise<void> {
  place.leave();
  await sleep(runtime.clock, millis, signal).catch(() => undefined);
  await place.retake();
}
