import { abortReason, type Clock, sleep, systemClock } from '../../shared/base/clock.ts';
import {
  type CommittingStore,
  type CoordinatorStore,
  MAX_SEGMENT_BYTES,
  MAX_SEGMENTS_PER_COMMIT,
  type StagingStore,
  type StatusStore,
} from '../../shared/staged/ports.ts';
import type { CheckpointState, PipelineState, SegmentHead } from '../../shared/staged/state.ts';
import { StoreError, type Versioned } from '../../shared/model/store.ts';

/** One call of a port, counted over all of them from 1. */
export interface StoreCall {
  readonly method: string;
  readonly number: number;
}

/** What happens to a call instead of what should: nothing is done, or all is done and the answer is lost, or it takes time. */
export type StoreFault = 'conflict' | 'error-before' | 'error-after' | { readonly delayMillis: number };

/**
 * The documents of one staged pipeline in memory, behind all ports at once. It models what was measured of Firestore:
 * a commit happens whole or not at all, every write makes a version that was never there, a query comes in the order of
 * random ids, a lost answer tells nothing, and every document read, written or deleted is billed, a fruitless query or
 * read as one.
 */
export class MemoryStageStore {
  /** Decides over each call; by default every call is well. */
  fault: (call: StoreCall) => StoreFault | undefined = () => undefined;
  readonly calls: StoreCall[] = [];
  readonly billed = { reads: 0, writes: 0, deletes: 0 };
  readonly staging: StagingStore;
  readonly coordinator: CoordinatorStore;
  readonly committing: CommittingStore;
  readonly status: StatusStore;

  readonly #clock: Clock;
  #pipeline: Versioned<PipelineState> | undefined;
  readonly #segments = new Map<string, Versioned<SegmentHead>>();
  readonly #payloads = new Map<string, Buffer>();
  readonly #checkpoints = new Map<number, Versioned<CheckpointState>>();
  #lastVersion = 0;

