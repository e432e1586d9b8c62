import type { BackoffSchedule } from '../../base/backoff.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { Status } from '../../model/status.ts';
import { EmissionError } from '../failure.ts';
import { afterConfirmed, afterExhausted, FULL_PACE, type Pace } from './pace.ts';
import type { PublishVerdict } from './verdict.ts';

/** Between attempts of one request, by what kept the one before from being confirmed. */
const BACKOFFS: Readonly<Record<'retry' | 'slow-down' | 'setup', BackoffSchedule>> = {
  retry: { initialMillis: 100, maxMillis: 5_000, jitter: 0.2 },
  'slow-down': { initialMillis: 250, maxMillis: 10_000, jitter: 0.2 },
  setup: { initialMillis: 1_000, maxMillis: 15_000, jitter: 0.2 },
};

/** So long a topic may refuse everything, for reasons that somebody must act on, before its messages fail. */
const SETUP_PATIENCE_MILLIS = 60_000;

/** What keeps a topic from taking messages. */
export interface TopicProblem {
  readonly topic: string;
  /** The service's words, and what to do where that is known. */
  readonly message: string;
  readonly status: Status;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** What all requests to one topic learn from each other's replies. */
export class TopicState {
  readonly topic: string;
  readonly throttle: ThrottleWatch;
  /** Grows whenever messages may not leave any more because an earlier one of their owner failed. */
  drops = 0;
  readonly #runtime: Runtime;
  #pace: Pace = FULL_PACE;
  #problem: TopicProblem | undefined;
  /** Since when no message was taken or judged, and setup was to blame. */
  #setupSince: number | undefined;

  constructor(topic: string, runtime: Runtime) {
    this.topic = topic;
    this.throttle = new ThrottleWatch(runtime);
    this.#runtime = runtime;
  }

  get pace(): Pace {
    return this.#pace;
  }

  /** Undefined while messages are confirmed. */
  get problem(): TopicProblem | undefined {
    return this.#problem;
  }

  learn(verdict: PublishVerdict): void {
    const now = this.#runtime.clock.now();
    switch (verdict.kind) {
      case 'confirmed':
        this.#pace = afterConfirmed(this.#pace, now);
        this.#problem = undefined;
        this.#setupSince = undefined;
        return;
      case 'slow-down':
        this.#pace = afterExhausted(this.#pace, now);
        this.#note(verdict.status, now);
        return;
      case 'setup':
        this.#setupSince ??= now;
        this.#note(verdict.status, now);
        return;
      case 'retry':
        this.#note(verdict.status, now);
        return;
      case 'refused':
        // The topic is there and answers: a refusal of a message says nothing against it.
        this.#problem = undefined;
        this.#setupSince = undefined;
    }
  }

  /** The failure of what the topic refused for longer than anybody waits; undefined while that is not so. */
  get setupFailure(): EmissionError | undefined {
    const problem = this.#problem;
    const since = this.#setupSince;
    if (!problem || since === undefined || this.#runtime.clock.now() - since < SETUP_PATIENCE_MILLIS) return undefined;
    return new EmissionError('setup', problem.message, { status: problem.status });
  }

  #note(status: Status, now: number): void {
    const message = `Publish to ${this.topic}: ${status.code}: ${status.message}${adviceFor(status, this.topic)}`;
    this.#problem = { topic: this.topic, message, status, since: this.#problem?.since ?? now };
  }
}

export const backoffOf = (kind: keyof typeof BACKOFFS): BackoffSchedule => BACKOFFS[kind];

function adviceFor({ code }: Status, topic: string): string {
  switch (code) {
    case 'NOT_FOUND':
      return `; create it with "gcloud pubsub topics create ${topic}"`;
    case 'PERMISSION_DENIED':
      return `; grant the function's service account roles/pubsub.publisher with "gcloud pubsub topics add-iam-policy-binding ${topic}"`;
    default:
      return '';
  }
}

/** Counts the time in which anything waits because the service asked for less; what waits together counts once. */
class ThrottleWatch {
  readonly #runtime: Runtime;
  #waiting = 0;
  #since = 0;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  begin(): void {
    if (this.#waiting === 0) this.#since = this.#runtime.clock.now();
    this.#waiting += 1;
  }

  end(): void {
    this.#waiting -= 1;
    if (this.#waiting > 0) return;
    const { clock, metrics } = this.#runtime;
    metrics.count('throttledTime', clock.now() - this.#since);
  }
}
