import { type ChannelCredentials, Client, Metadata, status as grpcStatus, type StatusObject } from '@grpc/grpc-js';
import { toError } from '../../base/errors.ts';
import { onAbort } from '../../base/on-abort.ts';

/** How one streamed call ended: its status, and whether the service said anything at all before. */
export interface CallEnding {
  readonly status: StatusObject;
  readonly isHeard: boolean;
}

/** How a unary call ended. */
export interface UnaryEnding extends CallEnding {
  /** False when the call was never made: the client was closed, or its signal aborted before. */
  readonly isSent: boolean;
  /** The encoded answer; there exactly when the status is OK. */
  readonly answer?: Buffer;
}

/**
 * One HTTP/2 connection. No keepalive pings: a frozen instance thaws into connections that look dead. Instead every
 * call has a deadline, and a channel on which a call ran into it unheard is replaced (see {@link ChannelSet}).
 */
class Channel {
  inFlight = 0;
  isSuspect = false;
  readonly client: Client;

  constructor(address: string, channelCredentials: ChannelCredentials) {
    this.client = new Client(address, channelCredentials, {
      'grpc.max_receive_message_length': -1,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 5000,
      // Without its own pool a new channel would be given the very connection it is to replace.
      'grpc.use_local_subchannel_pool': 1,
      'grpc.service_config_disable_resolution': 1,
    });
  }
}

/** HTTP/2 servers allow about 100 streams on a connection; past that, calls would queue unseen inside the client. */
const STREAMS_PER_CHANNEL = 90;

/** The connections of one client: one at first, another whenever all are full of streams, a new one for a dead one. */
export class ChannelSet {
  readonly #open: () => Channel;
  #channels: Channel[] = [];
  #isClosed = false;

  constructor(address: string, channelCredentials: ChannelCredentials) {
    this.#open = () => new Channel(address, channelCredentials);
  }

  get inFlight(): number {
    return this.#channels.reduce((sum, channel) => sum + channel.inFlight, 0);
  }

  /**
   * Makes one server-streaming call with an encoded request. `onMessage` sees every message; when it throws, the call
   * ends as INTERNAL. The promise always resolves, with the ending; the request's buffer is free again when it has.
   */
  call(
    method: string,
    request: Buffer,
    metadata: Metadata,
    deadline: number,
    onMessage: (message: Buffer) => void,
  ): Promise<CallEnding> {
    if (this.#isClosed) return Promise.resolve(NOT_SENT);
    const channel = this.#pick();
    channel.inFlight += 1;
    return new Promise((resolve) => {
      let isHeard = false;
      let unreadable: Error | undefined;
      const stream = channel.client.makeServerStreamRequest(method, asIs, asIs, request, metadata, { deadline });
      stream.on('data', (message: Buffer) => {
        isHeard = true;
        if (unreadable) return;
        try {
          onMessage(message);
        } catch (error) {
          // Thrown from an event it would end the process, and every other call with it.
          unreadable = toError(error);
          stream.cancel();
        }
      });
      // The status event carries the same ending; without a listener the error event would end the process.
      stream.on('error', () => undefined);
      stream.on('status', (status) => {
        channel.inFlight -= 1;
        if (status.code === grpcStatus.DEADLINE_EXCEEDED && !isHeard) channel.isSuspect = true;
        this.#retire(channel);
        if (unreadable) {
          const details = `an answer could not be read: ${unreadable.message}`;
          resolve({ status: { ...status, code: grpcStatus.INTERNAL, details }, isHeard });
          return;
        }
        // Any other status was said by the service or tells that there is no connection.
        resolve({ status, isHeard: isHeard || status.code !== grpcStatus.DEADLINE_EXCEEDED });
      });
    });
  }

  /**
   * Makes one unary call with an encoded request. `onEnd` is called once: with the ending, and with the answer's bytes
   * when its status is OK. Each of `signals` cancels the call, which then ends as CANCELLED unless it was answered first.
   * A callback, because each promise on the way of a call costs the collector.
   */
  unary(
    method: string,
    request: Buffer,
    metadata: Metadata,
    deadline: number,
    signals: readonly AbortSignal[],
    onEnd: (ending: UnaryEnding) => void,
  ): void {
    if (this.#isClosed || signals.some(({ aborted }) => aborted)) {
      onEnd({ ...(this.#isClosed ? NOT_SENT : NOT_STARTED), isSent: false });
      return;
    }
    const channel = this.#pick();
    // What `makeUnaryRequest` is made of, without its interceptors and the stack trace that it keeps of every call.
    const call = channel.client.getChannel().createCall(method, deadline, null, null, null);
    channel.inFlight += 1;
    const cancel = (): void => {
      call.cancelWithStatus(grpcStatus.CANCELLED, 'Cancelled on client');
    };
    const forgets = signals.map((signal) => onAbort(signal, cancel));
    let answer: Buffer | undefined;
    call.start(metadata, {
      onReceiveMetadata: () => undefined,
      onReceiveMessage: (message: Buffer | null) => {
        answer = message ?? undefined;
      },
      onReceiveStatus: (status) => {
        for (const forget of forgets) forget();
        channel.inFlight -= 1;
        const isHeard = status.code !== grpcStatus.DEADLINE_EXCEEDED;
        if (!isHeard) channel.isSuspect = true;
        this.#retire(channel);
        if (status.code !== grpcStatus.OK) onEnd({ status, isHeard, isSent: true });
        else if (answer) onEnd({ status, isHeard, isSent: true, answer });
        else onEnd({ status: NO_ANSWER, isHeard, isSent: true });
      },
    });
    call.sendMessageWithContext({}, request);
    call.halfClose();
    call.startRead();
  }

  close(): void {
    this.#isClosed = true;
    for (const channel of this.#channels) channel.client.close();
    this.#channels = [];
  }

  #pick(): Channel {
    let best: Channel | undefined;
    for (const channel of this.#channels) {
      const isUsable = !channel.isSuspect && channel.inFlight < STREAMS_PER_CHANNEL;
      if (isUsable && (!best || channel.inFlight < best.inFlight)) best = channel;
    }
    if (best) return best;
    const opened = this.#open();
    this.#channels.push(opened);
    return opened;
  }

  /** A suspect channel takes no new call and is closed when its last one has ended. */
  #retire(channel: Channel): void {
    if (!channel.isSuspect || channel.inFlight > 0 || this.#isClosed) return;
    this.#channels = this.#channels.filter((kept) => kept !== channel);
    channel.client.close();
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
const NOT_SENT: CallEnding = {
  status: { code: grpcStatus.UNAVAILABLE, details: 'the client is closed', metadata: new Metadata() },
  isHeard: true,
};

const asIs = (bytes: Buffer): Buffer => bytes;
