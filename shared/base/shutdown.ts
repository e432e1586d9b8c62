import type { EventEmitter } from 'node:events';
import type { Clock } from './clock.ts';

/**
 * A drain that works under the functions framework, which answers SIGTERM by ending the process at once, in-flight
 * requests and all. It registers its own handler after the user's module has loaded; ours takes that one off again.
 *
 * On SIGTERM: `onDrain` runs, requests in flight finish, then the process exits 0; after `limitMillis` it exits in any
 * case. Cloud Run sends SIGKILL 10 s after SIGTERM. What was not acknowledged by then is redelivered.
 */
export interface Drain {
  readonly isDraining: boolean;
  /** Runs one request; the process does not end by itself before it is done. */
  track<Result>(request: () => Promise<Result>): Promise<Result>;
  /** The same without a promise: {@link leave} must follow exactly once. */
  enter(): void;
  leave(): void;
}

export interface DrainOptions {
  readonly clock: Clock;
  readonly limitMillis: number;
  /** Stop lingering, stop admitting: runs once, first. */
  readonly onDrain: () => void;
  /** Runs once, last: flush metrics, close clients. Must not take long. */
  readonly onIdle: () => Promise<void>;
}

/** Where SIGTERM comes from, and what to end then: what of the process a drain needs; the process itself in production. */
export type ProcessSignals = Pick<EventEmitter, 'on' | 'removeListener'> & { exit(code: number): void };

export function installDrain(signals: ProcessSignals, { clock, limitMillis, onDrain, onIdle }: DrainOptions): Drain {
  let inFlight = 0;
  let isDraining = false;
  let isEnding = false;

  const exit = (): void => {
    signals.exit(0);
  };

  const end = (): void => {
    // A request that came while the last answer left ends the process when it has its own answer.
    if (isEnding || inFlight > 0) return;
    isEnding = true;
    // Whatever closing does, the process ends.
    new Promise<void>((resolve) => {
      resolve(onIdle());
    }).then(exit, exit);
  };

  const drain = (): void => {
    if (isDraining) return;
    isDraining = true;
    // First, so that the limit holds whatever the rest does.
    clock.after(limitMillis, exit);
    onDrain();
    end();
  };

  signals.on('newListener', (event: string, listener: () => void) => {
    if (event !== 'SIGTERM' || listener === drain) return;
    // The event comes before the listener is added.
    clock.soon(() => {
      signals.removeListener('SIGTERM', listener);
    });
  });
  signals.on('SIGTERM', drain);

  const enter = (): void => {
    inFlight += 1;
  };
  const leave = (): void => {
    inFlight -= 1;
    if (!isDraining || inFlight > 0) return;
    // The answer is written in this turn; leave it the next one to get out.
    clock.soon(() => {
      clock.after(ANSWER_MILLIS, end);
    });
  };

  return {
    get isDraining() {
      return isDraining;
    },
    async track(request) {
      enter();
      try {
        return await request();
      } finally {
        leave();
      }
    },
    enter,
    leave,
  };
}

/** Time for the last answer to leave the socket. */
const ANSWER_MILLIS = 50;
