import { createLogger } from '../../shared/base/logging.ts';
import { createMetrics, type MetricsRegistry } from '../../shared/base/metrics.ts';
import type { Envelope } from '../../shared/staged/envelope/envelope.ts';
import type { NewSegment, StagingStore } from '../../shared/staged/ports.ts';
import { decodeSegment } from '../../shared/staged/envelope/segment.ts';
import { Stager } from '../../shared/staged/stage/stager.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryStageStore } from './memory-stage-store.ts';
import { seededRandom } from './seeded-random.ts';

export interface StagingHarness {
  readonly clock: ManualClock;
  readonly metrics: MetricsRegistry;
  readonly store: MemoryStageStore;
  readonly stager: Stager;
  /** What every attempt was to store, in order. */
  readonly attempts: readonly (readonly NewSegment[])[];
  readonly lines: readonly string[];
  /** What the stager reads from now on. */
  readonly complete: (number: number) => void;
  /** Every attempt is refused with the error, until it is undefined again. */
  readonly refuseWith: (error: Error | undefined) => void;
  /** Attempts that were on their way at once, at most. */
  readonly mostAtOnce: () => number;
  /** Identities in the store, by segment. */
  readonly storedIdentities: () => Promise<readonly (readonly string[])[]>;
}

/** A stager over the store in memory, on a clock that the test moves. */
export function stagingHarness({
  seed = 1,
  maxSegmentBytes,
  lingerMillis = 0,
  maxWaitingMessages = 40,
}: {
  seed?: number;
  maxSegmentBytes?: number;
  lingerMillis?: number;
  maxWaitingMessages?: number;
} = {}): StagingHarness {
  const clock = new ManualClock();
  const metrics = createMetrics();
  const store = new MemoryStageStore(clock);
  const attempts: (readonly NewSegment[])[] = [];
  const lines: string[] = [];
  let refusal: Error | undefined;
  let underWay = 0;
  let most = 0;
  const watched: Pick<StagingStore, 'stage'> = {
    async stage(segments, signal) {
      attempts.push(segments);
      if (refusal) throw refusal;
      underWay += 1;
      most = Math.max(most, underWay);
      try {
        await store.staging.stage(segments, signal);
      } finally {
        underWay -= 1;
      }
    },
  };
  let segments = 0;
  let completed = 0;
  const random = seededRandom(seed);
  const logger = createLogger({}, (line) => lines.push(line));
  const stager = new Stager(
    { lingerMillis, maxWaitingMessages, ...(maxSegmentBytes !== undefined && { maxSegmentBytes }) },
    {
      store: watched,
      numbers: { numberToStage: () => Promise.resolve(completed + 1) },
      runtime: { clock, random, metrics, logger },
      newRandomId: () => String((segments += 1)).padStart(16, '0'),
    },
  );
  return {
    clock,
    metrics,
    store,
    stager,
    attempts,
    lines,
    complete: (number) => {
      completed = number;
    },
    refuseWith: (error) => {
      refusal = error;
    },
    mostAtOnce: () => most,
    async storedIdentities() {
      store.fault = () => undefined;
      const ids = store.segments.map(({ id }) => id);
      const stored = await store.committing.readSegments(ids, new AbortController().signal);
      return stored.map(({ payload }) => decodeSegment(payload).map(({ identity }: Envelope) => identity));
    },
  };
}
