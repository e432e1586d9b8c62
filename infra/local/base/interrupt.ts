import { LocalCloudError } from './local-error.ts';

/** A signal that aborts at the first Ctrl-C or SIGTERM; the second one ends this process, and its children with it. */
export function interruptSignal(): AbortSignal {
  const interrupt = new AbortController();
  const onSignal = (): void => {
    if (interrupt.signal.aborted) process.exit(130);
    interrupt.abort(new LocalCloudError('interrupted'));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return interrupt.signal;
}
