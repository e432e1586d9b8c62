import { type Clock, systemClock } from '../../shared/base/clock.ts';
import type { FencedCommit, Led } from '../../shared/coordinator/ports.ts';
import { StoreError, type Version, type Versioned } from '../../shared/model/store.ts';
import type {
  RunReader,
  RunsStore,
  ScanChanges,
  ScanCoordinatorStore,
  ScanProgress,
  ScanStore,
} from '../../shared/scan/runs/ports.ts';
import { isOpen, type Plan, type Run, type RunOptions } from '../../shared/scan/runs/run.ts';
import {
  type HeldSplit,
  placeOf,
  planOf,
  type Split,
  type SplitCounts,
  type SplitWrite,
  sumOfCounts,
  type WaitingSplit,
} from '../../shared/scan/runs/split.ts';
import type { SlotCommit, SlotRead, SlotState } from '../../shared/slots/ports.ts';
import { type StoreCall, StoreCalls, type StoreFault } from './store-faults.ts';

interface Stored<Value> extends Versioned<Value> {
  readonly updatedAt: number;
}

interface StoredSplit extends Stored<Split> {
  readonly expireAt?: number;
}

/** What a commit of one attempt depends on, and what it does. */
interface Commit {
  readonly isPossible: () => boolean;
  readonly apply: () => void;
}

/**
 * The documents of one scanned pipeline in memory, behind all ports at once. It models what was measured of Firestore:
 * a commit happens whole or not at all, and perhaps once more by itself; every write makes a version that was never there,
 * at a time of the store's own clock; a lost answer tells nothing; every document read, written or deleted is billed, a
 * fruitless query or read as one, and a count or sum as one for each thousand.
 */
export class MemoryScanStore {
  readonly billed = { reads: 0, writes: 0, deletes: 0 };
  readonly slots: ScanStore;
  readonly coordinator: ScanCoordinatorStore;
  readonly runs: RunsStore;
  /** Told of every commit of a slot that happens, before it does, with the document as it is then. */
  onSlotCommit: (commit: SlotCommit<HeldSplit, SplitWrite>, before: SlotState<HeldSplit> | undefined) => void = () =>
    undefined;
  /** Told of every commit of a coordinator that happens, before it does. */
  onTickCommit: (commit: FencedCommit<ScanProgress, ScanChanges>) => void = () => undefined;
  readonly #clock: Clock;
  readonly #calls: StoreCalls;
  #pipeline: Stored<Led<ScanProgress>> | undefined;
  readonly #runs = new Map<string, Stored<Run>>();
  readonly #options = new Map<string, RunOptions>();
  /** By run, then by id. */
  readonly #splits = new Map<string, Map<string, StoredSplit>>();
  readonly #slots = new Map<number, Stored<SlotState<HeldSplit>>>();
  #lastVersion = 0;

  /** @param clock of the store: for update times, and for delays. */
  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
    this.#calls = new StoreCalls(clock);
    this.slots = this.#slotView();
    this.coordinator = this.#coordinatorView();
    this.runs = this.#runsView();
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

  get pipeline(): Led<ScanProgress> | undefined {
    return this.#pipeline?.value;
  }

  run(id: string): Run | undefined {
    return this.#runs.get(id)?.value;
  }

  slot(slot: number): SlotState<HeldSplit> | undefined {
    return this.#slots.get(slot)?.value;
  }

