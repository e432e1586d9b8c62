import type { CheckAndMutateRowRequest } from '../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { CoordinatorStore, StagingStore } from '../../../shared/staged/ports.ts';
import { decodeSegment } from '../../../shared/staged/envelope/segment.ts';
import { numberOf } from '../../../shared/staged/segment-id.ts';
import type { MemoryStageStore } from '../../support/memory-stage-store.ts';

/** Looks over the shoulders of the store and the table, and writes down what must never be. */
export class Witness {
  readonly violations: string[] = [];
  readonly staging: StagingStore;
  readonly coordinator: CoordinatorStore;
  readonly #store: MemoryStageStore;
  readonly #now: () => number;
  readonly #isMarked: (identity: string) => boolean;
  /** Numbers of the segments that each identity was ever stored in. */
  readonly #numbersOf = new Map<string, Set<number>>();
  /** When an envelope of each identity was acknowledged first. */
  readonly #acknowledgedAt = new Map<string, number>();
  /** When each checkpoint was completed. */
  readonly #completedAt = new Map<number, number>();
  #committed = 0;

  /**
   * @param coordinator as coordinators reach it: perhaps with a fault of its own.
   * @param isMarked whether an effect is in its row.
   */
  constructor(
    store: MemoryStageStore,
    coordinator: CoordinatorStore,
    now: () => number,
    isMarked: (identity: string) => boolean,
  ) {
    this.#store = store;
    this.#now = now;
    this.#isMarked = isMarked;
    this.staging = {
      ...store.staging,
      stage: (segments, signal) => {
        for (const { id, payload } of segments) this.stored(id, payload);
        return store.staging.stage(segments, signal);
      },
    };
    this.coordinator = {
      ...coordinator,
      commit: async (commit, signal) => {
        try {
          return await coordinator.commit(commit, signal);
        } finally {
          this.#look();
        }
      },
    };
  }

  /** A segment is on its way into the store. */
  stored(id: string, payload: Buffer): void {
    for (const { identity } of decodeSegment(payload)) {
      const known = this.#numbersOf.get(identity) ?? new Set();
      this.#numbersOf.set(identity, known.add(numberOf(id)));
    }
  }

  /** The message of an effect was acknowledged. */
  acknowledged(identity: string): void {
    if (!this.#acknowledgedAt.has(identity)) this.#acknowledgedAt.set(identity, this.#now());
  }

  /** A conditional write arrives at the table: every effect in it must be of a checkpoint that is complete. */
  sees({ falseMutations }: CheckAndMutateRowRequest): void {
    const completed = this.#store.pipeline?.completed ?? 0;
    for (const { mutation } of falseMutations) {
      if (mutation?.$case !== 'setCell') continue;
      const identity = mutation.value.columnQualifier.toString();
      const numbers = [...(this.#numbersOf.get(identity) ?? [])];
      if (numbers.some((number) => number <= completed)) continue;
      this.violations.push(`the effect ${identity} was sent before its checkpoint was completed`);
    }
  }

  /** After a commit of a coordinator: what is told committed must be in its row, or set apart. */
  #look(): void {
    const { pipeline } = this.#store;
    if (!pipeline) return;
    for (let number = pipeline.completed; number > 0 && !this.#completedAt.has(number); number -= 1) {
      this.#completedAt.set(number, this.#now());
    }
    const { committed = 0 } = pipeline;
    if (committed < this.#committed || committed > pipeline.completed) {
      this.violations.push(`committed went from ${this.#committed} to ${committed} of ${pipeline.completed}`);
    }
    if (committed === this.#committed) return;
    this.#committed = committed;
    const until = this.#completedAt.get(committed) ?? 0;
    const setApart = new Set(
      this.#store
        .openOfRests()
        .flatMap((payload) => decodeSegment(payload))
        .map(({ identity }) => identity),
    );
    for (const [identity, at] of this.#acknowledgedAt) {
      if (at >= until || setApart.has(identity) || this.#isMarked(identity)) continue;
      this.violations.push(`${identity} was acknowledged before checkpoint ${committed}, which is told committed`);
    }
  }
}
