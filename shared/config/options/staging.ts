import { projectOf, qualify } from '../../model/pubsub-name.ts';
import { choice, notBlank, optional, type Output, text, withDefault } from '../option.ts';
import { count, duration, type InMillis, inMillis, requiredDuration, size } from '../quantity.ts';
import type { Rule } from '../rules.ts';
import type { CommonOptions } from './common.ts';
import { type InputOptions, MAX_RESOURCE_ID, subscriptionId } from './input.ts';
import { attributeName, markerFamily, pubSubName } from './names.ts';
import { replayTopicOf } from './replay.ts';

/** How a write is owned: by what it is told apart, where its marker is kept, and when it is made. */

export const identityOptions = {
  markerFamily: markerFamily(
    'Family that holds one marker for each record applied to a row. It exists, holds bytes, is written by nobody else, and has no GC rule unless markerHorizon allows one.',
  ),
  markerHorizon: optional(
    requiredDuration(
      'Age, counted from the publish, up to which a record may be applied. With it the marker family may have a maxAge rule of at least this; an older record follows onRejected. Without it markers are kept forever.',
      { example: '30d', min: '8d' },
    ),
  ),
  idAttribute: optional(
    attributeName(
      'Message attribute that identifies a message forever, set by the publisher, so that a message published twice counts once. It counts once in each row: the same id on two rows is two effects, because the marker is kept in the row. A message without it is identified by the id that Pub/Sub gave it.',
    ),
  ),
  maxCoalescedEnvelopes: count(
    'Most records of one row that are sent to Bigtable in one request. While requests take a quarter of requestTimeout or longer it is halved by itself. Lower it where rows hold so many markers that requests of many records run into their timeout.',
    { default: 600, min: 1, max: 600 },
  ),
  commit: choice(
    'When rows are written: once a checkpoint owns what was staged in Firestore, or by the invocation that receives the record, in one round trip and without Firestore.',
    ['on-checkpoint', 'on-receipt'],
    'on-checkpoint',
  ),
};

/** Where staged work is kept; many pipelines may share it. */
export const firestoreOptions = {
  firestoreDatabase: withDefault(
    text(
      'Firestore database (native mode) of the state of the pipeline: staged work, or runs, splits and slots. Not with commit on-receipt.',
      notBlank,
      'not blank',
    ),
    '(default)',
  ),
};

/** When checkpoints are made, and how much may wait for one. Of commit on-checkpoint alone. */
export const checkpointOptions = {
  checkpointInterval: duration(
    'Time between checkpoints. A row is visible at most about this long after its record was staged. Not with commit on-receipt.',
    { default: '10s', min: '1s' },
  ),
  confirmChange: optional(
    text(
      'Code that the functions print when identities would hang on other values than the pipeline was drained with (markerFamily, idAttribute with framing, or the subscription), or when appProfileId routes to another cluster than the one that the markers are in; with it the new values hold. Set it only once the pipeline is drained. Not with commit on-receipt.',
      (value) =>
        /^[0-9a-f]{12}$/.test(value) ? undefined : 'must be the code of 12 hexadecimal digits that the functions print',
      '12 hexadecimal digits',
    ),
  ),
  stageLinger: optional(
    requiredDuration(
      'Longest time that a message waits for others to be stored with; without it a hundredth of checkpointInterval, at most 100 ms. Longer would cost more than it saves: an open push is paid for, and slow answers keep the push window small. Not with commit on-receipt.',
      { example: '100ms', min: '0ms', max: '100ms' },
    ),
  ),
  stageWaitingMessages: count(
    'Messages that wait to be stored at which they leave at once; half of the concurrency of stagedSink, which no instance is told. Not with commit on-receipt.',
    { default: 40, min: 1, max: 1000 },
  ),
  maxStagedEntries: count(
    'Entries staged or being committed at which further records are turned away until some are committed; Pub/Sub keeps them. As many again may be set apart. Not with commit on-receipt.',
    { default: 100_000, min: 1 },
  ),
  maxStagedBytes: size(
    'Size of the requests staged or being committed, and 256 B for each, at which further records are turned away. Not with commit on-receipt.',
    { default: '64MiB', min: 1 },
  ),
};

/** Where its work is handed on. */
export const commitOptions = {
  commitTopic: optional(
    pubSubName(
      'Internal topic on which work is handed to commitStaged; without it the topic id, a hyphen, the name of the pipeline and "-commit". Nobody else publishes to it. Not with commit on-receipt.',
      'topics',
    ),
  ),
  commitSubscription: optional(
    pubSubName(
      'Push subscription of commitTopic; without it the topic id, a hyphen, the name of the pipeline and "-commit". Not with commit on-receipt.',
      'subscriptions',
    ),
  ),
};

