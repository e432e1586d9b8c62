import { type Clock, systemClock } from '../../shared/base/clock.ts';
import type { CommitResult, Versioned } from '../../shared/model/store.ts';
import {
  type Amount,
  type CheckpointState,
  NO_AMOUNT,
  type PipelineState,
  type RestHead,
  type SegmentHead,
  amountOf,
  scaled,
} from '../../shared/staged/state.ts';
import { type IdRange, isInRange, LANES, MAX_NUMBER, numberOf, numbersOfLane } from '../../shared/staged/segment-id.ts';
import {
  type CommittingStore,
  type CoordinatorStore,
  MAX_SEGMENT_BYTES,
  MAX_SEGMENTS_PER_COMMIT,
  type NewRest,
  type StagingStore,
  type StatusStore,
  type StoredSegment,
} from '../../shared/staged/ports.ts';
import { type StoreCall, StoreCalls, type StoreFault } from './store-faults.ts';

/** A write as the store's log has it. */
export interface LoggedWrite {
  readonly at: number;
  readonly document: string;
}

/**
 * The documents of one staged pipeline in memory, behind all ports at once. It models what was measured of Firestore:
 * a commit happens whole or not at all, and perhaps once more by itself; every write makes a version that was never there;
 * documents come in the order of their ids; a lost answer tells nothing; every document read, written or deleted is
 * billed, a fruitless query or read as one, and a count as one for each thousand.
 */
export class MemoryStageStore {
  readonly billed = { reads: 0, writes: 0, deletes: 0 };
  /** Every write and delete; left empty unless `isLogging`. */
  readonly log: LoggedWrite[] = [];
  isLogging = false;
  readonly staging: StagingStore;
  readonly coordinator: CoordinatorStore;
  readonly committing: CommittingStore;
  readonly status: StatusStore;

  readonly #clock: Clock;
  readonly #calls: StoreCalls;
  #pipeline: Versioned<PipelineState> | undefined;
  readonly #segments = new Map<string, StoredSegment>();
  readonly #rests = new Map<string, Versioned<NewRest>>();
  readonly #checkpoints = new Map<number, CheckpointState>();
  /** By instance, the cluster that the markers are in. */
  readonly #clusters = new Map<string, string>();
  /** Ids in their order, with some that are gone; undefined where it has to be made anew. */
  #order: readonly string[] | undefined;
  #lastVersion = 0;

