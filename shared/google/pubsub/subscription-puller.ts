import { performance } from 'node:perf_hooks';
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
  /** Up to `maxMessages`, leased for ten minutes; empty where none came within `waitMillis`. */
  pull(maxMessages: number, waitMillis: number): Promise<readonly LeasedMessage[]>;
  acknowledge(ackIds: readonly string[]): Promise<void>;
  /** Ends the leases, so that whoever pulls next gets the messages. */
  release(ackIds: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** The longest lease that Pub/Sub gives. */
const LEASE_SECONDS = 600;

/** Ids in one request: a request may be 512 KiB, and an id takes up to about 200 bytes. */
const IDS_PER_REQUEST = 1_000;

/**
 * Pulls one subscription by unary requests over the official client: what is pulled is exactly what was asked for, and
 * nothing is leased in the background.
 *
 * @param subscription `projects/p/subscriptions/s`.
 */
export async function openSubscriptionPuller(subscription: string): Promise<SubscriptionPuller> {
  const pubsub = await openPubSub(subscription);
  const { v1 } = await import('@google-cloud/pubsub');
  // What the library hands to its own clients; the two types differ only in how they write "absent".
  const config = (await pubsub.getClientConfig()) as ConstructorParameters<typeof v1.SubscriberClient>[0];
  const client = new v1.SubscriberClient(config);

  const setLease = async (ackIds: readonly string[], ackDeadlineSeconds: number): Promise<void> => {
    for (const ids of parts(ackIds)) {
      await client.modifyAckDeadline({ subscription, ackIds: ids, ackDeadlineSeconds });
    }
  };

  /** The service may answer early and empty, or not at all until the client's deadline: both mean nothing yet. */
  const pullOnce = async (maxMessages: number, timeout: number): Promise<LeasedMessage[]> => {
    try {
      const [{ receivedMessages }] = await client.pull({ subscription, maxMessages }, { timeout, retry: null });
      return (receivedMessages ?? []).map(({ ackId, message }) => ({
        ackId: ackId ?? '',
        messageId: message?.messageId ?? '',
        data: Buffer.from(message?.data ?? ''),
        attributes: { ...message?.attributes },
      }));
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === STATUS_CODES.DEADLINE_EXCEEDED) return [];
      throw error;
    }
  };

  return {
    async pull(maxMessages, waitMillis) {
      const end = performance.now() + waitMillis;
      for (let left = waitMillis; left > 0; left = end - performance.now()) {
        const messages = await pullOnce(maxMessages, Math.ceil(left));
        if (messages.length === 0) continue;
        const ackIds = messages.map(({ ackId }) => ackId);
        await setLease(ackIds, LEASE_SECONDS);
        return messages;
      }
      return [];
    },
    async acknowledge(ackIds) {
      for (const ids of parts(ackIds)) await client.acknowledge({ subscription, ackIds: ids });
    },
    release: (ackIds) => setLease(ackIds, 0),
    async close() {
      await client.close();
      await pubsub.close();
    },
  };
}

function* parts(ids: readonly string[]): Generator<string[]> {
  for (let start = 0; start < ids.length; start += IDS_PER_REQUEST) yield ids.slice(start, start + IDS_PER_REQUEST);
}
