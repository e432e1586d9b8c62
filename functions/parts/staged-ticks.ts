import type { ResolvedStagedSink, ResolvedStaging } from '../../shared/config/resolved.ts';
import { createTicks } from '../../shared/coordinator/tick.ts';
import { createPublisher } from '../../shared/google/pubsub/publisher.ts';
import { checkpointDecider } from '../../shared/staged/checkpoint/checkpoint-decider.ts';
import type { CheckpointOptions } from '../../shared/staged/checkpoint/decide-checkpoint.ts';
import { ownFingerprintOf } from './own-fingerprint.ts';
import type { OpenedTicks, Ticked } from './ticks.ts';

/** Time for work on its way when the instance ends. Within the drain's own limit. */
const WORK_SHUTDOWN_MILLIS = 5000;

/** A staged pipeline's ticks: its checkpoints, in Firestore, and their work, on its commit topic. */
export function openStagedTicks(
  pipeline: ResolvedStagedSink,
  staging: ResolvedStaging,
  { name, runtime, databases }: Ticked,
): OpenedTicks {
  const checkpoints: CheckpointOptions = {
    ...staging,
    // The commit topic's subscription has it too.
    patienceMillis: pipeline.input.ackDeadlineMillis,
    fingerprint: ownFingerprintOf(pipeline, staging),
  };
  const store = databases.of(staging.firestore).stage(name).coordinator;
  const options = { topic: staging.commitTopic, shutdownTimeoutMillis: WORK_SHUTDOWN_MILLIS };
  const topic = createPublisher(options, runtime.clock);
  return {
    ticks: (owner) =>
      createTicks(checkpointDecider(name, checkpoints, { store, topic, runtime }), {
        store,
        clock: runtime.clock,
        owner,
      }),
    close: () => topic.close(),
  };
}
