import { createLogger } from '../../shared/base/logging.ts';
import { failPolicy, type FailurePolicy } from '../../shared/letters/policy.ts';
import type { FailedRecord } from '../../shared/letters/failed-record.ts';
import { commitSegments, type Committer } from '../../shared/staged/commit/commit-segments.ts';
import type { Envelope } from '../../shared/staged/envelope/envelope.ts';
import type { MarkedWritesOptions } from '../../shared/staged/write/marked-writes.ts';
import { encodeSegment } from '../../shared/staged/envelope/segment.ts';
import { TargetCheck } from '../../shared/markers/target-check.ts';
import type { FakeTableOptions } from './fake-marked-table.ts';
import { FakeTargetAdmin } from './fake-target-admin.ts';
import { type MarkedWritesHarness, markedWrites } from './marked-writes-harness.ts';
import { MemoryStageStore } from './memory-stage-store.ts';
import { testRuntime } from './runtime.ts';

export interface CommitterHarness extends MarkedWritesHarness {
  readonly store: MemoryStageStore;
  readonly admin: FakeTargetAdmin;
  readonly logs: Readonly<Record<string, unknown>>[];
  /** Committers of further instances share the store and the table. */
  readonly newCommitter: (onRejected?: FailurePolicy) => Committer;
  /** Stages segments and completes the checkpoint that owns them. */
  readonly checkpoint: (number: number, segments: Readonly<Record<string, readonly Envelope[]>>) => Promise<void>;
  /** One work message for these segments. */
  readonly commit: (
    segments: readonly string[],
    given?: { committer?: Committer; signal?: AbortSignal; checkpoint?: number },
  ) => Promise<void>;
}

let holders = 0;

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
  const runtime = testRuntime({ clock, metrics, logger });
  const newCommitter = (onRejected: FailurePolicy = failPolicy()): Committer => ({
    store: store.committing,
    writes: harness.another(),
    targets: new TargetCheck({ declaredFamilies: {}, idleMillis: 3_600_000 }, { admin, runtime }),
    onRejected,
    newHolder: () => `holder-${(holders += 1)}`,
    runtime,
  });
  const first = newCommitter();
  const forEver = new AbortController().signal;
  return {
    ...harness,
    store,
    admin,
    logs,
    newCommitter,
    async checkpoint(number, segments) {
      const stagedAt = clock.now();
      const all = Object.entries(segments).map(([id, envelopes]) => ({
        id,
        envelopes: envelopes.length,
        payload: encodeSegment(envelopes),
        stagedAt,
      }));
      for (const segment of all) await store.staging.stage([segment], forEver);
      const staged = await store.coordinator.readStaged(100, forEver);
      const pipeline = await store.coordinator.readPipeline(forEver);
      const sum = (of: (segment: (typeof all)[number]) => number): number => all.reduce((so, each) => so + of(each), 0);
      const envelopes = sum((segment) => segment.envelopes);
      const bytes = sum(({ payload }) => payload.length);
      await store.coordinator.commit(
        {
          pipeline: {
            version: pipeline?.version,
            value: {
              lease: { owner: 'c', epoch: 1, expiresAt: stagedAt },
              lastCheckpoint: number,
              lastCompletedAt: stagedAt,
              backlog: { segments: all.length, envelopes, bytes },
              countedAt: stagedAt,
            },
          },
          changes: {
            checkpoint: {
              number,
              state: 'completed',
              segments: all.length,
              envelopes,
              bytes,
              remainingSegments: all.length,
              remainingEnvelopes: envelopes,
              remainingBytes: bytes,
              oldestStagedAt: stagedAt,
              completedAt: stagedAt,
            },
            own: staged.map(({ value: { id }, version }) => ({
              id,
              version,
              checkpoint: number,
              // On its way to a committer, as the coordinator leaves it.
              lease: { holder: '', expiresAt: stagedAt + 30_000, attempts: 0 },
            })),
          },
        },
        forEver,
      );
    },
    commit: (segments, { committer = first, signal = forEver, checkpoint = 1 } = {}) =>
      commitSegments({ pipeline: 'counters', checkpoint, segments }, committer, signal),
  };
}

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
