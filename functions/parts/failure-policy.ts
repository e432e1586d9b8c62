import type { Runtime } from '../../shared/base/runtime.ts';
import type { DeadLetterPayload, ResolvedFailure } from '../../shared/config/resolved.ts';
import { deadLetterPolicy, failPolicy, type FailurePolicy, logAndDropPolicy } from '../../shared/letters/policy.ts';
import { createPublisher } from '../../shared/google/pubsub/publisher.ts';

/** What a policy works with. */
export interface PolicySurroundings {
  /** Of the pipeline, for its letters. */
  readonly name: string;
  readonly runtime: Runtime;
}

/** The policy that the configuration names. Its topic is connected to at the first letter. */
export function failurePolicyOf(
  failure: ResolvedFailure<DeadLetterPayload>,
  { name, runtime }: PolicySurroundings,
): FailurePolicy {
  switch (failure.policy) {
    case 'fail':
      return failPolicy();
    case 'log-and-drop':
      return logAndDropPolicy(runtime);
    case 'dead-letter': {
      const topic = createPublisher(failure.deadLetter, runtime.clock);
      return deadLetterPolicy(topic, { pipeline: name, ...failure.deadLetter }, runtime);
    }
    default:
      return failure satisfies never;
  }
}
