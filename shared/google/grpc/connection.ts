import { type ChannelCredentials, Client, type Metadata, status as grpcStatus, type StatusObject } from '@grpc/grpc-js';

/** What one call sends. */
export interface CallRequest {
  /** `/package.Service/Method`. */
  readonly method: string;
  /** The encoded request. The call reads these bytes until it has ended. */
  readonly request: Buffer;
  /** Copied at the start of the call, so that calls may share it. */
  readonly metadata: Metadata;
  /** Milliseconds since the epoch at which the call ends as DEADLINE_EXCEEDED. `Infinity`: only a signal ends it. */
  readonly deadline: number;
}

/** How a call ended. */
export interface CallEnding {
  readonly status: StatusObject;
  /** False when the deadline passed and nothing had come from the service, or the call was abandoned: the connection may be dead. */
  readonly isHeard: boolean;
}

/** Where a call's messages go. Both methods are called from the event loop: what they throw would end the process. */
export interface Receiver {
  /** At most one message for each {@link Call.read}. */
  onMessage(message: Buffer): void;
  /** Once, after the last message. */
  onEnd(ending: CallEnding): void;
}

/**
 * One call with one request. It reads only what it is asked to read: an unread answer stays in the service once the
 * windows of its HTTP/2 stream are full. Its own listener of grpc-js, so that a call costs no closures.
 */
export class Call {
  readonly #connection: Connection;
  readonly #receiver: Receiver;
  readonly #call: ReturnType<ReturnType<Client['getChannel']>['createCall']>;
  #isHeard = false;
  #isAbandoned = false;
  #isEnded = false;

  constructor(connection: Connection, { method, request, metadata, deadline }: CallRequest, receiver: Receiver) {
    this.#connection = connection;
    this.#receiver = receiver;
    // What the client's own methods are made of, without interceptors and the stack trace that they keep of every call.
    this.#call = connection.client.getChannel().createCall(method, deadline, null, null, null);
    this.#call.start(metadata, this);
    this.#call.sendMessageWithContext({}, request);
    this.#call.halfClose();
  }

  /** Asks for the next message, or for the ending when there is none. */
  read(): void {
    this.#call.startRead();
  }

  /** Ends the call as CANCELLED, here and at the service, unless it has ended. */
  cancel(): void {
    this.#call.cancelWithStatus(grpcStatus.CANCELLED, 'Cancelled on client');
  }

  /** The same where the service was silent for too long: its connection may be dead, and takes no further call. */
  abandon(): void {
    this.#isAbandoned = true;
    this.cancel();
  }

  onReceiveMetadata(): void {
    // No call of ours reads headers.
  }

  onReceiveMessage(message: Buffer | null): void {
    // A message can still be on its way through the client's filters when the call was cancelled.
    if (this.#isEnded || !message) return;
    this.#isHeard = true;
    this.#receiver.onMessage(message);
  }

  onReceiveStatus(status: StatusObject): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    // Any other status was said by the service or tells that there is no connection.
    const isHeard = !this.#isAbandoned && (this.#isHeard || status.code !== grpcStatus.DEADLINE_EXCEEDED);
    this.#connection.ended(isHeard);
    this.#receiver.onEnd({ status, isHeard });
  }
}

/**
 * One HTTP/2 connection. It sends no keepalive pings: a frozen instance thaws into connections that look dead. Instead
 * every call has a deadline, and a connection on which a call ran into it unheard is *suspect*: it takes no new call,
 * and `onDead` is called when its last call has ended.
 */
export class Connection {
  inFlight = 0;
  isSuspect = false;
  readonly client: Client;
  readonly #onDead: (connection: Connection) => void;

  constructor(address: string, credentials: ChannelCredentials, onDead: (connection: Connection) => void) {
    this.#onDead = onDead;
    this.client = new Client(address, credentials, {
      'grpc.max_receive_message_length': -1,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 5000,
      // Read ahead by the transport, for each stream: with HTTP/2's own 64 KiB a reader of small rows waits for the
      // wire after every second message. A stream that nobody reads holds no more than this.
      'grpc-node.flow_control_window': 256 * 1024,
      // Without its own pool a new connection would be given the very one that it is to replace.
      'grpc.use_local_subchannel_pool': 1,
      'grpc.service_config_disable_resolution': 1,
    });
  }

  /** Throws where no call can be made of the request; nothing was sent then. */
  begin(request: CallRequest, receiver: Receiver): Call {
    const call = new Call(this, request, receiver);
    this.inFlight += 1;
    return call;
  }

  /** A call has ended; called by it. */
  ended(isHeard: boolean): void {
    this.inFlight -= 1;
    if (!isHeard) this.isSuspect = true;
    if (this.isSuspect && this.inFlight === 0) this.#onDead(this);
  }

  close(): void {
    this.client.close();
  }
}
