import { type Clock, systemClock } from '../../shared/base/clock.ts';
import type { Ledger, Topology } from '../../shared/change-stream/ledger/ledger.ts';
import type { HeldPartition, Merge, Missing, Partition } from '../../shared/change-stream/ledger/partition.ts';
import { isOpen } from '../../shared/change-stream/ledger/partition.ts';
import type { LedgerWrite } from '../../shared/change-stream/ledger/writes.ts';
import type {
  ChangeStreamCoordinatorStore,
  ChangeStreamStatusStore,
  ChangeStreamStore,
  WaitingPartition,
} from '../../shared/change-stream/ports.ts';
import type { Source } from '../../shared/change-stream/source.ts';
import type { FencedCommit, Led } from '../../shared/coordinator/ports.ts';
import type { Version, Versioned } from '../../shared/model/store.ts';
import type { SlotCommit, SlotRead, SlotState } from '../../shared/slots/ports.ts';
import { type StoreCall, StoreCalls, type StoreFault } from './store-faults.ts';

interface Stored<Value> extends Versioned<Value> {
  readonly updatedAt: number;
}

type TickCommit = FencedCommit<Source, readonly LedgerWrite[]>;
type LedgerSlotCommit = SlotCommit<HeldPartition, LedgerWrite>;

/** What a commit of one attempt depends on, and what it does. */
interface Commit {
  readonly isPossible: () => boolean;
  readonly apply: () => void;
}

/**
 * The documents of one change stream in memory, behind all ports at once. It models what was measured of Firestore: a commit
 * happens whole or not at all, and perhaps once more by itself; every write makes a version that was never there, at a time
 * of the store's own clock; a lost answer tells nothing; every document read, written or deleted is billed, a fruitless query
 * or read as one, and a count as one for each thousand.
 */
export class MemoryChangeStreamStore {
  readonly billed = { reads: 0, writes: 0, deletes: 0 };
  readonly slots: ChangeStreamStore;
  readonly coordinator: ChangeStreamCoordinatorStore;
  readonly status: ChangeStreamStatusStore;
  /** Told of every commit of a slot that happens, before it does, with the document as it is then. */
  onSlotCommit: (commit: LedgerSlotCommit, before: SlotState<HeldPartition> | undefined) => void = () => undefined;
  /** Told of every commit of a coordinator that happens, before it does. */
  onTickCommit: (commit: TickCommit) => void = () => undefined;
  readonly #clock: Clock;
  readonly #calls: StoreCalls;
  #pipeline: Stored<Led<Source>> | undefined;
  #topology: Stored<number> | undefined;
  readonly #partitions = new Map<string, Stored<Partition>>();
  readonly #merges = new Map<string, Stored<Merge>>();
  readonly #missing = new Map<string, Stored<Missing>>();
  readonly #slots = new Map<number, Stored<SlotState<HeldPartition>>>();
  #lastVersion = 0;

  /** @param clock of the store: for update times, and for delays. */
  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
    this.#calls = new StoreCalls(clock);
    this.slots = this.#slotView();
    this.coordinator = this.#coordinatorView();
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

  get source(): Led<Source> | undefined {
    return this.#pipeline?.value;
  }

  slot(slot: number): SlotState<HeldPartition> | undefined {
    return this.#slots.get(slot)?.value;
  }

