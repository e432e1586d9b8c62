import type { DeadLetterPayload, ResolvedFailure, ResolvedStagedSink } from '../../shared/config/resolved.ts';
import { createPublisher } from '../../shared/google/pubsub/publisher.ts';
import { deadLetterPolicy, failPolicy, type FailurePolicy, logAndDropPolicy } from '../../shared/letters/policy.ts';
import type { Instance } from './instance.ts';

/** The policy that the configuration names. Its topic is connected to at the first letter. */
export function failurePolicyOf(
  failure: ResolvedFailure<DeadLetterPayload>,
  { name, runtime }: Pick<Instance, 'name' | 'runtime'>,
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

/** The two policies of a staged sink: before a record is kept, and once Bigtable refuses it. */
export interface StagedPolicies {
  readonly failure: FailurePolicy;
  readonly onRejected: FailurePolicy;
  readonly close: () => Promise<void>;
}

/** Letters of both are published, counted and bounded together. */
export function stagedPoliciesOf(instance: Instance<ResolvedStagedSink>): StagedPolicies {
  const { failure: failureOptions, onRejected: rejectedOptions } = instance.pipeline;
  const failure = failurePolicyOf(failureOptions, instance);
  const isShared = failureOptions.policy === 'dead-letter' && rejectedOptions.policy === 'dead-letter';
  const onRejected = isShared
    ? failure
    : rejectedOptions.policy === 'fail'
      ? failPolicy('onRejected')
      : failurePolicyOf(rejectedOptions, instance);
  return {
    failure,
    onRejected,
    async close() {
      await failure.close();
      if (!isShared) await onRejected.close();
    },
  };
}
