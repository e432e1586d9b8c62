import * as z from 'zod';
import { qualify } from '../../model/pubsub-name.ts';
import { choice, declare, optional, type Output } from '../option.ts';
import { count, duration, type InMillis, inMillis } from '../quantity.ts';
import type { Rule } from '../rules.ts';
import type { CommonOptions } from './common.ts';
import type { InputOptions } from './input.ts';
import { pubSubName } from './names.ts';
import { replayOf, replayOptions, type ResolvedReplay } from './replay.ts';

/** Policies for bad records: the serializer refused it, or Bigtable refused its row alone. */

/** `entry`: the serialized row entry; `request`: the whole request; `record`: the record as it was published. */
export type DeadLetterPayload = 'entry' | 'request' | 'record';

const PAYLOADS: Readonly<Record<Exclude<DeadLetterPayload, 'record'>, string>> = {
  entry:
    'the serialized row entry, which can be published back as it is, or the record as it was published. A record that has no entry, because the serializer refused it, or whose entry does not fit in a message is carried as it was published.',
  request:
    'the whole request, which can be published back as it is, or the record as it was published. A record that has no request, because the serializer refused it, or whose request does not fit in a message is carried as it was published.',
};

const topic = pubSubName(
  'Topic that dead letters are published to; it must exist, and must not be the topic of the pipeline. Needed by the policy dead-letter.',
  'topics',
);

const publishingOptions = {
  maxOutstandingMessages: count(
    'Dead letters published and not yet confirmed, per instance. At the bound the next one waits.',
    { default: 1_000, min: 1, max: 10_000 },
  ),
  flushTimeout: duration(
    'Longest wait for dead letters to be confirmed before their messages are given back for redelivery. One budget for all of an invocation, and never beyond its deadline.',
    { default: '60s', min: '1ms' },
  ),
  shutdownTimeout: duration(
    'Longest wait for the publisher to close when the instance stops. The messages of unconfirmed letters are redelivered.',
    { default: '30s', min: '1ms' },
  ),
};

const sectionWith = <const Payloads extends readonly [DeadLetterPayload, ...DeadLetterPayload[]]>(
  payloads: Payloads,
  carries: string,
) =>
  z.strictObject({
    topic,
    ...replayOptions,
    payload: choice(`Data of a dead letter: ${carries}`, payloads, payloads[0]),
    ...publishingOptions,
  });

/** Made once each, so that kinds with the same payloads share one section. */
const SECTIONS = {
  entry: sectionWith(['entry', 'record'], PAYLOADS.entry),
  request: sectionWith(['request', 'record'], PAYLOADS.request),
} as const;

const failurePolicy = choice(
  'Policy for a bad record: its message is not acknowledged and is redelivered, or the record is logged and dropped, or it is published to deadLetter.topic. A few messages that are redelivered again and again slow all others of the subscription, because Pub/Sub narrows its push window and pauses the subscription for them. Outages and missing tables never reach a policy.',
  ['fail', 'log-and-drop', 'dead-letter'],
  'fail',
);

const deadLetterOption = <Section extends z.ZodType>(section: Section, neededBy: string) =>
  declare(optional(section), `Where and how dead letters are published. ${neededBy}`, { type: 'section' });

const NEEDED_BY_POLICY = 'Needed by the failurePolicy dead-letter and refused beside any other.';

/** Of a sink whose dead letters hold entries. */
export const failureOptions = { failurePolicy, deadLetter: deadLetterOption(SECTIONS.entry, NEEDED_BY_POLICY) };

/** Of a sink whose dead letters hold requests. */
export const requestFailureOptions = {
  failurePolicy,
  deadLetter: deadLetterOption(SECTIONS.request, NEEDED_BY_POLICY),
};

/** Of a sink that also learns, after the acknowledgement, that Bigtable refuses a row. */
export const stagedFailureOptions = {
  failurePolicy,
  onRejected: choice(
    'Policy for an envelope that Bigtable refuses, or that is older than markerHorizon allows: it is set apart and tried again, so that somebody can fix the table, or it is published to deadLetter.topic and counts as done. All other envelopes go on either way.',
    ['fail', 'dead-letter'],
    'fail',
  ),
  deadLetter: deadLetterOption(
    SECTIONS.entry,
    'Needed by the failurePolicy dead-letter and by onRejected dead-letter, and refused without either.',
  ),
};

/** What defaults may say for pipelines of several kinds: each takes what it has a use for. */
export const sharedDeadLetter = deadLetterOption(
  sectionWith(['entry', 'request', 'record'], 'an entry, a request, or the record as it was published.'),
  'Inherited by pipelines that publish dead letters.',
);

