import { type ChannelCredentials, Metadata, status as grpcStatus, type StatusObject } from '@grpc/grpc-js';
import { onAbort } from '../../base/abort.ts';
import { type Call, type CallEnding, type CallRequest, Connection, type Receiver } from './connection.ts';
import { messageStream, type MessageStream } from './message-stream.ts';

/** How a unary call ended. */
export interface UnaryEnding extends CallEnding {
  /** False when the call was never made: the client was closed, or its signal aborted before. */
  readonly isSent: boolean;
  /** The encoded answer; there exactly when the status is OK. */
  readonly answer?: Buffer;
}

/** HTTP/2 servers allow about 100 streams on a connection; past that, calls would queue unseen inside the client. */
const STREAMS_PER_CONNECTION = 90;

/**
 * The connections of one client: one at first, another whenever all are full of streams, a new one for a dead one.
 * Nothing is retried here.
 */
export class ChannelSet {
  readonly #open: () => Connection;
  readonly #connections: Connection[] = [];
  #isClosed = false;

  constructor(address: string, credentials: ChannelCredentials) {
    const onDead = (dead: Connection): void => {
      const index = this.#connections.indexOf(dead);
      if (index < 0) return;
      this.#connections.splice(index, 1);
      dead.close();
    };
    this.#open = () => new Connection(address, credentials, onDead);
  }

  get inFlight(): number {
    return this.#connections.reduce((sum, { inFlight }) => sum + inFlight, 0);
  }

  /**
   * Makes one unary call. `onEnd` is called once: with the ending, and with the answer's bytes when its status is OK.
   * Each of `signals` cancels the call, which then ends as CANCELLED unless it was answered first. Throws where no call
   * can be made of the request. A callback, because each promise on the way of a call costs the collector.
   */
  unary(request: CallRequest, signals: readonly AbortSignal[], onEnd: (ending: UnaryEnding) => void): void {
    if (this.#isClosed || signals.some(({ aborted }) => aborted)) {
      onEnd({ ...(this.#isClosed ? CLOSED : NOT_STARTED), isSent: false });
      return;
    }
    const answer = new UnaryAnswer(onEnd);
    const call = this.#pick().begin(request, answer);
    answer.cancelBy(signals, call);
    call.read();
  }

  /** The messages of one server-streaming call, at the pace of their reader; see {@link MessageStream}. */
  stream(request: CallRequest, signals: readonly AbortSignal[]): MessageStream {
    const begin = (receiver: Receiver): Call | CallEnding =>
      this.#isClosed ? CLOSED : this.#pick().begin(request, receiver);
    return messageStream(request.method, begin, signals);
  }

  /** Takes no further call: they end as UNAVAILABLE. Those in flight go on to their ends. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#connections.splice(0)) connection.close();
  }

  #pick(): Connection {
    let best: Connection | undefined;
    for (const connection of this.#connections) {
      const isUsable = !connection.isSuspect && connection.inFlight < STREAMS_PER_CONNECTION;
      if (isUsable && (!best || connection.inFlight < best.inFlight)) best = connection;
    }
    if (best) return best;
    const opened = this.#open();
    this.#connections.push(opened);
    return opened;
  }
}

/** What comes of a unary call. */
class UnaryAnswer implements Receiver {
  readonly #onEnd: (ending: UnaryEnding) => void;
  #answer: Buffer | undefined;
  #forgets: readonly (() => void)[] = [];

  constructor(onEnd: (ending: UnaryEnding) => void) {
    this.#onEnd = onEnd;
  }

  cancelBy(signals: readonly AbortSignal[], call: Call): void {
    const cancel = (): void => {
      call.cancel();
    };
    this.#forgets = signals.map((signal) => onAbort(signal, cancel));
  }

  onMessage(message: Buffer): void {
    this.#answer = message;
  }

  onEnd({ status, isHeard }: CallEnding): void {
    for (const forget of this.#forgets) forget();
    const answer = this.#answer;
    if (status.code !== grpcStatus.OK) this.#onEnd({ status, isHeard, isSent: true });
    else if (answer) this.#onEnd({ status, isHeard, isSent: true, answer });
    else this.#onEnd({ status: NO_ANSWER, isHeard, isSent: true });
  }
}

/** A server that says OK and nothing else breaks the protocol; what it did is not known. */
const NO_ANSWER: StatusObject = {
  code: grpcStatus.INTERNAL,
  details: 'the call ended with OK and without an answer',
  metadata: new Metadata(),
};

/** The ending of a call whose signal was aborted before it was made: nothing was sent. */
const NOT_STARTED: CallEnding = {
  status: { code: grpcStatus.CANCELLED, details: 'no time was left to send the request', metadata: new Metadata() },
  isHeard: true,
};

/** The ending of a call that was made after `close`. */
const CLOSED: CallEnding = {
  status: { code: grpcStatus.UNAVAILABLE, details: 'the client is closed', metadata: new Metadata() },
  isHeard: true,
};
