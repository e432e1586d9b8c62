import type { CheckAndMutateRowRequest } from '../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { CoordinatorStore, StagingStore } from '../../../shared/staged/ports.ts';
import { decodeSegment } from '../../../shared/staged/envelope/segment.ts';
import type { MemoryStageStore } from '../../support/memory-stage-store.ts';

/** Looks over the shoulders of the store and the table, and writes down what must never be. */
export class Witness {
  readonly violations: string[] = [];
  readonly staging: StagingStore;
  readonly coordinator: CoordinatorStore;
  /** Segments that each identity was ever stored in. */
  readonly #segmentsOf = new Map<string, Set<string>>();
  /** Segments that a completed checkpoint owns, or owned until they were finished. */
  readonly #completed = new Set<string>();

  constructor(store: MemoryStageStore) {
    this.staging = {
      ...store.staging,
      stage: (segments, signal) => {
        for (const { id, payload } of segments) {
          for (const { identity } of decodeSegment(payload)) {
            const known = this.#segmentsOf.get(identity) ?? new Set();
            this.#segmentsOf.set(identity, known.add(id));
          }
        }
        return store.staging.stage(segments, signal);
      },
    };
    this.coordinator = {
      ...store.coordinator,
      commit: async (commit, signal) => {
        try {
          return await store.coordinator.commit(commit, signal);
        } finally {
          for (const { id, state } of store.segments) if (state === 'owned') this.#completed.add(id);
        }
      },
    };
  }

  /** A conditional write arrives at the table: every effect in it must be of a checkpoint that is completed. */
  sees({ falseMutations }: CheckAndMutateRowRequest): void {
    for (const { mutation } of falseMutations) {
      if (mutation?.$case !== 'setCell') continue;
      const identity = mutation.value.columnQualifier.toString();
      const segments = [...(this.#segmentsOf.get(identity) ?? [])];
      if (!segments.some((id) => this.#completed.has(id))) {
        this.violations.push(`the effect ${identity} was sent before its checkpoint was completed`);
      }
    }
  }
}
