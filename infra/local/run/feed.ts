import type { PlannedSubscription } from '../../../shared/deployment/subscriptions.ts';
import type { LocalCloud } from '../cloud/cloud.ts';
import { ensureSubscription, stopPush } from '../cloud/pubsub-resources.ts';
import { startPullBridge } from './pull-bridge.ts';

export interface FeedOptions {
  readonly cloud: Pick<LocalCloud, 'pubsubHost' | 'needsPullBridge'>;
  /** Messages in flight where a bridge pushes in the place of Google's emulator. Default 64. */
  readonly bridgeConcurrency?: number;
}

const BRIDGE_CONCURRENCY = 64;

/**
 * Makes a subscription of a plan, with its topic, and has its messages brought to the function that it names.
 *
 * @param addressOf the address of a function of the plan, by its name.
 * @returns what ends the bringing; it keeps what is not acknowledged for whoever comes next.
 */
export async function openSubscription(
  subscription: PlannedSubscription,
  addressOf: (name: string) => string,
  { cloud, bridgeConcurrency = BRIDGE_CONCURRENCY }: FeedOptions,
): Promise<() => Promise<void>> {
  const { name, push } = subscription;
  const { pubsubHost, needsPullBridge } = cloud;
  if (!push) {
    await ensureSubscription(pubsubHost, subscription);
    return () => Promise.resolve();
  }
  const endpoint = endpointAt(addressOf(push.function), push.path);
  if (!needsPullBridge) {
    await ensureSubscription(pubsubHost, subscription, endpoint);
    return () => stopPush(pubsubHost, name);
  }
  await ensureSubscription(pubsubHost, subscription);
  const bridge = await startPullBridge({
    pubsubHost,
    projectId: name.split('/')[1] ?? '',
    subscription: name,
    endpoint,
    concurrency: bridgeConcurrency,
  });
  return () => bridge.close();
}

/** A path below a function's address, which may be a path itself. */
export const endpointAt = (address: string, path: string): string =>
  path === '/' ? address : `${address.replace(/\/$/, '')}${path}`;
