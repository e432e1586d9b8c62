import { status as grpcStatus } from '@grpc/grpc-js';
import { abortReason } from '../../base/clock.ts';
import { ConnectorError, toError } from '../../base/errors.ts';
import { onAbort } from '../../base/abort.ts';
import { type Status, statusName } from '../../model/status.ts';
import type { Call, CallEnding, Receiver } from './connection.ts';

/** A streamed call ended with another status than OK. */
export class CallError extends ConnectorError {
  override readonly name = 'CallError';
  readonly status: Status;
  /** False when the deadline passed and nothing had come from the service. */
  readonly isHeard: boolean;
  /** The encoded `google.rpc.Status` of the ending, where the service sent one. */
  readonly details: Buffer | undefined;

  constructor(method: string, { status: { code, details, metadata }, isHeard }: CallEnding) {
    const status = { code: statusName(code), message: details };
    super(`${method} ended with ${status.code}: ${status.message}`);
    this.status = status;
    this.isHeard = isHeard;
    const [encoded] = metadata.get('grpc-status-details-bin');
    this.details = Buffer.isBuffer(encoded) ? encoded : undefined;
  }
}

/**
 * The messages of one streamed call, read one by one: the next is asked for when `next` is called, and not before, so
 * that a slow reader slows the service down. The call begins with the first `next`.
 *
 * It ends exactly once: done when the service said OK; otherwise `next` rejects with a {@link CallError}, or with the
 * reason of the signal that aborted, and is done ever after. A bad ending may overtake the messages before it that were
 * not asked for yet, so that a reader must be able to go on from the last one it saw.
 *
 * `return`, which leaving a `for await` calls, cancels the call and resolves when it has ended.
 */
export interface MessageStream extends AsyncIterableIterator<Buffer, undefined> {
  return(): Promise<IteratorResult<Buffer, undefined>>;
  /** The same where the service was silent for too long: its connection takes no further call. */
  abandon(): Promise<void>;
}

type Result = IteratorResult<Buffer, undefined>;

const DONE: Result = { done: true, value: undefined };

/**
 * @param begin makes the call, or tells how it ended without having been made.
 * @param signals each cancels the call.
 */
export const messageStream = (
  method: string,
  begin: (receiver: Receiver) => Call | CallEnding,
  signals: readonly AbortSignal[],
): MessageStream => new PulledMessages(method, begin, signals);

class PulledMessages implements MessageStream, Receiver {
  readonly #method: string;
  readonly #begin: (receiver: Receiver) => Call | CallEnding;
  readonly #signals: readonly AbortSignal[];
  readonly #ended = Promise.withResolvers<undefined>();
  #call: Call | undefined;
  #forgets: readonly (() => void)[] = [];
  #waiting: PromiseWithResolvers<Result> | undefined;
  #isOver = false;
  /** How it ended while nobody waited: told once. */
  #untold: Error | undefined;

  constructor(method: string, begin: (receiver: Receiver) => Call | CallEnding, signals: readonly AbortSignal[]) {
    this.#method = method;
    this.#begin = begin;
    this.#signals = signals;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (this.#waiting) return Promise.reject(new Error(`${this.#method}: the message before this one is still due`));
    if (this.#isOver) return this.#tellEnd();
    const waiting = Promise.withResolvers<Result>();
    this.#waiting = waiting;
    if (this.#call) this.#call.read();
    else this.#start();
    return waiting.promise;
  }

  async return(): Promise<Result> {
    await this.#leave((call) => {
      call.cancel();
    });
    return DONE;
  }

  abandon(): Promise<void> {
    return this.#leave((call) => {
      call.abandon();
    });
  }

  onMessage(message: Buffer): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve({ done: false, value: message });
  }

  onEnd(ending: CallEnding): void {
    for (const forget of this.#forgets) forget();
    this.#ended.resolve(undefined);
    if (!this.#isOver) this.#finish(this.#failureOf(ending));
  }

  async #leave(end: (call: Call) => void): Promise<void> {
    if (this.#call && !this.#isOver) {
      this.#finish(undefined);
      end(this.#call);
      await this.#ended.promise;
    }
    this.#isOver = true;
    this.#untold = undefined;
  }

  #start(): void {
    const aborted = this.#aborted();
    if (aborted) {
      this.#finish(abortReason(aborted));
      return;
    }
    try {
      const begun = this.#begin(this);
      if ('status' in begun) {
        this.#finish(this.#failureOf(begun));
        return;
      }
      this.#call = begun;
      this.#forgets = this.#signals.map((signal) =>
        onAbort(signal, () => {
          begun.cancel();
        }),
      );
      begun.read();
    } catch (error) {
      this.#finish(toError(error));
    }
  }

  #finish(failure: Error | undefined): void {
    this.#isOver = true;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (!waiting) this.#untold = failure;
    else if (failure) waiting.reject(failure);
    else waiting.resolve(DONE);
  }

  #tellEnd(): Promise<Result> {
    const untold = this.#untold;
    this.#untold = undefined;
    return untold ? Promise.reject(untold) : Promise.resolve(DONE);
  }

  #failureOf(ending: CallEnding): Error | undefined {
    if (ending.status.code === grpcStatus.OK) return undefined;
    const aborted = this.#aborted();
    return aborted ? abortReason(aborted) : new CallError(this.#method, ending);
  }

  #aborted(): AbortSignal | undefined {
    return this.#signals.find(({ aborted }) => aborted);
  }
}
