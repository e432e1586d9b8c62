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
