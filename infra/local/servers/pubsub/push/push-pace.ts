import { afterAcknowledgement, afterRefusal, NO_PUSH_BACKOFF, type PushBackoffBounds } from '../delivery/backoff.ts';

/**
 * When the next push of one subscription may start: window and backoff together. No clock, no timer.
 *
 * Refusals of requests that were under way together are one event: sixty-four requests that die with one endpoint
 * pause the subscription once, not sixty-four times longer and longer. Requests are therefore numbered, and a refusal
 * counts only when its request started after the last pause began.
 */
export class PushPace {
  readonly #windowBounds: WindowBounds;
  readonly #backoffBounds: PushBackoffBounds;
  #window: number;
  #backoff = NO_PUSH_BACKOFF;
  #started = 0;
  #countedThrough = 0;
  #outstanding = 0;

  constructor(windowBounds: WindowBounds, backoffBounds: PushBackoffBounds) {
    this.#windowBounds = windowBounds;
    this.#backoffBounds = backoffBounds;
    this.#window = startWindow(windowBounds);
  }

  get window(): number {
    return this.#window;
  }

  get outstanding(): number {
    return this.#outstanding;
  }

  /** Pushes are paused until then; in the past when they are not. Milliseconds since the epoch. */
  get pausedUntil(): number {
    return this.#backoff.pausedUntil;
  }

  mayStart(now: number): boolean {
    return this.#outstanding < this.#window && now >= this.#backoff.pausedUntil;
  }

  /** Counts a request as outstanding and returns its number, for {@link refused}. */
  start(): number {
    this.#outstanding += 1;
    this.#started += 1;
    return this.#started;
  }

  acknowledged(latencyMillis: number): void {
    this.#outstanding -= 1;
    this.#window = windowAfterAcknowledgement(this.#window, this.#windowBounds, latencyMillis);
    this.#backoff = afterAcknowledgement(this.#backoff, this.#backoffBounds);
  }

  refused(requestNumber: number, now: number): void {
    this.#outstanding -= 1;
    if (requestNumber <= this.#countedThrough) return;
    this.#countedThrough = this.#started;
    this.#window = windowAfterRefusal(this.#window);
    this.#backoff = afterRefusal(this.#backoff, this.#backoffBounds, now);
  }
}

/**
 * Slow start of pushes: how many may be outstanding (cloud.google.com/pubsub/docs/push#delivery_rate). The window
 * doubles in a round trip while the endpoint answers well, and is halved by a refusal. Pure.
 */
export interface WindowBounds {
  /** Where a subscription starts: the service says "a single-digit number". */
  readonly start: number;
  /** The most that may ever be outstanding. */
  readonly cap: number;
}

/** An acknowledgement that took longer does not speak for more load. The service's threshold, in real time. */
export const SLOW_ANSWER_MILLIS = 1000;

export const startWindow = ({ start, cap }: WindowBounds): number => Math.min(start, cap);

/** One more for each good answer, which doubles the window per round trip; one less for a slow one, down to the start. */
export function windowAfterAcknowledgement(window: number, bounds: WindowBounds, latencyMillis: number): number {
  if (latencyMillis < SLOW_ANSWER_MILLIS) return Math.min(window + 1, bounds.cap);
  return window > bounds.start ? window - 1 : window;
}

export const windowAfterRefusal = (window: number): number => Math.max(1, Math.floor(window / 2));