  /** @param clock of the store: for create times, and for delays. */
  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
    this.#calls = new StoreCalls(clock);
    this.staging = this.#stagingView();
    this.coordinator = this.#coordinatorView();
    this.committing = this.#committingView();
    this.status = this.#statusView();
  }

  /** Decides over each call. */
  get fault(): (call: StoreCall) => StoreFault | undefined {
    return this.#calls.fault;
  }

  set fault(fault: (call: StoreCall) => StoreFault | undefined) {
    this.#calls.fault = fault;
  }

  get calls(): readonly StoreCall[] {
    return this.#calls.made;
  }

  get pipeline(): PipelineState | undefined {
    return this.#pipeline?.value;
  }

  get segments(): readonly SegmentHead[] {
    return [...this.#segments.values()].map(({ head }) => head);
  }

  get rests(): readonly RestHead[] {
    return [...this.#rests.values()].map(({ value }) => value.head);
  }

  get checkpoints(): readonly CheckpointState[] {
    return [...this.#checkpoints.values()].toSorted((left, right) => left.number - right.number);
  }

  /** The cluster that is noted for an instance. */
  clusterOf(instance: string): string | undefined {
    return this.#clusters.get(instance);
  }

  /** Payloads of what is set apart. */
  openOfRests(): readonly Buffer[] {
    return [...this.#rests.values()].map(({ value }) => value.payload);
  }

  /** Those of a range, unbilled. */
  headsIn(range: IdRange): readonly SegmentHead[] {
    return this.#idsIn(range).flatMap((id) => this.#segments.get(id)?.head ?? []);
  }

  head(id: string): SegmentHead | undefined {
    return this.#segments.get(id)?.head;
  }

  /** Segments that are there at once, unbilled, without payloads: for loads. */
  plant(ids: readonly string[], { envelopes, bytes }: Pick<SegmentHead, 'envelopes' | 'bytes'>): void {
    const now = this.#clock.now();
    for (const id of ids) {
      const head = { id, number: numberOf(id), envelopes, bytes, parts: 0, stagedAt: now, createdAt: now };
      this.#segments.set(id, { head, payload: NO_PAYLOAD });
    }
    this.#order = undefined;
  }

  /** A segment of the format before, as a stager of that deployment stored it. */
  putFormer(id: string, payload: Buffer): void {
    const now = this.#clock.now();
    const head = { id, number: 0, envelopes: 1, bytes: payload.length, parts: 0, stagedAt: now, createdAt: now };
    this.#segments.set(id, { head, payload });
    this.#order = undefined;
  }

  /** As if somebody had deleted it by hand. */
  losePipeline(): void {
    this.#pipeline = undefined;
    this.#clusters.clear();
  }

  #stagingView(): StagingStore {
    return {
      stage: (segments, signal) =>
        this.#commit('stage', signal, () => {
          if (segments.length > MAX_SEGMENTS_PER_COMMIT) throw new RangeError('too many segments for one commit');
          for (const { id, envelopes, payload, stagedAt } of segments) {
            if (this.#segments.has(id)) continue;
            const parts = Math.max(0, Math.ceil(payload.length / MAX_SEGMENT_BYTES) - 1);
            const createdAt = this.#clock.now();
            const head = { id, number: numberOf(id), envelopes, bytes: payload.length, parts, stagedAt, createdAt };
            this.#segments.set(id, { head, payload });
            this.#order = undefined;
            // A part is written twice: before the head, and with it.
            this.#wrote(`segments/${id}`, 1 + 2 * parts);
          }
        }),
      readPipeline: async (signal) => (await this.#readPipeline(signal))?.value,
      countBacklog: (signal) => this.#countBacklog(signal),
    };
  }

  #coordinatorView(): CoordinatorStore {
    return {
      readPipeline: (signal) => this.#readPipeline(signal),
      countSegments: (range, signal) =>
        this.#call('countSegments', signal, () => {
          const count = range ? this.#idsIn(range).length : this.#segments.size;
          this.billed.reads += Math.max(1, Math.ceil(count / 1000));
          return { count, readAt: this.#clock.now() };
        }),
      readHeads: (range, limit, signal) => this.#call('readHeads', signal, () => this.#headsIn(range, limit)),
      readCheckpoints: (numbers, signal) =>
        this.#call('readCheckpoints', signal, () => {
          this.billed.reads += numbers.length;
          return numbers.flatMap((number) => this.#checkpoints.get(number) ?? []);
        }),
      readHighestNumber: (signal) =>
        this.#call('readHighestNumber', signal, () =>
          Math.max(0, ...this.#checkpoints.keys(), ...[...this.#segments.keys()].map((id) => numberOf(id) - 1)),
        ),
      countRests: (signal) =>
        this.#call('countRests', signal, () => {
          this.billed.reads += Math.max(1, Math.ceil(this.#rests.size / 1000));
          return this.#rests.size;
        }),
      readDueRests: (now, limit, signal) =>
        this.#call('readDueRests', signal, () => this.#restsBy((rest) => rest.tryAt <= now, limit)),
      sampleRests: (limit, signal) => this.#call('sampleRests', signal, () => this.#restsBy(() => true, limit)),
      markSent: (numbers, sentAt, signal) =>
        this.#commit('markSent', signal, () => {
          for (const number of numbers) this.#putCheckpoint({ ...this.#checkpoint(number), sentAt });
        }),
      commit: ({ pipeline, changes }, signal) =>
        this.#call('commit', signal, (fault): CommitResult => {
          const complete = changes?.complete;
          const isCurrent =
            fault !== 'conflict' &&
            this.#pipeline?.version === pipeline.version &&
            (complete === undefined || !this.#checkpoints.has(complete.number));
          if (!isCurrent) return 'conflict';
          this.#pipeline = this.#stored('pipeline', pipeline.value);
          if (complete) this.#putCheckpoint(complete);
          for (const { number, committedAt } of changes?.committed ?? []) {
            this.#putCheckpoint({ ...this.#checkpoint(number), committedAt });
          }
          return 'committed';
        }),
    };
  }

  #committingView(): CommittingStore {
    const read = (ids: readonly string[]): StoredSegment[] => {
      const found = ids.flatMap((id) => this.#segments.get(id) ?? []);
      this.billed.reads += Math.max(1, ids.length) + found.reduce((sum, { head }) => sum + head.parts, 0);
      return found;
    };
    return {
      readPipeline: async (signal) => (await this.#readPipeline(signal))?.value,
      readRange: (range, limit, signal) =>
        this.#call('readRange', signal, () => read(this.#idsIn(range).slice(0, limit))),
      readSegments: (ids, signal) => this.#call('readSegments', signal, () => read(ids)),
      finish: (segments, signal) =>
        this.#commit('finish', signal, () => {
          for (const { head, rest } of segments) {
            this.#segments.delete(head.id);
            this.#deleted(`segments/${head.id}`, 1 + head.parts - (rest?.head.parts ?? 0));
            if (rest) this.#rests.set(head.id, this.#stored(`rests/${head.id}`, rest));
          }
        }),
      readRests: (ids, signal) =>
        this.#call('readRests', signal, () => {
          this.billed.reads += ids.length;
          return ids.flatMap((id) => {
            const found = this.#rests.get(id);
            return found ? [{ ...found.value, version: found.version }] : [];
          });
        }),
      finishRest: ({ stored: { head, version }, rest }, signal) =>
        this.#call('finishRest', signal, (fault): CommitResult => {
          if (fault === 'conflict' || this.#rests.get(head.id)?.version !== version) return 'conflict';
          if (rest) {
            this.#rests.set(head.id, this.#stored(`rests/${head.id}`, rest));
          } else {
            this.#rests.delete(head.id);
            this.#deleted(`rests/${head.id}`, 1 + head.parts);
          }
          return 'committed';
        }),
      noteCluster: ({ instance, cluster }, instead, signal) =>
        this.#call('noteCluster', signal, () => {
          this.billed.reads += 1;
          if (!this.#pipeline) return cluster;
          const noted = this.#clusters.get(instance);
          if (noted !== undefined && noted !== instead) return noted;
          this.#clusters.set(instance, cluster);
          // It is in the pipeline's document, so whoever read that before has lost.
          this.#pipeline = this.#stored('pipeline', this.#pipeline.value);
          return cluster;
        }),
    };
  }

  #statusView(): StatusStore {
    return {
      readPipeline: (signal) => this.#readPipeline(signal),
      readCheckpoints: (limit, signal) =>
        this.#call('readCheckpoints', signal, () => this.checkpoints.toReversed().slice(0, limit)),
      readRests: (limit, signal) => this.#call('readRests', signal, () => this.#restsBy(() => true, limit)),
      readLowest: (limit, signal) =>
        this.#call('readLowest', signal, () =>
          Array.from({ length: LANES }, (_, lane) => this.#headsIn(numbersOfLane(lane, 0, MAX_NUMBER), limit)).flat(),
        ),
      countBacklog: (signal) => this.#countBacklog(signal),
    };
  }

  #countBacklog(signal: AbortSignal): Promise<{ readonly backlog: Amount; readonly rests: Amount }> {
    return this.#call('countBacklog', signal, () => {
      const total = (heads: readonly (SegmentHead | RestHead)[]): Amount =>
        heads.length === 0 ? NO_AMOUNT : scaled(amountOf(heads.slice(0, 50)), heads.length);
      this.billed.reads += 2 + Math.min(50, this.#segments.size) + Math.min(50, this.#rests.size);
      return { backlog: total(this.segments), rests: total(this.rests) };
    });
  }

  #readPipeline(signal: AbortSignal): Promise<Versioned<PipelineState> | undefined> {
    return this.#call('readPipeline', signal, () => {
      this.billed.reads += 1;
      return this.#pipeline;
    });
  }

  /** A commit without preconditions, or with some that its own first time does not change. */
  #commit(method: string, signal: AbortSignal, apply: () => void): Promise<void> {
    return this.#call(method, signal, apply);
  }

  #call<Result>(method: string, signal: AbortSignal, work: (fault: StoreFault | undefined) => Result): Promise<Result> {
    return this.#calls.call(method, signal, work);
  }

  #idsIn(range: IdRange): readonly string[] {
    this.#order ??= [...this.#segments.keys()].sort();
    const first = firstAt(this.#order, range.from);
    return this.#order.slice(first, firstAt(this.#order, range.to)).filter((id) => this.#segments.has(id));
  }

  #headsIn(range: IdRange, limit: number): readonly SegmentHead[] {
    const found = this.#idsIn(range)
      .slice(0, limit)
      .flatMap((id) => this.#segments.get(id)?.head ?? []);
    this.billed.reads += Math.max(1, found.length);
    return found.filter(({ id }) => isInRange(id, range));
  }

  #restsBy(isWanted: (rest: RestHead) => boolean, limit: number): readonly RestHead[] {
    const found = this.rests
      .filter(isWanted)
      .toSorted((left, right) => left.tryAt - right.tryAt)
      .slice(0, limit);
    this.billed.reads += Math.max(1, found.length);
    return found;
  }

  #putCheckpoint(checkpoint: CheckpointState): void {
    this.#checkpoints.set(checkpoint.number, checkpoint);
    this.#wrote(`checkpoints/${checkpoint.number}`);
  }

  #stored<Value>(document: string, value: Value): Versioned<Value> {
    this.#wrote(document);
    this.#lastVersion += 1;
    return { value, version: String(this.#lastVersion) };
  }

  #wrote(document: string, writes = 1): void {
    this.billed.writes += writes;
    if (this.isLogging) this.log.push({ at: this.#clock.now(), document });
  }

  #deleted(document: string, deletes: number): void {
    this.billed.deletes += deletes;
    if (this.isLogging) this.log.push({ at: this.#clock.now(), document });
  }

  /** A mark may be of a checkpoint that was deleted. */
  #checkpoint(number: number): CheckpointState {
    return this.#checkpoints.get(number) ?? { number, completedAt: 0, amount: NO_AMOUNT, oldestStagedAt: 0 };
  }
}

const NO_PAYLOAD = Buffer.alloc(0);

/** The place of the first id that is not below `bound`, in ids in their order. */
function firstAt(ids: readonly string[], bound: string): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ids[middle] ?? '') < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
