import type { Duration } from '../../../../../shared/proto/google/protobuf/duration.ts';
import type { Subscription } from '../../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import { durationOfSeconds, millisOfDuration } from '../../rpc/proto-time.ts';
import { compileFilter } from '../delivery/filter.ts';
import { parseName } from './names.ts';
import { applyMask } from './update-mask.ts';

/** What a subscription's resource may hold, and what it holds by default (google/pubsub/v1/pubsub.proto). Pure. */

const DAY_SECONDS = 86_400;
const DEFAULTS = {
  ackDeadlineSeconds: 10,
  retentionSeconds: 7 * DAY_SECONDS,
  expirationSeconds: 31 * DAY_SECONDS,
  minimumBackoffSeconds: 10,
  maximumBackoffSeconds: 600,
  deliveryAttempts: 5,
} as const;

/** Fills in the defaults and checks every rule. @throws INVALID_ARGUMENT, or UNIMPLEMENTED for what this server lacks. */
export function checkedSubscription(asked: Subscription): Subscription {
  parseName('subscriptions', asked.name);
  refuseUnsupported(asked);
  const resource = withDefaults(asked);
  within('ack_deadline_seconds', resource.ackDeadlineSeconds, 10, 600);
  within('message_retention_duration', secondsOf(resource.messageRetentionDuration), 600, 31 * DAY_SECONDS);
  checkRetryPolicy(resource);
  checkDeadLetterPolicy(resource);
  checkPush(resource);
  compileFilter(resource.filter);
  return resource;
}

/** The paths that an update may name. Filter and ordering are fixed at creation. */
const UPDATABLE = {
  push_config: 'pushConfig',
  ack_deadline_seconds: 'ackDeadlineSeconds',
  retain_acked_messages: 'retainAckedMessages',
  message_retention_duration: 'messageRetentionDuration',
  labels: 'labels',
  expiration_policy: 'expirationPolicy',
  dead_letter_policy: 'deadLetterPolicy',
  retry_policy: 'retryPolicy',
  enable_exactly_once_delivery: 'enableExactlyOnceDelivery',
} as const satisfies Record<string, keyof Subscription>;

export const updatedSubscription = (
  current: Subscription,
  changes: Subscription,
  mask: readonly string[] | undefined,
): Subscription => checkedSubscription(applyMask(current, changes, mask, UPDATABLE));

function withDefaults(asked: Subscription): Subscription {
  const { retryPolicy, deadLetterPolicy, pushConfig } = asked;
  return {
    ...asked,
    ackDeadlineSeconds: asked.ackDeadlineSeconds || DEFAULTS.ackDeadlineSeconds,
    messageRetentionDuration: asked.messageRetentionDuration ?? durationOfSeconds(DEFAULTS.retentionSeconds),
    expirationPolicy: asked.expirationPolicy ?? { ttl: durationOfSeconds(DEFAULTS.expirationSeconds) },
    pushConfig: pushConfig ?? { pushEndpoint: '', attributes: {}, authenticationMethod: undefined, wrapper: undefined },
    retryPolicy: retryPolicy && {
      minimumBackoff: retryPolicy.minimumBackoff ?? durationOfSeconds(DEFAULTS.minimumBackoffSeconds),
      maximumBackoff: retryPolicy.maximumBackoff ?? durationOfSeconds(DEFAULTS.maximumBackoffSeconds),
    },
    deadLetterPolicy: deadLetterPolicy && {
      ...deadLetterPolicy,
      maxDeliveryAttempts: deadLetterPolicy.maxDeliveryAttempts || DEFAULTS.deliveryAttempts,
    },
    state: 1,
    detached: false,
  };
}

function refuseUnsupported(asked: Subscription): void {
  const unsupported = {
    bigquery_config: asked.bigqueryConfig,
    cloud_storage_config: asked.cloudStorageConfig,
    bigtable_config: asked.bigtableConfig,
    message_transforms: asked.messageTransforms.length > 0 || undefined,
  };
  for (const [field, value] of Object.entries(unsupported)) {
    if (value !== undefined)
      throw new GrpcError('UNIMPLEMENTED', `subscription ${asked.name}: this local server has no ${field}`);
  }
}

function checkRetryPolicy({ retryPolicy }: Subscription): void {
  if (!retryPolicy) return;
  const minimum = secondsOf(retryPolicy.minimumBackoff);
  const maximum = secondsOf(retryPolicy.maximumBackoff);
  within('retry_policy.minimum_backoff', minimum, 0, 600);
  within('retry_policy.maximum_backoff', maximum, 0, 600);
  if (minimum > maximum) {
    throw refused(`retry_policy: minimum_backoff must not be above maximum_backoff, got ${minimum} s and ${maximum} s`);
  }
}

function checkDeadLetterPolicy({ deadLetterPolicy }: Subscription): void {
  if (!deadLetterPolicy) return;
  parseName('topics', deadLetterPolicy.deadLetterTopic);
  within('dead_letter_policy.max_delivery_attempts', deadLetterPolicy.maxDeliveryAttempts, 5, 100);
}

function checkPush({ pushConfig, enableExactlyOnceDelivery }: Subscription): void {
  const endpoint = pushConfig?.pushEndpoint;
  if (!endpoint) return;
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? '')) {
    throw refused(`push_config.push_endpoint: must be an http or https URL, got "${endpoint}"`);
  }
  if (enableExactlyOnceDelivery) {
    throw refused('enable_exactly_once_delivery: exactly-once delivery is for pull subscriptions only');
  }
}

const secondsOf = (duration: Duration | undefined): number => (duration ? millisOfDuration(duration) / 1000 : 0);

function within(field: string, value: number, minimum: number, maximum: number): void {
  if (value < minimum || value > maximum)
    throw refused(`${field}: must be from ${minimum} to ${maximum}, got ${value}`);
}

const refused = (rule: string): GrpcError => new GrpcError('INVALID_ARGUMENT', `subscription: ${rule}`);
