import { abortable } from '../../base/abort.ts';
import { toError } from '../../base/errors.ts';
import { lazy } from '../../base/lazy.ts';
import type { PublishAttempt, PublishReply, SendPublish } from '../../emission/ports.ts';
import { statusName, type StatusName } from '../../model/status.ts';
import { type GoogleService, openAccess, type ServiceAccess } from '../grpc/access.ts';
import { BufferPool } from '../grpc/buffers.ts';
import { ChannelSet, type UnaryEnding } from '../grpc/channel.ts';
import type { CallRequest } from '../grpc/connection.ts';
import { routedMetadata } from '../grpc/routed-metadata.ts';
import { encodePublish, publishedCount, publishSize } from './encode-publish.ts';

const METHOD = '/google.pubsub.v1.Publisher/Publish';

/** Publishing and pulling. The service has no narrower scope. */
const PUBSUB_SERVICE: GoogleService = {
  address: 'pubsub.googleapis.com:443',
  scope: 'https://www.googleapis.com/auth/pubsub',
  emulator: 'PUBSUB_EMULATOR_HOST',
};

/** @param endpoint `host` or `host:port`; undefined: the global one. */
export function pubSubService(endpoint: string | undefined): GoogleService {
  if (endpoint === undefined) return PUBSUB_SERVICE;
  return { ...PUBSUB_SERVICE, address: /:\d+$/.test(endpoint) ? endpoint : `${endpoint}:443` };
}

/** The emulator that PUBSUB_EMULATOR_HOST names, or the service. */
export const pubSubAccess = ({ PUBSUB_EMULATOR_HOST: emulatorEndpoint }: Environment): ServiceAccess =>
  emulatorEndpoint ? { emulatorEndpoint } : {};

type Environment = Readonly<Partial<Record<string, string>>>;

export interface PublishCallsOptions extends ServiceAccess {
  /**
   * `host` or `host:port` of a regional endpoint, such as `us-east1-pubsub.googleapis.com`: the order of a key holds within
   * a region only. Default: the global one, which goes to the nearest region. Of no account with an emulator.
   */
  readonly publishEndpoint?: string;
}

export interface PublishCalls {
  readonly send: SendPublish;
  /** Connects now and not at the first attempt. Rejects where there are no credentials. */
  open(): Promise<void>;
  /** Takes no further attempt; those on their way go on to their ends. */
  close(): void;
}

/**
 * `Publish` over a raw gRPC channel: one request, one answer for all of its messages, nothing retried. The official
 * client can neither bound nor cancel a publish, and repeats it in the background (6.3.0).
 */
export function createPublishCalls({ publishEndpoint, ...access }: PublishCallsOptions): PublishCalls {
  const service = pubSubService(publishEndpoint);
  const buffers = new BufferPool();
  const topics = new Topics();
  let opened: ChannelSet | undefined;
  let isClosed = false;
  const open = lazy(async () => {
    const { address, credentials } = await openAccess(access, service);
    const channels = new ChannelSet(address, credentials);
    if (isClosed) channels.close();
    opened = channels;
    return channels;
  });

  const sendBy = (channels: ChannelSet, { topic, messages, signals }: PublishAttempt, deadline: number) =>
    new Promise<PublishReply>((resolve) => {
      let buffer: Buffer | undefined;
      const end = (reply: PublishReply): void => {
        if (buffer) buffers.give(buffer);
        resolve(reply);
      };
      try {
        const { name, metadata } = topics.of(topic);
        const size = publishSize(name, messages);
        buffer = buffers.take(size);
        const call: CallRequest = {
          method: METHOD,
          request: encodePublish(buffer, size, name, messages),
          metadata,
          deadline,
        };
        channels.unary(call, signals, (ending) => {
          end(replyOf(ending, messages.length));
        });
      } catch (error) {
        // Endings are told, not thrown: whatever is thrown was thrown before a request was made.
        end(failed('UNAVAILABLE', `no request could be made: ${toError(error).message}`, true));
      }
    });

  const sendOnceOpen = async (attempt: PublishAttempt, deadline: number): Promise<PublishReply> => {
    let channels: ChannelSet;
    try {
      channels = await abortable(open(), AbortSignal.any([...attempt.signals, timeout(deadline)]));
    } catch (error) {
      return failed('UNAVAILABLE', `no client: ${toError(error).message}`, true);
    }
    return sendBy(channels, attempt, deadline);
  };

  return {
    send(attempt) {
      if (!FULL_NAME.test(attempt.topic)) return Promise.resolve(failed('FAILED_PRECONDITION', NO_PROJECT, true));
      const deadline = Date.now() + attempt.timeoutMillis;
      return opened ? sendBy(opened, attempt, deadline) : sendOnceOpen(attempt, deadline);
    },
    async open() {
      await open();
    },
    close() {
      isClosed = true;
      opened?.close();
    },
  };
}

const FULL_NAME = /^projects\/[^/]+\/topics\/[^/]+$/;

/** The service would say INVALID_ARGUMENT, which blames every message. */
const NO_PROJECT = 'the topic has no project: name it as projects/…/topics/…, or set project';

function replyOf({ status, answer, isSent }: UnaryEnding, messages: number): PublishReply {
  if (!answer) return failed(statusName(status.code), status.details, !isSent);
  const confirmed = publishedCount(answer);
  if (confirmed === messages) return { kind: 'confirmed' };
  const told = confirmed === undefined ? 'cannot be read' : `tells of ${confirmed}`;
  return failed('INTERNAL', `the answer to ${messages} messages ${told}`, false);
}

const failed = (code: StatusName, message: string, isUnsent: boolean): PublishReply => ({
  kind: 'failed',
  status: { code, message },
  isUnsent,
});

const timeout = (deadline: number): AbortSignal => AbortSignal.timeout(Math.max(0, deadline - Date.now()));

/** The encoded names of topics, and what routes to them: the outputs of few runs at once. */
class Topics {
  readonly #kept = new Map<string, { readonly name: Buffer; readonly metadata: ReturnType<typeof routedMetadata> }>();

  of(topic: string): { readonly name: Buffer; readonly metadata: ReturnType<typeof routedMetadata> } {
    let known = this.#kept.get(topic);
    if (!known) {
      known = { name: Buffer.from(topic), metadata: routedMetadata({ topic }) };
      if (this.#kept.size >= MAX_KEPT_TOPICS) this.#kept.clear();
      this.#kept.set(topic, known);
    }
    return known;
  }
}

const MAX_KEPT_TOPICS = 100;
