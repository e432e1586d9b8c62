import { toError } from '../../base/errors.ts';
import type { Status } from '../../model/status.ts';
import type { TableName } from '../../model/table-name.ts';
import { CallError, type MessageStream } from '../grpc/message-stream.ts';
import type { TableMetadata } from './call.ts';
import type { ClientPool, HeldClient } from './clients.ts';
import { type EndingDetails, endingDetails } from './error-details.ts';

export interface StreamedCall {
  readonly table: TableName;
  /** Empty is the instance's default profile. */
  readonly appProfileId: string;
  /** Each cancels the call, and the wait for a client. */
  readonly signals: readonly AbortSignal[];
}

export interface StreamRequest {
  readonly method: string;
  readonly metadata: TableMetadata;
  /** Asked once, when the call begins. */
  readonly encode: () => Buffer;
}

export type PooledMessage =
  | { readonly kind: 'message'; readonly message: Buffer }
  | { readonly kind: 'finished' }
  | ({ readonly kind: 'failed'; readonly status: Status } & EndingDetails);

/**
 * The messages of one streamed call over a client of the pool, which it holds from its first message to its end, at the
 * pace of its reader. Nothing is retried. It satisfies the ports of those who read streams.
 */
export class PooledMessages {
  readonly #pool: ClientPool;
  readonly #request: StreamRequest;
  readonly #call: StreamedCall;
  #client: HeldClient | undefined;
  #stream: MessageStream | undefined;
  #end: PooledMessage | undefined;

  constructor(pool: ClientPool, request: StreamRequest, call: StreamedCall) {
    this.#pool = pool;
    this.#request = request;
    this.#call = call;
  }

  async next(): Promise<PooledMessage> {
    if (this.#end) return this.#end;
    try {
      const stream = this.#stream ?? (await this.#open());
      if (!this.#isOver()) {
        const { done, value } = await stream.next();
        // A call that was closed meanwhile looks finished, and is not.
        if (!this.#isOver()) return done ? this.#finish({ kind: 'finished' }) : { kind: 'message', message: value };
      }
    } catch (error) {
      if (!this.#isOver()) return this.#finish(failureOf(error, this.#call.signals));
    }
    this.#release();
    return CLOSED;
  }

  async close(isSilent = false): Promise<void> {
    const stream = this.#stream;
    this.#end ??= CLOSED;
    if (stream) await (isSilent ? stream.abandon() : stream.return());
    this.#release();
  }

  /** Asked anew after every wait: `close` may have come meanwhile. */
  #isOver(): boolean {
    return this.#end !== undefined;
  }

  async #open(): Promise<MessageStream> {
    const { table, appProfileId, signals } = this.#call;
    const { method, metadata, encode } = this.#request;
    this.#client = this.#pool.hold(table) ?? (await this.#pool.wait(table, AbortSignal.any([...signals])));
    this.#stream = this.#client.channels.stream(
      {
        method,
        request: encode(),
        metadata: metadata.of(table, appProfileId),
        // A stream takes as long as its reader does: it is ended by signals, and by silence.
        deadline: Infinity,
      },
      signals,
    );
    return this.#stream;
  }

  #finish(end: PooledMessage): PooledMessage {
    this.#end = end;
    this.#release();
    return end;
  }

  #release(): void {
    if (this.#client) this.#pool.release(this.#client);
    this.#client = undefined;
  }
}

const CLOSED: PooledMessage = { kind: 'failed', status: { code: 'CANCELLED', message: 'the read was closed' } };

function failureOf(error: unknown, signals: readonly AbortSignal[]): PooledMessage {
  if (error instanceof CallError) {
    return { kind: 'failed', status: error.status, ...endingDetails(error.details) };
  }
  // No client was free in time, or no call could be made: nothing was read.
  const code: Status['code'] = signals.some(({ aborted }) => aborted) ? 'CANCELLED' : 'UNAVAILABLE';
  return { kind: 'failed', status: { code, message: toError(error).message } };
}