  /** Every partition by its own document, finished ones and those of other generations included. */
  get partitions(): readonly Partition[] {
    return [...this.#partitions.values()].map(({ value }) => value);
  }

  get merges(): readonly Merge[] {
    return [...this.#merges.values()].map(({ value }) => value);
  }

  get missing(): readonly Missing[] {
    return [...this.#missing.values()].map(({ value }) => value);
  }

  /** Everything of a generation as it is now, for checks: no call, and not billed. */
  ledger(generation: number): Ledger {
    const of = <Value extends { readonly generation: number }>(stored: ReadonlyMap<string, Stored<Value>>) =>
      [...stored.values()].filter(({ value }) => value.generation === generation);
    return {
      topology: this.#topologyNow(),
      partitions: of(this.#partitions).filter(({ value }) => isOpen(value) || isCompleted(value)),
      merges: of(this.#merges),
      missing: of(this.#missing),
      slots: this.#slotsNow(),
    };
  }

  #slotView(): ChangeStreamStore {
    return {
      readSlot: (slot, signal) =>
        this.#calls.call('readSlot', signal, () => {
          this.billed.reads += 1;
          return this.#slotNow(slot);
        }),
      readSlots: (signal) =>
        this.#calls.call('readSlots', signal, () => {
          this.billed.reads += Math.max(1, this.#slots.size);
          return this.#slotsNow();
        }),
      commit: (commit, signal) =>
        this.#commit('commitSlot', signal, this.#slotCommit(commit)).then((version) =>
          version === undefined ? { kind: 'conflict' } : { kind: 'committed', version },
        ),
      readSource: (signal) => this.#readPipeline(signal).then((read) => read?.value),
      readWaiting: (generation, now, limit, signal) =>
        this.#calls.call('readWaiting', signal, () => {
          const open = this.#waitingOf(generation);
          const rested = open
            .filter(({ partition: { state } }) => state.kind === 'resting' && state.notBefore <= now)
            .slice(0, limit);
          const waiting = open.filter(({ partition: { state } }) => state.kind === 'waiting').slice(0, limit);
          this.billed.reads += Math.max(1, rested.length) + Math.max(1, waiting.length);
          return [...rested, ...waiting].toSorted(inTurn).slice(0, limit);
        }),
      readTailRound: (generation, signal) =>
        this.#calls.call('readTailRound', signal, () => {
          this.billed.reads += 1;
          const waiting = this.#waitingOf(generation).filter(({ partition: { state } }) => state.kind === 'waiting');
          return waiting.reduce((most, { partition: { round } }) => Math.max(most, round), 0);
        }),
      countOpen: (generation, signal) =>
        this.#calls.call('countOpen', signal, () => {
          const open = this.#of(generation, isOpen);
          this.billed.reads += Math.max(1, Math.ceil(open.length / 1000));
          return open.length;
        }),
      readMerges: (ids, signal) =>
        this.#calls.call('readMerges', signal, () => {
          this.billed.reads += ids.length;
          return new Map(
            ids.flatMap((id) => {
              const merge = this.#merges.get(id);
              return merge ? [[id, merge] as const] : [];
            }),
          );
        }),
    };
  }

  #coordinatorView(): ChangeStreamCoordinatorStore {
    return {
      ...this.#ledgerReader(),
      readTopology: (signal) =>
        this.#calls.call('readTopology', signal, () => {
          this.billed.reads += 1;
          return this.#topologyNow();
        }),
      readCompleted: (generation, limit, signal) =>
        this.#calls.call('readCompleted', signal, () => this.#read(generation, isCompleted, limit)),
      readDead: (generation, limit, signal) =>
        this.#calls.call('readDead', signal, () => this.#read(generation, isOpen, limit).map(({ value }) => value.id)),
      commit: async (commit, signal) =>
        (await this.#commit('commitTick', signal, this.#tickCommit(commit))) === undefined ? 'conflict' : 'committed',
    };
  }

  #statusView(): ChangeStreamStatusStore {
    return {
      ...this.#ledgerReader(),
      write: async (pipeline, signal) =>
        (await this.#commit('write', signal, this.#tickCommit({ pipeline }))) === undefined ? 'conflict' : 'committed',
    };
  }

  #ledgerReader(): Pick<ChangeStreamCoordinatorStore, 'readPipeline' | 'readLedger' | 'readDone'> {
    return {
      readPipeline: (signal) => this.#readPipeline(signal),
      readLedger: (generation, signal) =>
        this.#calls.call('readLedger', signal, () => {
          const ledger = this.ledger(generation);
          const { partitions, merges, missing, slots } = ledger;
          const completed = partitions.filter(({ value }) => isCompleted(value)).length;
          for (const found of [partitions.length - completed, completed, merges.length, missing.length, slots.size]) {
            this.billed.reads += Math.max(1, found);
          }
          this.billed.reads += 1;
          return ledger;
        }),
      readDone: (generation, signal) =>
        this.#calls.call('readDone', signal, () =>
          this.#read(generation, ({ state }) => state.kind === 'done').map(({ value }) => value),
        ),
    };
  }

  #readPipeline(signal: AbortSignal): Promise<Versioned<Led<Source>> | undefined> {
    return this.#calls.call('readPipeline', signal, () => {
      this.billed.reads += 1;
      return this.#pipeline;
    });
  }

  #read(generation: number, is: (partition: Partition) => boolean, limit = Infinity): Stored<Partition>[] {
    const found = this.#of(generation, is).slice(0, limit);
    this.billed.reads += Math.max(1, found.length);
    return found;
  }

  #of(generation: number, is: (partition: Partition) => boolean): Stored<Partition>[] {
    return [...this.#partitions.values()].filter(({ value }) => value.generation === generation && is(value));
  }

  /** Those that wait or rest, in their turn. */
  #waitingOf(generation: number): WaitingPartition[] {
    return this.#of(generation, isOpen)
      .flatMap(({ value, version }): WaitingPartition[] => {
        const { state } = value;
        if (state.kind !== 'waiting' && state.kind !== 'resting') return [];
        return [{ partition: { ...value, state }, version }];
      })
      .toSorted(inTurn);
  }

  #topologyNow(): Topology {
    return { number: this.#topology?.value ?? 0, version: this.#topology?.version };
  }

  #slotsNow(): ReadonlyMap<number, SlotRead<HeldPartition>> {
    const numbers = [...this.#slots.keys()].toSorted((left, right) => left - right);
    return new Map(
      numbers.flatMap((slot) => {
        const read = this.#slotNow(slot);
        return read ? [[slot, read] as const] : [];
      }),
    );
  }

  #slotNow(slot: number): SlotRead<HeldPartition> | undefined {
    const stored = this.#slots.get(slot);
    return stored && { ...stored, readAt: this.#clock.now() };
  }

  #slotCommit(commit: LedgerSlotCommit): Commit {
    const { slot, version, value, changes } = commit;
    return {
      isPossible: () => this.#slots.get(slot)?.version === version && this.#arePossible(changes),
      apply: () => {
        this.onSlotCommit(commit, this.#slots.get(slot)?.value);
        this.#slots.set(slot, this.#stored(value));
        for (const change of changes) this.#apply(change);
      },
    };
  }

  #tickCommit(commit: TickCommit): Commit {
    const { pipeline, changes = [] } = commit;
    return {
      isPossible: () => this.#pipeline?.version === pipeline.version && this.#arePossible(changes),
      apply: () => {
        this.onTickCommit(commit);
        this.#pipeline = this.#stored(pipeline.value);
        for (const change of changes) this.#apply(change);
      },
    };
  }

  /** Each by itself, and no document twice but the topology: as a second write finds it, the first has changed it. */
  #arePossible(changes: readonly LedgerWrite[]): boolean {
    const names = changes.flatMap((write) => nameOf(write) ?? []);
    return new Set(names).size === names.length && changes.every((write) => this.#isPossible(write));
  }

  #isPossible(write: LedgerWrite): boolean {
    switch (write.kind) {
      case 'partition':
        return write.version === undefined || this.#partitions.get(write.partition.id)?.version === write.version;
      case 'new-partition':
        return !this.#partitions.has(write.partition.id);
      case 'merge':
        return this.#merges.get(write.merge.id)?.version === write.version;
      case 'merge-gone':
        return this.#merges.get(write.id)?.version === write.version;
      case 'missing':
        return this.#missing.get(write.missing.id)?.version === write.version;
      case 'missing-gone':
        return this.#missing.get(write.id)?.version === write.version;
      case 'topology-moved-from':
        return this.#topology?.version === write.version;
      case 'partition-gone':
      case 'topology-moved':
        return true;
      default:
        return write satisfies never;
    }
  }

  #apply(write: LedgerWrite): void {
    switch (write.kind) {
      case 'partition':
      case 'new-partition':
        this.#partitions.set(write.partition.id, this.#stored(write.partition));
        return;
      case 'partition-gone':
        this.#remove(this.#partitions, write.id);
        return;
      case 'merge':
        this.#merges.set(write.merge.id, this.#stored(write.merge));
        return;
      case 'merge-gone':
        this.#remove(this.#merges, write.id);
        return;
      case 'missing':
        this.#missing.set(write.missing.id, this.#stored(write.missing));
        return;
      case 'missing-gone':
        this.#remove(this.#missing, write.id);
        return;
      case 'topology-moved':
      case 'topology-moved-from':
        this.#topology = this.#stored((this.#topology?.value ?? 0) + 1);
        return;
      default:
        write satisfies never;
    }
  }

  #remove(documents: Map<string, unknown>, id: string): void {
    this.billed.deletes += 1;
    documents.delete(id);
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
}

/** Of a run that is not over. */
const isCompleted = ({ state }: Partition): boolean => state.kind === 'completed' && state.keptUntil === undefined;

function nameOf(write: LedgerWrite): string | undefined {
  switch (write.kind) {
    case 'partition':
    case 'new-partition':
      return `partitions/${write.partition.id}`;
    case 'partition-gone':
      return `partitions/${write.id}`;
    case 'merge':
      return `merges/${write.merge.id}`;
    case 'merge-gone':
      return `merges/${write.id}`;
    case 'missing':
      return `missing/${write.missing.id}`;
    case 'missing-gone':
      return `missing/${write.id}`;
    case 'topology-moved':
    case 'topology-moved-from':
      return undefined;
    default:
      return write satisfies never;
  }
}

function inTurn({ partition: left }: WaitingPartition, { partition: right }: WaitingPartition): number {
  const [ours, theirs] = [left.position.lowWatermark, right.position.lowWatermark];
  return left.round - right.round || (ours < theirs ? -1 : ours > theirs ? 1 : 0);
}
