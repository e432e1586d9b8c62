import { projectOf, qualify } from '../../../shared/config/addresses.ts';
import type { ResolvedPipeline } from '../../../shared/config/resolved.ts';
import { fullName } from '../configuration.ts';
import { CommandError } from '../errors.ts';
import type { CliContext } from '../ports.ts';
import { parseWhere, type LetterFilter } from './letters.ts';

export interface ReplayOptions {
  readonly config?: string;
  readonly subscription?: string;
  readonly apply?: true;
  readonly to?: string;
  readonly where?: readonly string[];
  readonly max: number;
  readonly rate?: number;
  /** Seconds. */
  readonly idle: number;
}

export interface ReplayPlan {
  readonly subscription: string;
  /** Undefined: show only. */
  readonly target: string | undefined;
  readonly filter: LetterFilter;
  readonly max: number;
  readonly idleMillis: number;
  readonly perSecond: number | undefined;
}

/**
 * What a replay does, from its options and the pipeline. Every sink of this connector reads a letter as it is.
 *
 * @throws {CommandError} where the options cannot go together or the pipeline has no dead letters.
 */
export function planReplay(
  context: CliContext,
  name: string,
  { failure }: ResolvedPipeline,
  options: ReplayOptions,
): ReplayPlan {
  if (failure.policy !== 'dead-letter') {
    throw new CommandError(`the pipeline ${name} makes no dead letters: its failurePolicy is ${failure.policy}`);
  }
  if (options.apply && options.to === undefined) throw new CommandError('--apply: needs --to, the topic to publish to');
  if (!options.apply && options.to !== undefined) {
    throw new CommandError('--to: needs --apply; without it nothing is published');
  }
  const deadLetterTopic = fullName(context, failure.deadLetter.topic, 'topics');
  const project = projectOf(deadLetterTopic);
  const target = options.to === undefined ? undefined : qualify(options.to, 'topics', project);
  if (target === deadLetterTopic) {
    throw new CommandError(`--to ${target}: is the dead-letter topic itself; letters would come back at once`);
  }
  const reader = `${deadLetterTopic.replace('/topics/', '/subscriptions/')}-reader`;
  const { subscription } = options;
  return {
    subscription: subscription === undefined ? reader : qualify(subscription, 'subscriptions', project),
    target,
    filter: {
      pipeline: name,
      where: parseWhere(options.where ?? []),
      filedBefore: new Date(context.clock.now()).toISOString(),
    },
    max: options.max,
    idleMillis: options.idle * 1_000,
    perSecond: options.rate,
  };
}
