import { projectOf, qualify } from '../../../shared/model/pubsub-name.ts';
import { deadLettersOf } from '../../../shared/config/dead-letters.ts';
import type { ResolvedDeadLetter, SinkPipeline } from '../../../shared/config/resolved.ts';
import { fullName } from '../configuration.ts';
import { CommandError, UsageError } from '../errors.ts';
import type { CliContext } from '../ports.ts';
import { LEASE_SECONDS } from './ending.ts';
import { parseWhere, type LetterFilter } from './letters.ts';

/** The subscription counts as empty when nothing came for this long. */
export const IDLE_SECONDS = 5;

export interface ReplayOptions {
  readonly config?: string;
  readonly subscription?: string;
  readonly apply?: true;
  readonly to?: string;
  readonly where?: readonly string[];
  readonly max: number;
  readonly rate?: number;
  /** Seconds. */
  readonly idle?: number;
}

export interface ReplayPlan {
  readonly subscription: string;
  /** Undefined: show only. */
  readonly target: string | undefined;
  readonly filter: LetterFilter;
  readonly known: readonly string[];
  readonly max: number;
  readonly idleMillis: number;
  readonly firstIdleMillis: number;
  readonly perSecond: number | undefined;
}

/**
 * What a replay does, from its options and the pipeline. Letters go to the topic by which they come back to the sink,
 * which takes them as they are.
 *
 * @param known the pipelines of the configuration.
 * @throws {UsageError} where the options cannot go together.
 * @throws {CommandError} where the pipeline has no dead letters.
 */
export function planReplay(
  context: CliContext,
  name: string,
  pipeline: SinkPipeline,
  known: readonly string[],
  options: ReplayOptions,
): ReplayPlan {
  const letters = deadLettersOf(pipeline);
  if (!letters) {
    throw new CommandError(
      `the pipeline ${name} makes no dead letters: its failurePolicy is ${pipeline.failure.policy}`,
    );
  }
  const topic = fullName(context, letters.topic, 'topics');
  const project = projectOf(topic);
  const { subscription } = options;
  return {
    subscription:
      subscription === undefined
        ? `${topic.replace('/topics/', '/subscriptions/')}-reader`
        : qualify(subscription, 'subscriptions', project),
    target: targetOf(context, pipeline, letters, options),
    filter: {
      pipelines: [name, ...letters.acceptLettersOf],
      where: parseWhere(options.where ?? []),
      filedBefore: new Date(context.clock.now()).toISOString(),
    },
    known,
    max: options.max,
    idleMillis: (options.idle ?? IDLE_SECONDS) * 1_000,
    firstIdleMillis: (options.idle ?? LEASE_SECONDS) * 1_000,
    perSecond: options.rate,
  };
}

/** Where letters are published to; undefined where they are only shown. */
function targetOf(
  context: CliContext,
  { input }: SinkPipeline,
  letters: Pick<ResolvedDeadLetter, 'topic' | 'replayTopic'>,
  { apply, to }: ReplayOptions,
): string | undefined {
  if (!apply) {
    if (to !== undefined) throw new UsageError('--to: needs --apply; without it nothing is published');
    return undefined;
  }
  const deadLetterTopic = fullName(context, letters.topic, 'topics');
  if (to === undefined) return fullName(context, letters.replayTopic, 'topics');
  const target = qualify(to, 'topics', projectOf(deadLetterTopic));
  if (target === deadLetterTopic) {
    throw new UsageError(`--to ${target}: is the dead-letter topic itself; letters would come back at once`);
  }
  if (target === fullName(context, input.topic, 'topics')) {
    throw new UsageError(
      `--to ${target}: is the topic of the pipeline, where a letter is a record like others; without --to letters go to the topic for replays`,
    );
  }
  return target;
}
