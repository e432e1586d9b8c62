import type { ServerWritableStream } from '@grpc/grpc-js';
import { abortable, onAbort } from '../../../../shared/base/abort.ts';
import { GrpcError } from './grpc.ts';

/** What a handler of a local server needs so that it ends with its call. */
export interface CallEnd {
  /** Aborts with a GrpcError when the caller cancels or runs out of time, or the server closes. */
  readonly signal: AbortSignal;
  /** Must be called when the call was answered. */
  readonly release: () => void;
}

export function endOf(call: { on(event: 'cancelled', listener: () => void): unknown }, closing: AbortSignal): CallEnd {
  const controller = new AbortController();
  let isAnswered = false;
  const abort = (): void => {
    // A call that was answered is told to be cancelled too: nothing is left to end.
    if (!isAnswered) controller.abort(new GrpcError('CANCELLED', 'the call ended before it was answered'));
  };
  call.on('cancelled', abort);
  const forget = onAbort(closing, abort);
  if (closing.aborted) abort();
  return {
    signal: controller.signal,
    release: () => {
      isAnswered = true;
      forget();
    },
  };
}

/** Writes, and waits for the reader when its buffers are full: a paused reader stops the scan behind it. */
export async function writeMessage<Request, Response>(
  call: ServerWritableStream<Request, Response>,
  response: Response,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  if (call.write(response)) return;
  const drained = Promise.withResolvers<undefined>();
  const onDrain = (): void => {
    drained.resolve(undefined);
  };
  call.once('drain', onDrain);
  try {
    await abortable(drained.promise, signal);
  } finally {
    call.off('drain', onDrain);
  }
}

/** Rejects with the signal's reason when it aborts, and never resolves. */
export const aborted = (signal: AbortSignal): Promise<never> =>
  abortable(Promise.withResolvers<never>().promise, signal);
