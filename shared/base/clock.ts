/**
 * The only reader of wall time and the only maker of timers. Everything that waits or stamps takes a {@link Clock},
 * so tests move time by hand.
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Milliseconds since an arbitrary origin: never set back or forth, as wall time may be. It may stand still while an
   * instance is frozen, so that a span that must not be overrun is measured by both.
   */
  monotonic(): number;
  /** Runs `callback` once after `delayMillis`; the returned function cancels it. The timer does not hold the process. */
  after(delayMillis: number, callback: () => void): () => void;
  /** Runs `callback` when everything that is ready now has run: what arrives together is seen together. */
  soon(callback: () => void): void;
}

/** The longest delay that a Node timer takes; a longer one would fire at once. */
const MAX_TIMER_MILLIS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMillis, callback) {
    let timer: NodeJS.Timeout;
    // A longer delay is waited for in parts.
    const wait = (millis: number): void => {
      const part = Math.min(Math.max(0, millis), MAX_TIMER_MILLIS);
      timer = setTimeout(() => {
        if (millis > part) wait(millis - part);
        else callback();
      }, part);
      timer.unref();
    };
    wait(delayMillis);
    return () => {
      clearTimeout(timer);
    };
  },
  soon(callback) {
    setImmediate(callback);
  },
};

/**
 * Waits `delayMillis`, or rejects with the signal's reason as soon as it aborts. The timer is always cleared. Without a
 * signal nothing cuts it short.
 */
export function sleep(clock: Clock, delayMillis: number, signal?: AbortSignal): Promise<void> {
  if (!signal) {
    return new Promise((resolve) => {
      clock.after(delayMillis, resolve);
    });
  }
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(abortReason(signal));
      return;
    }
    const cancel = clock.after(delayMillis, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    const onAbort = (): void => {
      cancel();
      reject(abortReason(signal));
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** So many records of one message are worked on without a pause: about as long as one request holds others up. */
export const RECORDS_PER_TURN = 500;

/** Lets everything run that is ready now: between the parts of work that would otherwise keep the instance from all other. */
export function nextTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.soon(resolve);
  });
}

/** The reason a signal aborted, always an Error: a rejection without one would be taken for an acknowledgement. */
export function abortReason(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
