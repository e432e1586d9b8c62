import type { Status } from '../model/status.ts';

/**
 * One attempt of one `Publish`, sent once and not repeated. Always resolves, by the attempt's own deadline. Implemented
 * over a gRPC channel in `shared/google/pubsub`.
 */
export type SendPublish = (attempt: PublishAttempt) => Promise<PublishReply>;

export interface PublishAttempt {
  /** `projects/p/topics/t`. */
  readonly topic: string;
  /** At most 1,000, and all of one ordering key or without one: the service takes all of them or none. */
  readonly messages: readonly WireMessage[];
  /** The whole attempt's time, waiting for a connection included. */
  readonly timeoutMillis: number;
  /** Each cancels the attempt, whose effect is open then. */
  readonly signals: readonly AbortSignal[];
}

/** A message as it goes on the wire, framed as a field of its request: what is written down, and data that follows. */
export interface WireMessage {
  /** Holds others beside it. Those of one request often follow each other, so that they are one copy. */
  readonly slab: { readonly buffer: Buffer };
  readonly start: number;
  readonly end: number;
  /** The data of a large message, which is copied only into its request; undefined where it is in the slab. */
  readonly data: Buffer | undefined;
}

export type PublishReply =
  /** The messages are durable. */
  | { readonly kind: 'confirmed' }
  | {
      readonly kind: 'failed';
      readonly status: Status;
      /** True when nothing left this process: the attempt has no effect and never will. */
      readonly isUnsent: boolean;
    };