/** Options that mean nothing where nothing is staged. */
const stagingNames = Object.keys({
  ...checkpointOptions,
  ...commitOptions,
  ...firestoreOptions,
}) as readonly (keyof (typeof checkpointOptions & typeof commitOptions & typeof firestoreOptions))[];

type StagingOptions = Output<
  typeof identityOptions & typeof firestoreOptions & typeof checkpointOptions & typeof commitOptions
> &
  Pick<CommonOptions, 'project'> &
  Pick<InputOptions, 'topic' | 'ordering'>;

export interface ResolvedMarker {
  readonly family: string;
  /** Age up to which an envelope may be applied; garbage collection may take older markers. Absent: markers stay forever. */
  readonly horizonMillis?: number;
}

export const markerOf = ({ markerFamily: family, markerHorizon }: StagingOptions): ResolvedMarker => ({
  family,
  ...(markerHorizon !== undefined && { horizonMillis: markerHorizon }),
});

/** When an envelope is written: by the invocation that receives it, or once a checkpoint owns it. */
export type ResolvedCommit = { readonly when: 'on-receipt' } | ({ readonly when: 'on-checkpoint' } & ResolvedStaging);

export interface ResolvedStaging extends InMillis<Output<typeof checkpointOptions>> {
  /** `projects/p/topics/t`; the bare topic id where no project is configured. */
  readonly commitTopic: string;
  /** `projects/p/subscriptions/s`; the bare subscription id where no project is configured. */
  readonly commitSubscription: string;
  readonly firestore: ResolvedFirestore;
}

export interface ResolvedFirestore {
  /** Absent: the project that the function runs in. */
  readonly project?: string;
  readonly database: string;
}

export function commitOf(name: string, options: StagingOptions): ResolvedCommit {
  if (options.commit === 'on-receipt') return { when: 'on-receipt' };
  const { project, topic } = options;
  const home = project ?? projectOf(topic);
  const id = commitId(name, topic);
  return {
    when: 'on-checkpoint',
    ...inMillis(checkpointOptions, options),
    commitTopic: qualify(options.commitTopic ?? id, 'topics', home),
    commitSubscription: qualify(options.commitSubscription ?? id, 'subscriptions', home),
    firestore: { ...(project !== undefined && { project }), database: options.firestoreDatabase },
  };
}

/** The topic of work, and its subscription, of a pipeline that names none. */
const commitId = (name: string, topic: string): string => `${subscriptionId(name, topic)}-commit`;

interface LettersOfStaging {
  readonly deadLetter?: { readonly topic: string; readonly replayTopic?: string | undefined } | undefined;
}

export const stagingRules: readonly Rule<StagingOptions & LettersOfStaging>[] = [
  function onReceiptStagesNothing({ options, isSet }) {
    if (options.commit !== 'on-receipt') return [];
    const rule = 'does not apply to the commit on-receipt, which stages nothing';
    return stagingNames.filter(isSet).map((name) => ({ at: [name], rule }));
  },
  function checkpointsKeepNoOrder({ options: { commit, ordering } }) {
    if (commit !== 'on-checkpoint' || ordering !== 'row') return [];
    const rule =
      'must be "none" with the commit on-checkpoint: what is staged is written in parallel, in no order of messages. The commit on-receipt keeps it';
    return [{ at: ['ordering'], rule, got: ordering }];
  },
  function workIsAlone({ name, options: { commit, commitTopic, topic, deadLetter, project } }) {
    if (commit !== 'on-checkpoint' || commitTopic === undefined) return [];
    const work = qualify(commitTopic, 'topics', project);
    const replays =
      deadLetter?.topic === undefined
        ? undefined
        : replayTopicOf(name, { ...deadLetter, topic: deadLetter.topic }, project);
    const others = [topic, deadLetter?.topic, replays].filter((other) => other !== undefined);
    if (!others.some((other) => qualify(other, 'topics', project) === work)) return [];
    const rule = 'must be a topic of its own: neither that of the pipeline nor one of dead letters';
    return [{ at: ['commitTopic'], rule, got: commitTopic }];
  },
  function defaultCommitNamesAreShortEnough({ name, options: { commit, topic }, isSet }) {
    if (commit !== 'on-checkpoint' || topic === undefined) return [];
    if (commitId(name, topic).length <= MAX_RESOURCE_ID) return [];
    const rule = `is required because the default, topic id, pipeline name and "-commit", is longer than ${MAX_RESOURCE_ID} characters`;
    return (['commitTopic', 'commitSubscription'] as const)
      .filter((option) => !isSet(option))
      .map((option) => ({ at: [option], rule }));
  },
];
