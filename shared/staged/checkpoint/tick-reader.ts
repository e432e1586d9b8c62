import {
  type CheckpointDecision,
  type CheckpointOptions,
  isNearCaps,
  MAX_OPEN_CHECKPOINTS,
  MAX_SEGMENTS_PER_CHECKPOINT,
  sumOf,
  type TickView,
} from './decide-checkpoint.ts';
import { dueLooks, type Looks, nextLooks } from './dispatch.ts';
import type { CoordinatorStore } from '../ports.ts';
import type { Backlog, CheckpointState, SegmentHead } from '../state.ts';
import type { Versioned } from '../../model/store.ts';

/** What was read for one decision; `looked` are the checkpoints that `owned` was read of. */
export type TickRead = Pick<TickView, 'staged' | 'stagedInAll' | 'open' | 'owned'> & {
  readonly looked: readonly CheckpointState[];
};

/** Segments of checkpoints that one decision reads, so that a tick stays a tick in an outage too. */
const MAX_LOOKED_SEGMENTS = 300;

const NOTHING: Backlog = { segments: 0, envelopes: 0, bytes: 0 };

/**
 * Reads for a tick as little as it takes, because reads are billed: staged segments once, when a checkpoint is due; in
 * between they are counted, and read only when there are twice as many as the last time; the segments of a checkpoint
 * only when one of their leases may have run out. What it remembers is for thrift alone: a new one is as right.
 */
export class TickReader {
  readonly #store: CoordinatorStore;
  readonly #options: CheckpointOptions;
  /** The staged segments that were read last: what one of them weighs. */
  #sample: Backlog = NOTHING;
  #looks: Looks = new Map();

  constructor(store: CoordinatorStore, options: CheckpointOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** @param isDue whether a checkpoint is to be completed of what is staged. */
  async read(isDue: boolean, now: number, signal: AbortSignal): Promise<TickRead> {
    const open = await this.#store.readOpenCheckpoints(MAX_OPEN_CHECKPOINTS, signal);
    const isRoom = open.length < MAX_OPEN_CHECKPOINTS;
    const [staged, owned] = await Promise.all([
      this.#readStaged(isDue && isRoom, isRoom, signal),
      this.#readOwned(
        open.map(({ value }) => value),
        now,
        signal,
      ),
    ]);
    return { open, ...staged, ...owned };
  }

  /** What was decided on a reading has happened: remembers when to look again. */
  committed({ open, looked, owned }: TickRead, { changes }: CheckpointDecision, now: number): void {
    const sentAgain = new Map(changes.redispatch?.map(({ id, lease }) => [id, lease]));
    const after = owned.map(({ value }): SegmentHead => {
      const lease = sentAgain.get(value.id) ?? value.lease;
      return { ...value, ...(lease && { lease }) };
    });
    this.#looks = nextLooks(
      open.map(({ value }) => value),
      this.#looks,
      looked,
      after,
      now,
    );
    if (changes.checkpoint) this.#sample = NOTHING;
  }

  async #readStaged(
    isDue: boolean,
    isRoom: boolean,
    signal: AbortSignal,
  ): Promise<Pick<TickRead, 'staged' | 'stagedInAll'>> {
    if (!isDue) {
      const count = await this.#store.countStagedSegments(signal);
      const reckoned = scaled(this.#sample, count);
      const isKnown = count <= 2 * this.#sample.segments && !isNearCaps(reckoned, this.#options);
      if (isKnown || !isRoom) return { staged: [], stagedInAll: reckoned };
    }
    const staged = await this.#store.readStaged(MAX_SEGMENTS_PER_CHECKPOINT, signal);
    this.#sample = sumOf(staged.map(({ value }) => value));
    if (staged.length < MAX_SEGMENTS_PER_CHECKPOINT) return { staged, stagedInAll: this.#sample };
    const count = await this.#store.countStagedSegments(signal);
    return { staged, stagedInAll: scaled(this.#sample, Math.max(count, staged.length)) };
  }

  async #readOwned(
    open: readonly CheckpointState[],
    now: number,
    signal: AbortSignal,
  ): Promise<Pick<TickRead, 'looked' | 'owned'>> {
    const looked: CheckpointState[] = [];
    const owned: Versioned<SegmentHead>[] = [];
    for (const checkpoint of dueLooks(open, this.#looks, now)) {
      if (owned.length >= MAX_LOOKED_SEGMENTS) break;
      // Whole, because they come in no order: those that ran out may be the last ones.
      owned.push(...(await this.#store.readOwned(checkpoint.number, MAX_SEGMENTS_PER_CHECKPOINT, signal)));
      looked.push(checkpoint);
    }
    return { looked, owned };
  }
}

/** So many segments, each as heavy as the sample's on average. */
function scaled({ segments, envelopes, bytes }: Backlog, count: number): Backlog {
  const factor = segments === 0 ? 0 : count / segments;
  return { segments: count, envelopes: Math.round(envelopes * factor), bytes: Math.round(bytes * factor) };
}