  /** Every split of a run, dead plans included, by its own document. */
  splitsOf(run: string): readonly Split[] {
    return [...(this.#splits.get(run)?.values() ?? [])].map(({ value }) => value);
  }

  /** Those that have an expiry. */
  expiringOf(run: string): readonly string[] {
    return [...(this.#splits.get(run) ?? [])].filter(([, { expireAt }]) => expireAt !== undefined).map(([id]) => id);
  }

  #slotView(): ScanStore {
    return {
      ...this.#runReader(),
      readSlot: (slot, signal) =>
        this.#calls.call('readSlot', signal, () => {
          this.billed.reads += 1;
          return this.#readSlot(slot);
        }),
      readSlots: (signal) => this.#readSlots(signal),
      commit: (commit, signal) =>
        this.#commit('commitSlot', signal, this.#slotCommit(commit)).then((isDone) =>
          isDone ? { kind: 'committed', version: isDone } : { kind: 'conflict' },
        ),
      readWaiting: (run, plan, now, limit, signal) =>
        this.#calls.call('readWaiting', signal, () => {
          const found = this.#waitingOf(run, plan)
            .filter(({ split }) => split.state.since <= now)
            .slice(0, limit);
          this.billed.reads += Math.max(1, found.length);
          return found;
        }),
    };
  }

  #coordinatorView(): ScanCoordinatorStore {
    return {
      ...this.#runReader(),
      readPipeline: (signal) => this.#readPipeline(signal),
      commit: async (commit, signal) =>
        (await this.#commit('commitTick', signal, this.#tickCommit(commit))) ? 'committed' : 'conflict',
      readSlots: (signal) => this.#readSlots(signal),
      sumCounts: (run, signal) => this.#sumCounts(run, signal),
    };
  }

  #runsView(): RunsStore {
    return {
      ...this.#runReader(),
      readPipeline: (signal) => this.#readPipeline(signal),
      readRun: (run, signal) =>
        this.#calls.call('readRun', signal, () => {
          this.billed.reads += 1;
          return this.#runs.get(run);
        }),
      start: async (pipeline, run, options, signal) => {
        const isDone = await this.#commit('start', signal, {
          isPossible: () => this.#pipeline?.version === pipeline.version && !this.#runs.has(run.id),
          apply: () => {
            this.#pipeline = this.#stored(pipeline.value);
            this.#runs.set(run.id, this.#stored(run));
            this.#options.set(run.id, options);
          },
        });
        return isDone ? 'committed' : 'conflict';
      },
      write: async ({ version, run }, signal) => {
        const isDone = await this.#commit('writeRun', signal, {
          isPossible: () => this.#runs.get(run.id)?.version === version,
          apply: () => this.#runs.set(run.id, this.#stored(run)),
        });
        return isDone ? 'committed' : 'conflict';
      },
      listRuns: (limit, signal) =>
        this.#calls.call('listRuns', signal, () => {
          const runs = [...this.#runs.values()].map(({ value }) => value);
          const found = runs.toSorted((left, right) => right.startedAt - left.startedAt).slice(0, limit);
          this.billed.reads += Math.max(1, found.length);
          return found;
        }),
      countWaiting: (run, plan, signal) =>
        this.#calls.call('countWaiting', signal, () => {
          return this.#count(run, plan, ['waiting']);
        }),
      sumCounts: (run, signal) => this.#sumCounts(run, signal),
      readSlots: (signal) => this.#readSlots(signal),
      readSplits: (run, ids, signal) =>
        this.#calls.call('readSplits', signal, () => {
          this.billed.reads += ids.length;
          return ids.flatMap((id) => this.#splits.get(run)?.get(id)?.value ?? []);
        }),
      readFailing: (run, limit, signal) =>
        this.#calls.call('readFailing', signal, () => {
          const failing = this.splitsOf(run).filter(({ failures }) => failures > 0);
          const found = failing.toSorted((left, right) => right.failures - left.failures).slice(0, limit);
          this.billed.reads += Math.max(1, found.length);
          return found;
        }),
    };
  }

  #runReader(): RunReader {
    return {
      readOpenRuns: (signal) =>
        this.#calls.call('readOpenRuns', signal, () => {
          const open = [...this.#runs.values()].filter(({ value }) => isOpen(value));
          this.billed.reads += Math.max(1, open.length);
          return open.toSorted((left, right) => left.value.startedAt - right.value.startedAt);
        }),
      readOptions: (run, signal) => this.#readOptions(run, signal),
      countEnded: (run, plan, signal) =>
        this.#calls.call('countEnded', signal, () => this.#count(run, plan, ['done', 'failed'])),
      countFailed: (run, plan, signal) =>
        this.#calls.call('countFailed', signal, () => this.#count(run, plan, ['failed'])),
    };
  }

  #readPipeline(signal: AbortSignal): Promise<Versioned<Led<ScanProgress>> | undefined> {
    return this.#calls.call('readPipeline', signal, () => {
      this.billed.reads += 1;
      return this.#pipeline;
    });
  }

  #readOptions(run: string, signal: AbortSignal): Promise<RunOptions> {
    return this.#calls.call('readOptions', signal, () => {
      this.billed.reads += 1;
      const options = this.#options.get(run);
      if (options === undefined) throw new StoreError('read the options of a run', 'NOT_FOUND', run);
      return options;
    });
  }

  #readSlots(signal: AbortSignal): Promise<ReadonlyMap<number, SlotRead<HeldSplit>>> {
    return this.#calls.call('readSlots', signal, () => {
      this.billed.reads += Math.max(1, this.#slots.size);
      return new Map([...this.#slots.keys()].toSorted().flatMap((slot) => this.#slotEntry(slot)));
    });
  }

  #slotEntry(slot: number): [number, SlotRead<HeldSplit>][] {
    const read = this.#readSlot(slot);
    return read ? [[slot, read]] : [];
  }

  #readSlot(slot: number): SlotRead<HeldSplit> | undefined {
    const stored = this.#slots.get(slot);
    return stored && { ...stored, readAt: this.#clock.now() };
  }

  #sumCounts(run: string, signal: AbortSignal): Promise<SplitCounts> {
    return this.#calls.call('sumCounts', signal, () => {
      const splits = this.splitsOf(run);
      for (let name = 0; name < 6; name += 1) this.#aggregated(splits.length);
      return sumOfCounts(splits.map(({ counts }) => counts));
    });
  }

  #count(run: string, plan: Plan, kinds: readonly Split['state']['kind'][]): number {
    const counted = this.splitsOf(run).filter(({ id, state }) => planOf(id) === plan.id && kinds.includes(state.kind));
    this.#aggregated(counted.length);
    return counted.length;
  }

  #waitingOf(run: string, plan: Plan): WaitingSplit[] {
    return [...(this.#splits.get(run)?.values() ?? [])]
      .flatMap(({ value: split, version }) =>
        planOf(split.id) === plan.id && split.state.kind === 'waiting'
          ? [{ split: { ...split, state: split.state }, version }]
          : [],
      )
      .toSorted(
        ({ split: left }, { split: right }) =>
          left.state.since - right.state.since || placeOf(left.id) - placeOf(right.id),
      );
  }

  #slotCommit(commit: SlotCommit<HeldSplit, SplitWrite>): Commit {
    const { slot, version, value, changes } = commit;
    return {
      isPossible: () =>
        this.#slots.get(slot)?.version === version &&
        changes.every(
          ({ split, version: expected }) =>
            expected === undefined || this.#splits.get(split.run)?.get(split.id)?.version === expected,
        ),
      apply: () => {
        this.onSlotCommit(commit, this.#slots.get(slot)?.value);
        this.#slots.set(slot, this.#stored(value));
        for (const { split } of changes) this.#putSplit(split);
      },
    };
  }

  #tickCommit(commit: FencedCommit<ScanProgress, ScanChanges>): Commit {
    const { pipeline, changes } = commit;
    const { runs = [], planned = [], expiring = [], slots = [] } = changes ?? {};
    const taken = slots.map((slot) => this.#slotCommit(slot));
    return {
      isPossible: () =>
        this.#pipeline?.version === pipeline.version &&
        runs.every(({ version, run }) => this.#runs.get(run.id)?.version === version) &&
        planned.every((split) => !this.#splits.get(split.run)?.has(split.id)) &&
        taken.every(({ isPossible }) => isPossible()),
      apply: () => {
        this.onTickCommit(commit);
        this.#pipeline = this.#stored(pipeline.value);
        for (const { run } of runs) this.#runs.set(run.id, this.#stored(run));
        for (const split of planned) this.#putSplit(split);
        for (const { run, ids, expireAt } of expiring) {
          for (const id of ids) this.#expire(run, id, expireAt);
        }
        for (const { apply } of taken) apply();
      },
    };
  }

  #putSplit(split: Split): void {
    const splits = this.#splits.get(split.run) ?? new Map<string, StoredSplit>();
    this.#splits.set(split.run, splits);
    const { expireAt } = splits.get(split.id) ?? {};
    splits.set(split.id, { ...this.#stored(split), ...(expireAt !== undefined && { expireAt }) });
  }

  #expire(run: string, id: string, expireAt: number): void {
    const split = this.#splits.get(run)?.get(id);
    if (split) this.#splits.get(run)?.set(id, { ...this.#stored(split.value), expireAt });
  }

  /** The version that the commit made; undefined where something was no longer as it was read. */
  #commit(method: string, signal: AbortSignal, { isPossible, apply }: Commit): Promise<Version | undefined> {
    return this.#calls.call(method, signal, (fault) => {
      if (fault === 'conflict' || !isPossible()) return undefined;
      // One version for all that a commit writes, as it is one time in Firestore.
      this.#lastVersion += 1;
      apply();
      return String(this.#lastVersion);
    });
  }

  #stored<Value>(value: Value): Stored<Value> {
    this.billed.writes += 1;
    return { value, version: String(this.#lastVersion), updatedAt: this.#clock.now() };
  }

  #aggregated(entries: number): void {
    this.billed.reads += Math.max(1, Math.ceil(entries / 1000));
  }
}
