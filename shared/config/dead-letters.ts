import type { ConfigProblem } from '../base/errors.ts';
import { problem } from './problems.ts';
import {
  type DeadLetterPayload,
  isSink,
  type ResolvedDeadLetter,
  type ResolvedFailure,
  type ResolvedPipeline,
} from './resolved.ts';

/** The path by which a function takes dead letters back, pushed from the topic that they come back by. */
export const LETTERS_PATH = '/letters';

/**
 * Where the dead letters of a sink go and come back by; undefined where none of its policies makes any. Letters of a
 * source never come back: nobody published what they tell of. Pure.
 */
export function deadLettersOf(pipeline: ResolvedPipeline): ResolvedDeadLetter<DeadLetterPayload> | undefined {
  if (!isSink(pipeline)) return undefined;
  const policies: ResolvedFailure<DeadLetterPayload>[] = [
    pipeline.failure,
    ...(pipeline.kind === 'staged-sink' ? [pipeline.onRejected] : []),
  ];
  return policies.flatMap((failure) => (failure.policy === 'dead-letter' ? [failure.deadLetter] : []))[0];
}

/** A letter comes back to every subscription of its topic, and each pipeline but its own would refuse it. */
export function sharedReplayTopics(pipelines: Readonly<Record<string, ResolvedPipeline>>): ConfigProblem[] {
  const owners = new Map<string, string>();
  return Object.entries(pipelines).flatMap(([name, pipeline]) => {
    const topic = deadLettersOf(pipeline)?.replayTopic;
    if (topic === undefined) return [];
    const owner = owners.get(topic);
    if (owner === undefined) {
      owners.set(topic, name);
      return [];
    }
    const rule = `must be a topic of its own, and the letters of the pipeline ${owner} come back by it`;
    return [problem(['pipelines', name, 'deadLetter', 'replayTopic'], rule, topic)];
  });
}
