import type { ResolvedStaging } from '../../shared/config/resolved.ts';
import { createTicks } from '../../shared/coordinator/tick.ts';
import { createWorkTopic } from '../../shared/google/pubsub/work-topic.ts';
import { checkpointDecider } from '../../shared/staged/checkpoint/checkpoint-decider.ts';
import type { OpenedTicks, Ticked } from './ticks.ts';

/** A staged pipeline's ticks: its checkpoints, in Firestore, and their work, on its commit topic. */
export function openStagedTicks(staging: ResolvedStaging, { name, runtime, databases }: Ticked): OpenedTicks {
  const store = databases.stores(staging.firestore, name).coordinator;
  const topic = createWorkTopic(staging.commitTopic);
  return {
    ticks: (owner) =>
      createTicks(checkpointDecider(name, staging, { store, topic, runtime }), { store, clock: runtime.clock, owner }),
    close: () => topic.close(),
  };
}
