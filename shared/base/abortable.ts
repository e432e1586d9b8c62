import { abortReason } from './clock.ts';
import { onAbort } from './on-abort.ts';

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
