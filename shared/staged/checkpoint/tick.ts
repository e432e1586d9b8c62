import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logging.ts';
import type { Metrics } from '../../base/metrics.ts';
import { decideLease, releaseLease } from '../../coordinator/decide-lease.ts';
import type { CoordinatedPipeline, TickOutcome } from '../../coordinator/ports.ts';
import { slotMillisFor } from '../../coordinator/slots.ts';
import { type CheckpointOptions, decideCheckpoint, isCheckpointDue, type TickDecision } from './decide-checkpoint.ts';
import type { CoordinatorStore, WorkTopic } from '../ports.ts';
import { TickReader } from './tick-reader.ts';

/** Commits of one tick: beyond them it leaves the rest to the next one. */
const MAX_ROUNDS = 10;

export interface TickDependencies {
  readonly store: CoordinatorStore;
  readonly topic: WorkTopic;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Unique to one invocation. */
  readonly owner: string;
}

/**
 * The ticks of one staged pipeline: read → decide → commit → publish. The commit is atomic and fenced by the pipeline's
 * document, so of two coordinators that read the same one conflicts. Whatever a crash leaves, a later tick repairs: before
 * the commit nothing was done; after it the segments' leases run out and their work is sent again.
 */
export function createTicks(
  name: string,
  options: CheckpointOptions,
  { store, topic, clock, metrics, logger, owner }: TickDependencies,
): CoordinatedPipeline {
  const reader = new TickReader(store, options);
  let backlog = { segments: 0, envelopes: 0, bytes: 0 };
  let oldestOpenStagedAt: number | undefined;
  return { name, slotMillis: slotMillisFor(options.checkpointIntervalMillis), tick, release };

  async function tick(signal: AbortSignal): Promise<TickOutcome> {
    const counts = { completed: 0, committed: 0, redispatched: 0 };
    let conflicts = 0;
    let isGoingOn = false;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const before = await store.readPipeline(signal);
      const now = clock.now();
      const lease = decideLease(before?.value.lease, owner, now);
      if (lease.kind === 'held') return lease;

      const isDue = isGoingOn || isCheckpointDue(before?.value, options, now);
      const read = await reader.read(isDue, now, signal);
      const view = { name, pipeline: before?.value, lease: lease.lease, isDue, ...read };
      const decision = decideCheckpoint(view, options, now);
      const pipeline = { version: before?.version, value: decision.pipeline };
      const result = await store.commit({ ...decision.commit, pipeline }, signal);
      if (result === 'conflict') {
        // Another coordinator was faster, or a committer touched a segment that was to be sent again.
        conflicts += 1;
        if (conflicts > 1) break;
        continue;
      }
      reader.committed(read, decision, now);
      backlog = decision.pipeline.backlog;
      oldestOpenStagedAt = oldestOf(read.open, decision);
      observe();
      record(decision);
      counts.completed += decision.commit.checkpoint ? 1 : 0;
      counts.committed += decision.committed.length;
      counts.redispatched += decision.commit.redispatch?.length ?? 0;
      if (decision.work.length > 0) await topic.publish(decision.work, signal);
      if (!decision.hasMore) break;
      isGoingOn ||= decision.commit.checkpoint !== undefined;
    }
    return { kind: 'ticked', counts };
  }

  async function release(signal: AbortSignal): Promise<void> {
    const before = await store.readPipeline(signal);
    const lease = releaseLease(before?.value.lease, owner, clock.now());
    if (!before || !lease) return;
    // A conflict means that it is another's by now.
    await store.commit({ pipeline: { version: before.version, value: { ...before.value, lease } } }, signal);
  }

  /** Only by one that has the lease: one that finds it held must not tell of an empty backlog. */
  function observe(): void {
    metrics.observe('stagedBacklogSegments', () => backlog.segments);
    metrics.observe('stagedBacklogEnvelopes', () => backlog.envelopes);
    metrics.observe('stagedBacklogBytes', () => backlog.bytes);
    metrics.observe('checkpointAge', () =>
      oldestOpenStagedAt === undefined ? 0 : Math.max(0, clock.now() - oldestOpenStagedAt),
    );
  }

  function record({ commit, committed }: TickDecision): void {
    if (commit.checkpoint) metrics.count('checkpointsCompleted');
    for (const { number, oldestStagedAt, committedAt = oldestStagedAt } of committed) {
      metrics.count('checkpointsCommitted');
      metrics.record('timeToVisibility', Math.max(0, committedAt - oldestStagedAt));
      logger.log('DEBUG', 'checkpoint committed', { checkpoint: number, millis: committedAt - oldestStagedAt });
    }
    const again = commit.redispatch?.length ?? 0;
    if (again > 0) {
      metrics.count('segmentsRedispatched', again);
      logger.log('WARNING', 'segments were not finished in time and are sent out again', { segments: again });
    }
  }
}

/** When the oldest work of checkpoints that are still open after this tick was staged. */
function oldestOf(open: Awaited<ReturnType<TickReader['read']>>['open'], decision: TickDecision): number | undefined {
  const closed = new Set(decision.committed.map(({ number }) => number));
  const left = open.map(({ value }) => value).filter(({ number }) => !closed.has(number));
  const times = [...left, ...(decision.commit.checkpoint ? [decision.commit.checkpoint] : [])];
  return times.length === 0 ? undefined : Math.min(...times.map(({ oldestStagedAt }) => oldestStagedAt));
}
