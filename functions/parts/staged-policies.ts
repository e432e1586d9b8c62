import type { ResolvedStagedSink } from '../../shared/config/resolved.ts';
import { failPolicy, type FailurePolicy } from '../../shared/letters/policy.ts';
import { failurePolicyOf } from './failure-policy.ts';
import type { Instance } from './instance.ts';

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
