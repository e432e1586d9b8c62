import type { Runtime } from '../../base/runtime.ts';
import type { Decider } from '../../coordinator/decider.ts';
import type { Publisher } from '../../model/publishing.ts';
import type { CoordinatorStore } from '../ports.ts';
import {
  type CheckpointDecision,
  type CheckpointOptions,
  decideCheckpoint,
  isCheckpointDue,
  type TickView,
} from './decide-checkpoint.ts';
import type { CheckpointChanges, CheckpointState, Progress } from '../state.ts';
import { type TickRead, TickReader } from './tick-reader.ts';
import { type CommitWork, encodeWork } from '../work-message.ts';

export interface CheckpointDependencies {
  readonly store: CoordinatorStore;
  /** Of the pipeline's commit topic. */
  readonly topic: Publisher;
  readonly runtime: Runtime;
}

export type CheckpointDecider = Decider<Progress, TickView & TickRead, CheckpointChanges, CommitWork>;

/**
 * What a coordinator does for a staged pipeline: it completes checkpoints of what is staged, sends their work out, sends
 * lost work again, and marks checkpoints of which nothing remains. For one invocation.
 *
 * Whatever a crash leaves, a later tick repairs: before the commit nothing was done; after it the segments' leases run
 * out and their work is sent again.
 */
export function checkpointDecider(
  name: string,
  options: CheckpointOptions,
  { store, topic, runtime }: CheckpointDependencies,
): CheckpointDecider {
  const { clock, metrics, logger } = runtime;
  const reader = new TickReader(store, options);
  return {
    name,
    intervalMillis: options.checkpointIntervalMillis,
    counted: ['completed', 'committed', 'redispatched'],
    async read({ pipeline, now, done }, signal) {
      // A tick that completed one goes on with what that could not take.
      const isDue = (done.completed ?? 0) > 0 || isCheckpointDue(pipeline, options, now);
      return { name, pipeline, isDue, ...(await reader.read(isDue, now, signal)) };
    },
    decide: ({ now }, view) => decideCheckpoint(view, options, now),
    committed({ now }, view, decision) {
      reader.committed(view, decision, now);
      observe(view, decision);
      tell(view, decision);
    },
    // Work that comes twice does no harm.
    async publish(work, signal) {
      const messages = work.map((each) => ({ data: encodeWork(each), attributes: { pipeline: each.pipeline } }));
      await Promise.all(messages.map((message) => topic.publish(message, signal)));
    },
  };

  /** Only by one that has the lease: one that finds it held must not tell of an empty backlog. */
  function observe({ open }: TickView, { pipeline: { backlog }, changes }: CheckpointDecision): void {
    const oldestOpenStagedAt = oldestOf(
      open.map(({ value }) => value),
      changes,
    );
    metrics.observe('stagedBacklogSegments', () => backlog.segments);
    metrics.observe('stagedBacklogEnvelopes', () => backlog.envelopes);
    metrics.observe('stagedBacklogBytes', () => backlog.bytes);
    metrics.observe('checkpointAge', () =>
      oldestOpenStagedAt === undefined ? 0 : Math.max(0, clock.now() - oldestOpenStagedAt),
    );
  }

  function tell({ open }: TickView, { changes, counts }: CheckpointDecision): void {
    if (changes.checkpoint) metrics.count('checkpointsCompleted');
    for (const { number, committedAt } of changes.markCommitted ?? []) {
      const stagedAt = open.find(({ value }) => value.number === number)?.value.oldestStagedAt ?? committedAt;
      metrics.count('checkpointsCommitted');
      metrics.record('timeToVisibility', Math.max(0, committedAt - stagedAt));
      logger.log('DEBUG', 'checkpoint committed', { checkpoint: number, millis: committedAt - stagedAt });
    }
    const { redispatched: again = 0 } = counts;
    if (again > 0) {
      metrics.count('segmentsRedispatched', again);
      logger.log('WARNING', 'segments were not finished in time and are sent out again', { segments: again });
    }
  }
}

/** When the oldest work of checkpoints that are still open after a tick was staged. */
function oldestOf(
  open: readonly CheckpointState[],
  { checkpoint, markCommitted = [] }: CheckpointChanges,
): number | undefined {
  const closed = new Set(markCommitted.map(({ number }) => number));
  const left = open.filter(({ number }) => !closed.has(number));
  const times = [...left, ...(checkpoint ? [checkpoint] : [])].map(({ oldestStagedAt }) => oldestStagedAt);
  return times.length === 0 ? undefined : Math.min(...times);
}
