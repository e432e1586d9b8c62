/** One message on its way to a topic. */
export interface OutgoingMessage {
  readonly data: Buffer;
  readonly attributes: Readonly<Record<string, string>>;
  /** Messages of one key arrive in the order in which they were published. Absent or empty: no order. */
  readonly orderingKey?: string;
}

/**
 * Data that nobody should hold beside what it is made of: its pieces are made one by one, and come out the same every
 * time.
 */
export interface LargeData {
  readonly pieces: () => Iterable<Buffer>;
}

/** A message above what is published as one. */
export interface LargeMessage extends Omit<OutgoingMessage, 'data'> {
  readonly data: LargeData;
}

/** A topic on which every message is waited for. Implemented over the official client in `shared/google/pubsub`. */
export interface Publisher {
  /**
   * Resolves once the service has confirmed the message, which is when it is durable. Rejects with the error of the
   * service, or with the reason of `signal` as soon as that aborts. A message whose publish rejected may have arrived
   * all the same, or arrive later.
   */
  publish(message: OutgoingMessage, signal?: AbortSignal): Promise<void>;
  /** Sends what is queued and closes the connections, within a bound of the publisher's own. */
  close(): Promise<void>;
}
