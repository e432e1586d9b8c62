import type { Subscription } from '../../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { millisOfDuration } from '../../rpc/proto-time.ts';
import type { Timing } from '../timing.ts';
import type { RetryDelays } from './backoff.ts';
import { compileFilter, type MessageFilter } from './filter.ts';

/** A subscription's resource in the units the server works with: milliseconds of its own, faster, time. */
export interface SubscriptionSettings {
  readonly name: string;
  readonly ackDeadlineMillis: number;
  readonly isOrdered: boolean;
  readonly isExactlyOnce: boolean;
  readonly filter: MessageFilter;
  readonly retry: RetryDelays | undefined;
  readonly deadLetter: DeadLetterSettings | undefined;
  readonly retainsAcknowledged: boolean;
  /** Not shortened by the time scale: it is compared with publish times. */
  readonly retentionMicros: bigint;
  readonly push: PushSettings | undefined;
}

export interface DeadLetterSettings {
  readonly topic: string;
  readonly maxAttempts: number;
}

export interface PushSettings {
  readonly endpoint: string;
  readonly body: 'wrapped' | 'unwrapped' | 'unwrapped-with-metadata';
}

/** @param resource a checked resource, with the defaults filled in. */
export function settingsOf(resource: Subscription, timing: Timing): SubscriptionSettings {
  const { retryPolicy, deadLetterPolicy, pushConfig } = resource;
  const delay = (duration: Parameters<typeof millisOfDuration>[0] | undefined): number =>
    duration ? timing.shrink(millisOfDuration(duration)) : 0;
  return {
    name: resource.name,
    ackDeadlineMillis: timing.shrink(resource.ackDeadlineSeconds * 1000),
    isOrdered: resource.enableMessageOrdering,
    isExactlyOnce: resource.enableExactlyOnceDelivery,
    filter: compileFilter(resource.filter),
    retry: retryPolicy && {
      minimumMillis: delay(retryPolicy.minimumBackoff),
      maximumMillis: delay(retryPolicy.maximumBackoff),
    },
    deadLetter: deadLetterPolicy && {
      topic: deadLetterPolicy.deadLetterTopic,
      maxAttempts: deadLetterPolicy.maxDeliveryAttempts,
    },
    retainsAcknowledged: resource.retainAckedMessages,
    retentionMicros: BigInt(
      Math.round((resource.messageRetentionDuration ? millisOfDuration(resource.messageRetentionDuration) : 0) * 1000),
    ),
    push: pushConfig?.pushEndpoint ? { endpoint: pushConfig.pushEndpoint, body: bodyOf(pushConfig) } : undefined,
  };
}

function bodyOf({ wrapper }: NonNullable<Subscription['pushConfig']>): PushSettings['body'] {
  if (wrapper?.$case !== 'noWrapper') return 'wrapped';
  return wrapper.value.writeMetadata ? 'unwrapped-with-metadata' : 'unwrapped';
}
