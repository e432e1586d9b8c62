import type { Runtime } from '../../base/runtime.ts';
import type { Decider } from '../../coordinator/decider.ts';
import type { Publisher } from '../../model/publishing.ts';
import type { CoordinatorStore } from '../ports.ts';
import { CheckpointReader, type TickRead } from './checkpoint-reader.ts';
import {
  type CheckpointDecision,
  type CheckpointOptions,
  decideCheckpoint,
  type OutgoingWork,
} from './decide-checkpoint.ts';
import type { CheckpointChanges, Progress } from '../state.ts';
import { encodeWork } from '../work-message.ts';

export interface CheckpointDependencies {
  readonly store: CoordinatorStore;
  /** Of the pipeline's commit topic. */
  readonly topic: Publisher;
  readonly runtime: Runtime;
}

export type CheckpointDecider = Decider<Progress, TickRead, CheckpointChanges, OutgoingWork>;

/**
 * What a coordinator does for a staged pipeline: it completes checkpoints, sends ranges of segments to committers, finds
 * what is committed, and sends again what was lost. For one invocation.
 *
 * Whatever a crash leaves, a later tick repairs: before the commit nothing was done; after it a number that is not
 * marked as sent is sent.
 */
export function checkpointDecider(
  name: string,
  options: CheckpointOptions,
  { store, topic, runtime }: CheckpointDependencies,
): CheckpointDecider {
  const { clock, metrics, logger } = runtime;
  const reader = new CheckpointReader(name, options, store);
  /** By the clock of the store: whatever was stored before the last reading is in what is sent after it. */
  let readAt = 0;
  return {
    name,
    intervalMillis: options.checkpointIntervalMillis,
    counted: ['completed', 'committed', 'sent'],
    read: (turn, signal) => reader.read(turn, signal),
    decide: ({ now }, view) => decideCheckpoint(view, options, now),
    committed({ now }, view, decision) {
      reader.committed(view, now);
      ({ readAt } = view);
      observe(view, decision);
      tell(view, decision);
    },
    // Work that comes twice does no harm.
    async publish(outgoing, signal) {
      const messages = outgoing.map(({ work }) => ({ data: encodeWork(work), attributes: { pipeline: name } }));
      await Promise.all(messages.map((message) => topic.publish(message, signal)));
      const numbers = new Set(outgoing.flatMap((each) => each.numbers));
      // A mark that is lost makes the number go out again, which does no harm.
      if (numbers.size > 0) await store.markSent([...numbers], readAt, signal);
    },
  };

  /** Only by one that has the lease: one that finds it held must not tell of an empty backlog. */
  function observe({ lanes }: TickRead, { pipeline: { backlog, rests } }: CheckpointDecision): void {
    const oldest = Math.min(...lanes.flatMap(({ heads }) => heads.map(({ createdAt }) => createdAt)));
    metrics.observe('stagedBacklogSegments', () => backlog.segments);
    metrics.observe('stagedBacklogEnvelopes', () => backlog.envelopes);
    metrics.observe('stagedBacklogBytes', () => backlog.bytes);
    metrics.observe('restSegments', () => rests.segments);
    metrics.observe('restEnvelopes', () => rests.envelopes);
    metrics.observe('restBytes', () => rests.bytes);
    metrics.observe('checkpointAge', () => (oldest === Infinity ? 0 : Math.max(0, clock.now() - oldest)));
  }

  function tell({ checkpoints, unsent, aged }: TickRead, { changes }: CheckpointDecision): void {
    if (changes.complete) metrics.count('checkpointsCompleted');
    for (const { number, committedAt } of changes.committed) {
      metrics.count('checkpointsCommitted');
      const stagedAt = checkpoints.get(number)?.oldestStagedAt;
      if (stagedAt === undefined) continue;
      metrics.record('timeToVisibility', Math.max(0, committedAt - stagedAt));
      logger.log('DEBUG', 'checkpoint committed', { checkpoint: number, millis: committedAt - stagedAt });
    }
    const again = unsent.numbers.filter((number) => checkpoints.get(number)?.sentAt !== undefined);
    if (again.length > 0) {
      metrics.count('checkpointsResent', again.length);
      logger.log('WARNING', 'work of checkpoints was not finished in time and is sent again', { checkpoints: again });
    }
    if (aged.length > 0) metrics.count('segmentsResent', aged.length);
  }
}
