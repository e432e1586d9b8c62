import type { Clock } from '../../shared/base/clock.ts';
import type { Logger } from '../../shared/base/logging.ts';
import type { Metrics } from '../../shared/base/metrics.ts';
import type { DeadLetterPayload, ResolvedFailure } from '../../shared/config/resolved.ts';
import { deadLetterPolicy, failPolicy, type FailurePolicy, logAndDropPolicy } from '../../shared/letters/policy.ts';
import { createDeadLetterTopic } from '../../shared/google/pubsub/dead-letter-topic.ts';

/** What a policy works with. */
export interface PolicySurroundings {
  /** Of the pipeline, for its letters. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** The policy that the configuration names. Its topic is connected to at the first letter. */
export function failurePolicyOf(
  failure: ResolvedFailure<DeadLetterPayload>,
  { name, clock, logger, metrics }: PolicySurroundings,
): FailurePolicy {
  switch (failure.policy) {
    case 'fail':
      return failPolicy();
    case 'log-and-drop':
      return logAndDropPolicy(logger, metrics);
    case 'dead-letter': {
      const topic = createDeadLetterTopic(failure.deadLetter, clock);
      return deadLetterPolicy(topic, { pipeline: name, ...failure.deadLetter }, { clock, metrics });
    }
    default:
      return failure satisfies never;
  }
}
