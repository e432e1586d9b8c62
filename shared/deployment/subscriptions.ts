import { qualify } from '../model/pubsub-name.ts';
import { deadLettersOf, LETTERS_PATH } from '../config/dead-letters.ts';
import { isSink, type ResolvedPipeline, type SourcePipeline } from '../config/resolved.ts';

/** What a pipeline needs of Pub/Sub. Pure. */

/**
 * A topic and its subscription. None has Pub/Sub's own dead-letter policy: that counts attempts, so an outage would
 * move good messages. None expires.
 */
export interface PlannedSubscription {
  /** `projects/p/subscriptions/s` */
  readonly name: string;
  /** `projects/p/topics/t` */
  readonly topic: string;
  readonly purpose: Purpose;
  /** The pipelines that it is for: one, but for readers of a topic that several publish to. */
  readonly pipelines: readonly string[];
  /** Absent: it is pulled, by people and tools. */
  readonly push?: PlannedPush;
  /** Messages of one ordering key one after another. */
  readonly isOrdered: boolean;
  readonly ackDeadlineSeconds: number;
  readonly retentionSeconds: number;
  /** How long a refused message waits. Absent: it is delivered again at once. */
  readonly backoff?: { readonly minSeconds: number; readonly maxSeconds: number };
}

/**
 * `records`: the input of a pipeline; `letters`: its dead letters that come back; `work`: from the coordinator to the
 * committer; `dead-letters`, `results` and `output` of a source: where that is read.
 */
export type Purpose = 'records' | 'letters' | 'work' | PulledPurpose;

/** Purposes of what people and tools pull. */
export type PulledPurpose = 'dead-letters' | 'results' | 'output';

/** Purposes of what is pushed to a function. */
export type PushedPurpose = Exclude<Purpose, PulledPurpose>;

/** Of the function's address, for each purpose. Letters come by a path of their own, so that nothing else is taken for one. */
const PATHS: Readonly<Record<PushedPurpose, string>> = { records: '/', letters: LETTERS_PATH, work: '/' };

export interface PlannedPush {
  /** A function of the plan, by its name. */
  readonly function: string;
  /** Of its address; `/` is its root. */
  readonly path: string;
}

const DAY_SECONDS = 86_400;
const READER_ACK_DEADLINE_SECONDS = 60;

const RETENTION_SECONDS = 7 * DAY_SECONDS;
/** Of what is pushed: an endpoint that refuses is not asked again at once. */
const BACKOFF = { minSeconds: 10, maxSeconds: 600 } as const;

/**
 * What to make for one pipeline, in this order: outputs before inputs, so that nothing is published to a topic that is
 * not there.
 *
 * @param functionOf the function that takes what is pushed of this kind, by its name.
 * @param project completes names that the configuration leaves bare.
 */
export function subscriptionsOf(
  name: string,
  pipeline: ResolvedPipeline,
  functionOf: (purpose: PushedPurpose) => string,
  project: string,
): PlannedSubscription[] {
  const pulled = (purpose: PulledPurpose, written: string): PlannedSubscription => ({
    ...readerOf(qualify(written, 'topics', project)),
    purpose,
    pipelines: [name],
  });
  if (!isSink(pipeline)) return subscriptionsOfSource(pipeline, pulled);
  const { topic, subscription, ordering, ackDeadlineMillis } = pipeline.input;
  const pushed = (
    purpose: PushedPurpose,
    from: Pick<PlannedSubscription, 'topic' | 'name' | 'isOrdered'>,
  ): PlannedSubscription => ({
    name: qualify(from.name, 'subscriptions', project),
    topic: qualify(from.topic, 'topics', project),
    purpose,
    pipelines: [name],
    push: { function: functionOf(purpose), path: PATHS[purpose] },
    isOrdered: from.isOrdered,
    ackDeadlineSeconds: ackDeadlineMillis / 1000,
    retentionSeconds: RETENTION_SECONDS,
    backoff: BACKOFF,
  });
  const staging =
    pipeline.kind === 'staged-sink' && pipeline.commit.when === 'on-checkpoint' ? pipeline.commit : undefined;
  const letters = deadLettersOf(pipeline);
  const results = pipeline.kind === 'request-sink' ? pipeline.resultsTopic : undefined;
  return [
    ...(letters ? [pulled('dead-letters', letters.topic)] : []),
    ...(results === undefined ? [] : [pulled('results', results)]),
    ...(staging
      ? [pushed('work', { topic: staging.commitTopic, name: staging.commitSubscription, isOrdered: false })]
      : []),
    pushed('records', { topic, name: subscription, isOrdered: ordering === 'row' }),
    ...(letters
      ? [pushed('letters', { topic: letters.replayTopic, name: letters.replaySubscription, isOrdered: false })]
      : []),
  ];
}

/** Where the output of a source is read, and its letters. Of an ordered output the reader is ordered. */
function subscriptionsOfSource(
  { emission: { topic, deadLetterTopic, orderingKeys } }: SourcePipeline,
  pulled: (purpose: PulledPurpose, written: string) => PlannedSubscription,
): PlannedSubscription[] {
  return [
    ...(deadLetterTopic === undefined ? [] : [pulled('dead-letters', deadLetterTopic)]),
    ...(topic === undefined ? [] : [{ ...pulled('output', topic), isOrdered: orderingKeys !== 'none' }]),
  ];
}

/** `<topic id>-reader`, in the project of the topic: pulled by people and tools, who do not wait for a backoff. */
const readerOf = (topic: string): Omit<PlannedSubscription, 'purpose' | 'pipelines'> => ({
  name: `${topic.replace('/topics/', '/subscriptions/')}-reader`,
  topic,
  isOrdered: false,
  ackDeadlineSeconds: READER_ACK_DEADLINE_SECONDS,
  retentionSeconds: RETENTION_SECONDS,
});