/** The policy for bad records. */
export type ResolvedFailure<Payload extends DeadLetterPayload = 'entry' | 'record'> =
  | { readonly policy: 'fail' }
  | { readonly policy: 'log-and-drop' }
  | { readonly policy: 'dead-letter'; readonly deadLetter: ResolvedDeadLetter<Payload> };

export interface ResolvedDeadLetter<Payload extends DeadLetterPayload = 'entry' | 'record'>
  extends InMillis<PublishingOptions>, ResolvedReplay {
  /** `projects/p/topics/t`; the bare topic id where no project is configured. */
  readonly topic: string;
  readonly payload: Payload;
}

type PublishingOptions = Output<typeof publishingOptions>;
type WrittenDeadLetter<Payload> = PublishingOptions &
  Output<typeof replayOptions> & { readonly topic: string; readonly payload: Payload };

interface WrittenFailure<Policy, Payload> {
  readonly policy: Policy;
  readonly deadLetter?: WrittenDeadLetter<Payload> | undefined;
  /** Of topics that are named by their bare id. */
  readonly project?: string | undefined;
}

export function failureOf<Policy extends 'fail' | 'log-and-drop' | 'dead-letter', Payload extends DeadLetterPayload>(
  name: string,
  { policy, deadLetter, project }: WrittenFailure<Policy, Payload>,
): Extract<ResolvedFailure<Payload>, { readonly policy: Policy }> {
  type Failure = Extract<ResolvedFailure<Payload>, { readonly policy: Policy }>;
  if (policy !== 'dead-letter') return { policy } as Failure;
  if (!deadLetter) throw new TypeError('the rules let a dead-letter policy pass without its section');
  return { policy, deadLetter: deadLetterOf(name, deadLetter, project) } as Failure;
}

const deadLetterOf = <Payload extends DeadLetterPayload>(
  name: string,
  { topic, replayTopic, acceptLettersOf, payload, ...publishing }: WrittenDeadLetter<Payload>,
  project: string | undefined,
): ResolvedDeadLetter<Payload> => ({
  topic: qualify(topic, 'topics', project),
  ...replayOf(name, { topic, replayTopic, acceptLettersOf }, project),
  payload,
  ...inMillis(publishingOptions, publishing),
});

export interface FailureOptions extends Pick<CommonOptions, 'project'>, Pick<InputOptions, 'topic'> {
  readonly failurePolicy: ResolvedFailure['policy'];
  readonly deadLetter?: WrittenDeadLetter<DeadLetterPayload> | undefined;
}

export const deadLettersDoNotComeBack: Rule<FailureOptions> = ({ options: { topic, deadLetter, project } }) => {
  if (topic === undefined || deadLetter?.topic === undefined) return [];
  if (qualify(topic, 'topics', project) !== qualify(deadLetter.topic, 'topics', project)) return [];
  const rule = 'must not be the topic of the pipeline: its dead letters would come back';
  return [{ at: ['deadLetter', 'topic'], rule, got: deadLetter.topic }];
};

/** Of sinks whose dead letters come from one policy alone. */
export const deadLetterHasItsPolicy: Rule<FailureOptions> = ({ options: { failurePolicy }, isSet }) => {
  if (failurePolicy === undefined || (failurePolicy === 'dead-letter') === isSet('deadLetter')) return [];
  return isSet('deadLetter')
    ? [{ at: ['failurePolicy'], rule: 'must be "dead-letter" where deadLetter is set', got: failurePolicy }]
    : [{ at: ['deadLetter'], rule: 'is required by the failurePolicy dead-letter' }];
};

/** Of a sink with a second policy, for what Bigtable refuses once the message is acknowledged. */
export const deadLetterHasOneOfItsPolicies: Rule<FailureOptions & Output<typeof stagedFailureOptions>> = ({
  options: { failurePolicy, onRejected },
  isSet,
}) => {
  if (failurePolicy === undefined || onRejected === undefined) return [];
  const needed = [
    ...(failurePolicy === 'dead-letter' ? ['the failurePolicy dead-letter'] : []),
    ...(onRejected === 'dead-letter' ? ['onRejected dead-letter'] : []),
  ];
  if (isSet('deadLetter') === needed.length > 0) return [];
  return isSet('deadLetter')
    ? [{ at: ['deadLetter'], rule: 'must not be set unless failurePolicy or onRejected is "dead-letter"' }]
    : [{ at: ['deadLetter'], rule: `is required by ${needed.join(' and ')}` }];
};