  /** @param clock for delays. */
  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
    this.staging = this.#stagingView();
    this.coordinator = this.#coordinatorView();
    this.committing = this.#committingView();
    this.status = this.#statusView();
  }

  get pipeline(): PipelineState | undefined {
    return this.#pipeline?.value;
  }

  get segments(): readonly SegmentHead[] {
    return [...this.#segments.values()].map(({ value }) => value);
  }

  get checkpoints(): readonly CheckpointState[] {
    return [...this.#checkpoints.values()].map(({ value }) => value);
  }

  #stagingView(): StagingStore {
    return {
      stage: (segments, signal) =>
        this.#call('stage', signal, () => {
          if (segments.length > MAX_SEGMENTS_PER_COMMIT) throw new RangeError('too many segments for one commit');
          for (const { id, envelopes, payload, stagedAt } of segments) {
            if (this.#segments.has(id)) continue;
            const parts = Math.max(0, Math.ceil(payload.length / MAX_SEGMENT_BYTES) - 1);
            this.#putSegment({ id, state: 'staged', envelopes, bytes: payload.length, parts, stagedAt });
            this.#payloads.set(id, payload);
            // A part is written twice: before the head, and with it.
            this.billed.writes += 2 * parts;
          }
        }),
      readPipeline: (signal) =>
        this.#call('readPipeline', signal, () => {
          this.billed.reads += 1;
          return this.#pipeline?.value;
        }),
    };
  }

  #coordinatorView(): CoordinatorStore {
    return {
      readPipeline: (signal) => this.#readPipeline(signal),
      readStaged: (limit, signal) =>
        this.#call('readStaged', signal, () => this.#query(({ state }) => state === 'staged', limit)),
      countStagedSegments: (signal) =>
        this.#call('countStagedSegments', signal, () => {
          const { length } = this.segments.filter(({ state }) => state === 'staged');
          this.billed.reads += Math.max(1, Math.ceil(length / 1000));
          return length;
        }),
      readOpenCheckpoints: (limit, signal) =>
        this.#call('readOpenCheckpoints', signal, () => {
          const open = [...this.#checkpoints.values()].filter(({ value }) => value.state === 'completed');
          const found = open.toSorted((left, right) => left.value.number - right.value.number).slice(0, limit);
          this.billed.reads += Math.max(1, found.length);
          return found;
        }),
      readOwned: (checkpoint, limit, signal) =>
        this.#call('readOwned', signal, () =>
          this.#query((head) => head.state === 'owned' && head.checkpoint === checkpoint, limit),
        ),
      commit: ({ pipeline, changes = {} }, signal) =>
        this.#commit('commit', signal, () => {
          const { checkpoint, own = [], redispatch = [], markCommitted = [] } = changes;
          const isCurrent =
            this.#pipeline?.version === pipeline.version &&
            (checkpoint === undefined || !this.#checkpoints.has(checkpoint.number)) &&
            [...own, ...redispatch].every(({ id, version }) => this.#segments.get(id)?.version === version) &&
            markCommitted.every(({ number, version }) => this.#checkpoints.get(number)?.version === version);
          if (!isCurrent) return false;
          this.#pipeline = this.#stored(pipeline.value);
          if (checkpoint) this.#checkpoints.set(checkpoint.number, this.#stored(checkpoint));
          for (const { id, checkpoint: owner, lease } of own) {
            this.#putSegment({ ...this.#head(id), state: 'owned', checkpoint: owner, lease });
          }
          for (const { id, lease } of redispatch) this.#putSegment({ ...this.#head(id), lease });
          for (const { number, committedAt } of markCommitted) {
            this.#checkpoints.set(
              number,
              this.#stored({ ...this.#checkpoint(number), state: 'committed', committedAt }),
            );
          }
          return true;
        }),
    };
  }

  #committingView(): CommittingStore {
    return {
      readSegments: (ids, signal) =>
        this.#call('readSegments', signal, () =>
          ids.flatMap((id) => {
            const found = this.#segments.get(id);
            const payload = this.#payloads.get(id);
            this.billed.reads += 1 + (found?.value.parts ?? 0);
            return found && payload ? [{ head: found.value, version: found.version, payload }] : [];
          }),
        ),
      lease: async (segments, signal) => {
        const result = await this.#commit('lease', signal, () => {
          if (!segments.every(({ id, version }) => this.#segments.get(id)?.version === version)) return false;
          for (const { id, lease, problem } of segments) {
            this.#putSegment({ ...this.#head(id), lease, ...(problem !== undefined && { problem }) });
          }
          return true;
        });
        if (result === 'conflict') return undefined;
        return segments.map(({ id }) => this.#segments.get(id)?.version ?? '');
      },
      finish: (segments, finishedAt, signal) =>
        this.#commit('finish', signal, () => {
          if (!segments.every(({ id }) => this.#segments.has(id))) return false;
          for (const { id, parts, checkpoint: number = 0, envelopes, bytes } of segments) {
            this.#segments.delete(id);
            this.#payloads.delete(id);
            this.billed.deletes += 1 + parts;
            const { remainingSegments, remainingEnvelopes, remainingBytes, ...rest } = this.#checkpoint(number);
            const remaining = {
              remainingSegments: remainingSegments - 1,
              remainingEnvelopes: remainingEnvelopes - envelopes,
              remainingBytes: remainingBytes - bytes,
            };
            this.#checkpoints.set(number, this.#stored({ ...rest, ...remaining, lastFinishedAt: finishedAt }, 0));
          }
          this.billed.writes += new Set(segments.map(({ checkpoint }) => checkpoint)).size;
          return true;
        }),
    };
  }

  #statusView(): StatusStore {
    return {
      readPipeline: (signal) => this.#readPipeline(signal),
      readCheckpoints: (limit, signal) =>
        this.#call('readCheckpoints', signal, () =>
          this.checkpoints.toSorted((left, right) => right.number - left.number).slice(0, limit),
        ),
      readProblems: (limit, signal) =>
        this.#call('readProblems', signal, () =>
          this.#query(({ problem }) => problem !== undefined, limit).map(({ value }) => value),
        ),
      countStaged: (signal) =>
        this.#call('countStaged', signal, () => {
          const staged = this.#query(({ state }) => state === 'staged').map(({ value }) => value);
          return {
            segments: staged.length,
            envelopes: staged.reduce((sum, { envelopes }) => sum + envelopes, 0),
            bytes: staged.reduce((sum, { bytes }) => sum + bytes, 0),
          };
        }),
    };
  }

  #readPipeline(signal: AbortSignal): Promise<Versioned<PipelineState> | undefined> {
    return this.#call('readPipeline', signal, () => {
      this.billed.reads += 1;
      return this.#pipeline;
    });
  }

  #commit(method: string, signal: AbortSignal, apply: () => boolean): Promise<'committed' | 'conflict'> {
    return this.#call(method, signal, (fault) => (fault !== 'conflict' && apply() ? 'committed' : 'conflict'));
  }

  /** One call: it is counted, and the fault decides whether it is done and whether that is told. */
  async #call<Result>(
    method: string,
    signal: AbortSignal,
    work: (fault: StoreFault | undefined) => Result,
  ): Promise<Result> {
    const call = { method, number: this.calls.length + 1 };
    this.calls.push(call);
    const fault = this.fault(call);
    if (signal.aborted) throw abortReason(signal);
    if (typeof fault === 'object') await sleep(this.#clock, fault.delayMillis, signal);
    else await Promise.resolve();
    if (fault === 'error-before') throw new StoreError(method, 'UNAVAILABLE', 'injected, nothing done');
    const result = work(fault);
    if (fault === 'error-after') throw new StoreError(method, 'UNAVAILABLE', 'injected, all done');
    return result;
  }

  #query(isWanted: (head: SegmentHead) => boolean, limit = Infinity): Versioned<SegmentHead>[] {
    const found = [...this.#segments.values()]
      .filter(({ value }) => isWanted(value))
      .toSorted((left, right) => (left.value.id < right.value.id ? -1 : 1))
      .slice(0, limit);
    this.billed.reads += Math.max(1, found.length);
    return found;
  }

  #putSegment(head: SegmentHead): void {
    this.#segments.set(head.id, this.#stored(head));
  }

  #stored<Value>(value: Value, writes = 1): Versioned<Value> {
    this.billed.writes += writes;
    this.#lastVersion += 1;
    return { value: structuredClone(value), version: String(this.#lastVersion) };
  }

  #head(id: string): SegmentHead {
    const found = this.#segments.get(id);
    if (!found) throw new Error(`no segment ${id}`);
    return found.value;
  }

  #checkpoint(number: number): CheckpointState {
    const found = this.#checkpoints.get(number);
    if (!found) throw new Error(`no checkpoint ${number}`);
    return found.value;
  }
}
