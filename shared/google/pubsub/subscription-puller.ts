import { performance } from 'node:perf_hooks';
import { abortable, onAbort } from '../../base/abort.ts';
import { abortReason, type Clock } from '../../base/clock.ts';
import { STATUS_CODES } from '../../model/status.ts';
import { openPubSub } from './client.ts';

/** A message under a lease. */
export interface LeasedMessage {
  readonly ackId: string;
  readonly messageId: string;
  readonly data: Buffer;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface SubscriptionPuller {
  /**
   * Up to `maxMessages`; empty where none came within `waitMillis`. What it returns stays leased until it is
   * acknowledged or released: by leases that are extended as long as this puller is open. Rejects with the reason of
   * `signal` soon after that aborts; messages that come at that very moment are still returned.
   */
  pull(maxMessages: number, waitMillis: number, signal: AbortSignal): Promise<readonly LeasedMessage[]>;
  /** Rejects with the reason of `signal` as soon as that aborts; the messages may be acknowledged all the same. */
  acknowledge(ackIds: readonly string[], signal: AbortSignal): Promise<void>;
  /** Ends the leases, so that whoever pulls next gets the messages. `signal` as for `acknowledge`. */
  release(ackIds: readonly string[], signal: AbortSignal): Promise<void>;
  /** Extends no lease any more. Does not end them. */
  close(): Promise<void>;
}

/** A lease is extended so often while it lasts: it outlives two extensions that fail. */
const EXTENSIONS = 3;

/** Ids in one request: a request may be 512 KiB, and an id takes up to about 200 bytes. */
const IDS_PER_REQUEST = 1_000;

/** The longest time that one change of leases takes, the client's retries included. */
const CHANGE_TIMEOUT_MILLIS = 8_000;

/** So long an answer that is on its way when a pull is cut short is waited for: lost, its messages would stay leased. */
const LATE_ANSWER_MILLIS = 150;

/**
 * Pulls one subscription by unary requests over the official client: what is pulled is exactly what was asked for, and
 * nothing is leased in the background.
 *
 * @param subscription `projects/p/subscriptions/s`.
 * @param leaseSeconds how long a message stays invisible at most once the process that pulled it is gone; 10 to 600.
 */
export async function openSubscriptionPuller(
  subscription: string,
  leaseSeconds: number,
  clock: Clock,
): Promise<SubscriptionPuller> {
  const pubsub = await openPubSub(subscription);
  const { v1 } = await import('@google-cloud/pubsub');
  // The library hands this to its own clients; the two types differ only in how they write "absent".
  const config = (await pubsub.getClientConfig()) as ConstructorParameters<typeof v1.SubscriberClient>[0];
  const client = new v1.SubscriberClient(config);
  await client.initialize();
  const held = new Set<string>();
  const routing = { 'x-goog-request-params': `subscription=${encodeURIComponent(subscription)}` };

  const setLease = async (ackIds: Iterable<string>, ackDeadlineSeconds: number): Promise<void> => {
    for (const ids of parts([...ackIds])) {
      const request = { subscription, ackIds: ids, ackDeadlineSeconds };
      await client.modifyAckDeadline(request, { timeout: CHANGE_TIMEOUT_MILLIS });
    }
  };

  /** Extensions on their way. */
  const extending = new Set<Promise<void>>();
  /** One that fails is made up for by the next; after two a message may be delivered once more, under a new id. */
  const extend = (ackIds: Iterable<string>): Promise<void> => {
    const own: Promise<void> = setLease(ackIds, leaseSeconds)
      .catch(() => undefined)
      .finally(() => extending.delete(own));
    extending.add(own);
    return own;
  };
  let isClosed = false;
  let cancelExtension = (): void => undefined;
  const extendLater = (): void => {
    if (isClosed) return;
    cancelExtension = clock.after((leaseSeconds * 1_000) / EXTENSIONS, () => {
      extend(held).then(extendLater, extendLater);
    });
  };
  extendLater();

  /** The service may answer early and empty, or not at all until the client's deadline: both mean nothing yet. */
  const pullOnce = async (maxMessages: number, timeout: number, signal: AbortSignal): Promise<LeasedMessage[]> => {
    // The method of the client itself returns a promise that cannot be cancelled.
    const call = client.innerApiCalls.pull?.(
      { subscription, maxMessages },
      { timeout, retry: null, otherArgs: { headers: routing } },
    ) as CancellablePull;
    const forget = onAbort(signal, () => {
      clock.after(LATE_ANSWER_MILLIS, () => {
        call.cancel();
      });
    });
    try {
      const [{ receivedMessages }] = await call;
      return (receivedMessages ?? []).map(({ ackId, message }) => ({
        ackId: ackId ?? '',
        messageId: message?.messageId ?? '',
        data: Buffer.from(message?.data ?? ''),
        attributes: { ...message?.attributes },
      }));
    } catch (error) {
      if (signal.aborted) throw abortReason(signal);
      if (error instanceof Error && 'code' in error && error.code === STATUS_CODES.DEADLINE_EXCEEDED) return [];
      throw error;
    } finally {
      forget();
    }
  };

  return {
    async pull(maxMessages, waitMillis, signal) {
      const end = performance.now() + waitMillis;
      for (let left = waitMillis; left > 0; left = end - performance.now()) {
        if (signal.aborted) throw abortReason(signal);
        const messages = await pullOnce(maxMessages, Math.ceil(left), signal);
        if (messages.length === 0) continue;
        const ackIds = messages.map(({ ackId }) => ackId);
        for (const ackId of ackIds) held.add(ackId);
        // Until then the lease is as long as the subscription says. The caller gives back what comes after the signal.
        await abortable(extend(ackIds), signal).catch(() => undefined);
        return messages;
      }
      return [];
    },
    async acknowledge(ackIds, signal) {
      const acknowledging = async (): Promise<void> => {
        for (const ids of parts(ackIds)) {
          await client.acknowledge({ subscription, ackIds: ids }, { timeout: CHANGE_TIMEOUT_MILLIS });
        }
      };
      for (const ackId of ackIds) held.delete(ackId);
      await abortable(acknowledging(), signal);
    },
    async release(ackIds, signal) {
      for (const ackId of ackIds) held.delete(ackId);
      // An extension that is overtaken would lease again.
      await abortable(
        Promise.all(extending).then(() => setLease(ackIds, 0)),
        signal,
      );
    },
    async close() {
      isClosed = true;
      cancelExtension();
      await client.close();
      await pubsub.close();
    },
  };
}

/** As the generated client keeps it: a pull that can be taken back, so that its messages go to others. */
interface CancellablePull extends Promise<
  [
    {
      readonly receivedMessages?:
        | readonly {
            readonly ackId?: string | null;
            readonly message?: {
              readonly messageId?: string | null;
              readonly data?: Uint8Array | string | null;
              readonly attributes?: Readonly<Record<string, string>> | null;
            } | null;
          }[]
        | null;
    },
  ]
> {
  cancel(): void;
}

function* parts(ids: readonly string[]): Generator<string[]> {
  for (let start = 0; start < ids.length; start += IDS_PER_REQUEST) yield ids.slice(start, start + IDS_PER_REQUEST);
}
