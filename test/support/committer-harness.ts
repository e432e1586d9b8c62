import { createLogger } from '../../shared/base/logging.ts';
import { failPolicy, type FailurePolicy } from '../../shared/letters/policy.ts';
import type { FailedRecord } from '../../shared/letters/failed-record.ts';
import { NO_AMOUNT } from '../../shared/staged/state.ts';
import type { CommitWork } from '../../shared/staged/work-message.ts';
import { ClusterGuard } from '../../shared/staged/commit/cluster-guard.ts';
import { CompletedNumber } from '../../shared/staged/commit/completed-number.ts';
import type { Committer } from '../../shared/staged/commit/committer.ts';
import { drainWork } from '../../shared/staged/commit/drain-work.ts';
import { type IdRange, LANES, numbersOfLane, segmentId } from '../../shared/staged/segment-id.ts';
import type { Envelope } from '../../shared/staged/envelope/envelope.ts';
import type { MarkedWritesOptions } from '../../shared/staged/write/marked-writes.ts';
import { encodeSegment } from '../../shared/staged/envelope/segment.ts';
import { TargetCheck } from '../../shared/markers/target-check.ts';
import type { FakeTableOptions } from './fake-marked-table.ts';
import { FakeTargetAdmin } from './fake-target-admin.ts';
import { type MarkedWritesHarness, markedWrites } from './marked-writes-harness.ts';
import { testRuntime } from './runtime.ts';
import { MemoryStageStore } from './memory-stage-store.ts';

export interface CommitterHarness extends MarkedWritesHarness {
  readonly store: MemoryStageStore;
  readonly admin: FakeTargetAdmin;
  readonly logs: Readonly<Record<string, unknown>>[];
  /** Committers of further instances share the store and the table. */
  readonly newCommitter: (onRejected?: FailurePolicy, confirmChange?: string) => Committer;
  /** Stages segments, each under a name of its own, and completes the checkpoint that owns them. */
  readonly checkpoint: (number: number, segments: Readonly<Record<string, readonly Envelope[]>>) => Promise<void>;
  /** The id of a segment of {@link checkpoint}. */
  readonly idOf: (name: string) => string;
  /** One work message for everything of a checkpoint, or for what is given. */
  readonly commit: (
    work?: Partial<CommitWork> | number,
    given?: { committer?: Committer; signal?: AbortSignal },
  ) => Promise<void>;
}

export function committing(
  table: Omit<FakeTableOptions, 'clock'> = {},
  options: Partial<MarkedWritesOptions> = {},
): CommitterHarness {
  const harness = markedWrites(table, options);
  const { clock, metrics } = harness;
  const store = new MemoryStageStore(clock);
  const admin = new FakeTargetAdmin();
  const logs: Readonly<Record<string, unknown>>[] = [];
  const logger = createLogger({}, (line) => {
    logs.push(JSON.parse(line) as Readonly<Record<string, unknown>>);
  });
  const runtime = testRuntime({ clock, random: () => 0.5, metrics, logger });
  const newCommitter = (onRejected: FailurePolicy = failPolicy(), confirmed?: string): Committer => ({
    store: store.committing,
    writes: harness.another(),
    targets: new ClusterGuard({
      targets: new TargetCheck({ declaredFamilies: {}, idleMillis: 3_600_000 }, { admin, runtime }),
      store: store.committing,
      confirmed,
    }),
    onRejected,
    completed: new CompletedNumber(store.committing, logger),
    runtime,
  });
  const first = newCommitter();
  const ids = new Map<string, string>();
  const forEver = new AbortController().signal;
  return {
    ...harness,
    store,
    admin,
    logs,
    newCommitter,
    idOf: (name) => ids.get(name) ?? '',
    async checkpoint(number, segments) {
      const stagedAt = clock.now();
      for (const [name, envelopes] of Object.entries(segments)) {
        const place = ids.size;
        const id = segmentId(place % LANES, number, String(place).padStart(16, '0'));
        ids.set(name, id);
        const segment = { id, envelopes: envelopes.length, payload: encodeSegment(envelopes), stagedAt };
        await store.staging.stage([segment], forEver);
      }
      const before = await store.coordinator.readPipeline(forEver);
      const value = {
        lease: { owner: 'c', epoch: 1, expiresAt: stagedAt },
        completed: number,
        lastCompletedAt: stagedAt,
        backlog: NO_AMOUNT,
        rests: NO_AMOUNT,
        countedAt: stagedAt,
        marks: [],
      };
      const complete = { number, completedAt: stagedAt, amount: NO_AMOUNT, oldestStagedAt: stagedAt };
      await store.coordinator.commit(
        { pipeline: { version: before?.version, value }, changes: { complete, committed: [] } },
        forEver,
      );
    },
    commit: (work = 1, { committer = first, signal = forEver } = {}) =>
      drainWork({ ...NO_WORK, ...(typeof work === 'number' ? { ranges: rangesOf(work) } : work) }, committer, signal),
  };
}

const NO_WORK: CommitWork = { pipeline: 'counters', ranges: [], segments: [], rests: [], segmentBytes: 0 };

const rangesOf = (number: number): readonly IdRange[] =>
  Array.from({ length: LANES }, (_, lane) => numbersOfLane(lane, number, number));

/** A failure policy that keeps what it was given, and may refuse it. */
export function keepingPolicy(refusal?: Error): FailurePolicy & { readonly handled: FailedRecord[] } {
  const handled: FailedRecord[] = [];
  return {
    mayDrop: true,
    handled,
    handle(failed) {
      handled.push(...failed);
      return refusal ? Promise.reject(refusal) : Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
}
