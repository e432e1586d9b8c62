import { bareId, projectOf, qualify } from '../../model/pubsub-name.ts';
import { choice, optional, type Output } from '../option.ts';
import { duration, foundSize, type InMillis, inMillis } from '../quantity.ts';
import type { Rule } from '../rules.ts';
import { formatDuration } from '../units.ts';
import type { CommonOptions } from './common.ts';
import { pubSubName } from './names.ts';

/** Where the records of a sink come from, and how its messages are taken. */

export const subscriptionOptions = {
  topic: pubSubName('Topic that records are published to.', 'topics'),
  subscription: optional(
    pubSubName(
      'Push subscription that delivers the records; without it the topic id, a hyphen and the name of the pipeline. It must have no dead-letter policy of its own.',
      'subscriptions',
    ),
  ),
};

export const deliveryOptions = {
  ordering: choice(
    'Whether the subscription is ordered: with "row" the publisher sets the ordering key to the row, and messages of one key are written one after another. Ordering costs throughput per key.',
    ['none', 'row'],
    'none',
  ),
  framing: choice(
    'How the records of one message are told apart: the whole message, one per line, or the elements of a JSON array. A message is acknowledged only when all of its records are settled. One of more than 100,000 records is itself one bad record.',
    ['single', 'ndjson', 'json-array'],
    'single',
  ),
  ackDeadline: duration(
    'How long Pub/Sub waits for the answer to a message before it delivers it again. An invocation ends deadlineMargin before it.',
    { default: '600s', min: '10s', max: '600s', step: '1s' },
  ),
  deadlineMargin: duration(
    'Taken off an invocation so that its answer is sent before Pub/Sub gives up on it. Must be below ackDeadline.',
    { default: '5s', min: '0ms' },
  ),
  maxPushedBytes: foundSize(
    'Bytes of request bodies that an instance holds, from before they are read until their messages are processed. A body that finds no room is answered 429 unread and delivered again; one that is alone always gets in. A message takes up to six times its body while it is worked on.',
    { example: '32MiB', found: 'memory / 16', min: 1 },
  ),
};

export type InputOptions = Output<typeof subscriptionOptions & typeof deliveryOptions> & Pick<CommonOptions, 'project'>;

export interface ResolvedInput extends InMillis<Output<typeof deliveryOptions>> {
  /** `projects/p/topics/t`; the bare topic id where no project is configured. */
  readonly topic: string;
  /** `projects/p/subscriptions/s`; the bare subscription id where no project is configured. */
  readonly subscription: string;
}

/** How the records of one message are told apart. */
export type ResolvedFraming = ResolvedInput['framing'];

export const inputOf = (name: string, options: InputOptions): ResolvedInput => ({
  topic: qualify(options.topic, 'topics', options.project),
  subscription: qualify(
    options.subscription ?? subscriptionId(name, options.topic),
    'subscriptions',
    options.project ?? projectOf(options.topic),
  ),
  ...inMillis(deliveryOptions, options),
});

/** The subscription of a pipeline that names none. */
export const subscriptionId = (name: string, topic: string): string => `${bareId(topic)}-${name}`;

/** Longest id of a topic or a subscription. */
export const MAX_RESOURCE_ID = 255;

export const inputRules: readonly Rule<InputOptions>[] = [
  function defaultSubscriptionIsShortEnough({ name, options: { topic }, isSet }) {
    if (topic === undefined || isSet('subscription')) return [];
    if (subscriptionId(name, topic).length <= MAX_RESOURCE_ID) return [];
    const rule = `is required because the default, topic id and pipeline name, is longer than ${MAX_RESOURCE_ID} characters`;
    return [{ at: ['subscription'], rule }];
  },
  function marginLeavesTime({ options: { deadlineMargin: margin, ackDeadline } }) {
    if (margin === undefined || ackDeadline === undefined || margin < ackDeadline) return [];
    const rule = `must be below ackDeadline (${formatDuration(ackDeadline)})`;
    return [{ at: ['deadlineMargin'], rule, got: formatDuration(margin) }];
  },
];
