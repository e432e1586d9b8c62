import type { PipelineKind, ResolvedConfig, ResolvedFraming } from '../../../shared/config/resolved.ts';
import type { TableName } from '../../../shared/model/table-name.ts';
import type { PipelineSubscription } from '../cloud/pubsub-resources.ts';

/** What one pipeline needs around it, as a deployment to Google Cloud would give it. */
export interface PipelineDeployment {
  readonly name: string;
  /** The entry point that serves it. */
  readonly target: string;
  readonly framing: ResolvedFraming;
  /** The subscription that is pushed to its function; the endpoint is known when the function runs. */
  readonly source: PipelineSubscription;
  /** The topic of its committer's work and the subscription that is pushed to it. Present if the pipeline stages. */
  readonly work?: PipelineSubscription;
  /** Where dead letters are read; absent where the failure policy makes none. */
  readonly deadLetters?: PipelineSubscription;
  /** Where the results of requests are read. Present if the pipeline publishes them. */
  readonly results?: PipelineSubscription;
  /** The table of records that name none. */
  readonly table?: TableName;
  /** The instance that bare table ids belong to. */
  readonly home?: Pick<TableName, 'project' | 'instance'>;
}

const TARGETS: Readonly<Record<PipelineKind, string>> = {
  'bulk-sink': 'bulkSink',
  'staged-sink': 'stagedSink',
  'request-sink': 'requestSink',
};

const READER_ACK_DEADLINE_SECONDS = 60;

/**
 * Reads from a configuration what has to be there before its functions run. Pure.
 *
 * @param project completes names of topics and subscriptions that the configuration leaves bare.
 */
export function planDeployment(config: ResolvedConfig, project: string): PipelineDeployment[] {
  const full = (name: string, collection: 'topics' | 'subscriptions'): string =>
    name.includes('/') ? name : `projects/${project}/${collection}/${name}`;
  return Object.entries(config.pipelines).map(([name, pipeline]) => {
    const { input, destination } = pipeline;
    const letters = [pipeline.failure, ...(pipeline.kind === 'staged-sink' ? [pipeline.onRejected] : [])];
    const failure = letters.find(({ policy }) => policy === 'dead-letter') ?? pipeline.failure;
    return {
      name,
      target: TARGETS[pipeline.kind],
      framing: input.framing,
      source: {
        topic: full(input.topic, 'topics'),
        subscription: full(input.subscription, 'subscriptions'),
        isOrdered: input.ordering === 'row',
        ackDeadlineSeconds: input.ackDeadlineMillis / 1000,
      },
      ...(pipeline.kind === 'staged-sink' &&
        pipeline.commit.when === 'on-checkpoint' && {
          work: {
            topic: full(pipeline.commit.commitTopic, 'topics'),
            subscription: full(pipeline.commit.commitSubscription, 'subscriptions'),
            isOrdered: false,
            ackDeadlineSeconds: input.ackDeadlineMillis / 1000,
          },
        }),
      ...(failure.policy === 'dead-letter' && {
        deadLetters: readerOf(full(failure.deadLetter.topic, 'topics')),
      }),
      ...(pipeline.kind === 'request-sink' &&
        pipeline.resultsTopic !== undefined && { results: readerOf(full(pipeline.resultsTopic, 'topics')) }),
      ...(destination.table && { table: destination.table }),
      ...(destination.home && { home: destination.home }),
    };
  });
}

/** `<topic id>-reader`, in the project of the topic: pulled by people and tools, pushed nowhere. */
function readerOf(topic: string): PipelineSubscription {
  return {
    topic,
    subscription: `${topic.replace('/topics/', '/subscriptions/')}-reader`,
    isOrdered: false,
    ackDeadlineSeconds: READER_ACK_DEADLINE_SECONDS,
    isGivenBackAtOnce: true,
  };
}
