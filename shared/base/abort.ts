import { abortReason } from './clock.ts';

/** The callbacks of each signal, behind one listener. */
const callbacks = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `callback` when `signal` aborts; the returned function takes that back. For signals that many wait on: an event
 * target compares a new listener with every one that it has, so that n of them cost n² steps, and each costs more than
 * a member of a set. `callback` must not throw. Not called for a signal that has aborted already.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  let waiting = callbacks.get(signal);
  if (!waiting) {
    const all = new Set<() => void>();
    waiting = all;
    callbacks.set(signal, all);
    const call = (): void => {
      for (const each of all) each();
    };
    signal.addEventListener('abort', call, { once: true });
  }
  waiting.add(callback);
  return () => {
    waiting.delete(callback);
  };
}

/**
 * Waits for a promise that others may wait for too, or rejects with the signal's reason as soon as that aborts. The
 * promise itself goes on, and its failure is then nobody's: it must not end the process.
 */
export async function abortable<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  if (signal.aborted) {
    promise.catch(() => undefined);
    throw abortReason(signal);
  }
  const end = Promise.withResolvers<never>();
  const forget = onAbort(signal, () => {
    end.reject(abortReason(signal));
  });
  try {
    return await Promise.race([promise, end.promise]);
  } finally {
    forget();
  }
}
