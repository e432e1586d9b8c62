import { onAbort } from '../base/abort.ts';
import { abortReason } from '../base/clock.ts';
import { describeError } from '../base/logging.ts';
import { shareOf } from '../slots/choose-claims.ts';
import type { Claims } from '../slots/claims.ts';
import type { HeldPartition } from './ledger/partition.ts';
import type { PartitionClaims } from './partition-claims.ts';
import { PartitionReadings, type PartitionReadingsDependencies } from './partition-readings.ts';
import type { ChangeStreamStore, LedgerWrite, Source } from './ports.ts';
import { excess, isOwed, isShort, rotatable } from './rotation.ts';

/** A slot looks at the queue and at the other slots so often, with room or without. */
const LOOK_MILLIS = 5_000;

/** A slot that has had nothing to read for so long ends its session: its next attempt is a minute away. */
const IDLE_MILLIS = 15_000;

export interface StreamSlotDependencies extends Omit<PartitionReadingsDependencies, 'onEnded'> {
  readonly source: Source;
  readonly store: ChangeStreamStore;
  readonly claims: Claims<HeldPartition, LedgerWrite>;
  readonly queue: PartitionClaims;
  readonly parallelism: number;
  readonly commitIntervalMillis: number;
  /** What is left is about to be given back: behind the highest round that waits. */
  readonly onReleasing: (tailRound: number) => void;
}

/** What a session did, as it is answered. */
export interface SessionCounts {
  readonly partitionsTaken: number;
  readonly partitionsClosed: number;
  readonly partitionsFailed: number;
  readonly partitionsReturned: number;
}

/**
 * What a slot does with its time: takes partitions in their turn, reads them all at once, commits how far they came, makes room
 * for those that wait, gives its excess to slots that have less, and gives everything back when it is told to stop.
 */
export class StreamSlotWork {
  readonly #deps: StreamSlotDependencies;
  readonly #readings: PartitionReadings;
  #taken = 0;
  #isOurs = true;
  #nextLookAt = 0;
  #nextCommitAt: number;
  #busyAt: number;
  #wake: (() => void) | undefined;
  #isWoken = false;

  constructor(deps: StreamSlotDependencies) {
    this.#deps = deps;
    this.#readings = new PartitionReadings({
      ...deps,
      onEnded: () => {
        // There is room, and where it closed its successors wait.
        this.#nextLookAt = 0;
        deps.queue.forgetCount();
        this.#awake();
      },
    });
    const now = deps.runtime.clock.now();
    this.#nextCommitAt = now + deps.commitIntervalMillis;
    this.#busyAt = now;
  }

  get counts(): SessionCounts {
    return { partitionsTaken: this.#taken, ...this.#deps.ends.counts };
  }

  /** Works until it is told to stop, or the source is not read any more; then gives the slot back. Rejects where the slot is lost. */
  async run(): Promise<void> {
    const { session, ends, runtime, ending, commitIntervalMillis, onReleasing } = this.#deps;
    const { clock, metrics } = runtime;
    const forget = [ending.stop, ending.end, session.lost].map((signal) =>
      onAbort(signal, () => {
        this.#awake();
      }),
    );
    metrics.observe('activeChangeStreamReads', () => this.#readings.size);
    try {
      while (!this.#isOver() && this.#isOurs) {
        if (clock.now() >= this.#nextLookAt) await this.#look();
        this.#readings.start();
        if (clock.now() >= this.#nextCommitAt) {
          this.#nextCommitAt = clock.now() + commitIntervalMillis;
          await this.#tried('write how far it came', () => this.#readings.commit());
        }
        if (this.#isIdle()) break;
        await this.#sleep();
      }
      await this.#readings.drain();
      if (session.lost.aborted) throw abortReason(session.lost);
      const returned = Object.keys(session.units).length;
      if (returned > 0 && !ending.end.aborted) onReleasing(await ends.tailRound());
      await session.release();
      if (returned > 0) metrics.count('partitionsReturned', returned);
    } finally {
      for (const off of forget) off();
    }
  }

  /** Nothing is begun any more. */
  #isOver(): boolean {
    const { session, ending } = this.#deps;
    return ending.stop.aborted || ending.end.aborted || session.lost.aborted;
  }

  /** Nothing to read for a while, and nobody owes anything to this slot. */
  #isIdle(): boolean {
    const { session, runtime, claims, queue, parallelism } = this.#deps;
    const now = runtime.clock.now();
    const isOwing = isOwed(claims.others, shareOf(queue.open, parallelism));
    if (this.#readings.size > 0 || Object.keys(session.units).length > 0 || isOwing) {
      this.#busyAt = now;
      return false;
    }
    return now - this.#busyAt >= IDLE_MILLIS;
  }

  async #look(): Promise<void> {
    this.#nextLookAt = this.#deps.runtime.clock.now() + LOOK_MILLIS;
    await this.#tried('look for partitions', async () => {
      if (!(await this.#isRead())) return;
      await this.#makeRoom();
      await this.#claim();
    });
  }

  /** Whether the source is still what this session began with. */
  async #isRead(): Promise<boolean> {
    const { store, source, queue, ending } = this.#deps;
    const now = await store.readSource(ending.stop);
    this.#isOurs = now?.status === 'reading' && now.generation === source.generation;
    if (now && this.#isOurs) queue.sees(now);
    return this.#isOurs;
  }

  /** Gives back what others are to read: in turns where more wait than are read, and what is beyond this slot's share. */
  async #makeRoom(): Promise<void> {
    const { session, claims, queue, parallelism, runtime, ending } = this.#deps;
    if (await claims.lookAtSlots(ending.stop)) this.#nextLookAt = 0;
    const share = shareOf(await queue.countOpen(ending.stop), parallelism);
    const { residents, suspect } = this.#readings;
    const alone = suspect === undefined ? [] : Object.keys(session.units).filter((id) => id !== suspect);
    const beyond = excess(residents, claims.others, share);
    const tired = rotatable(residents, runtime.clock.now());
    const isFull = residents.length >= this.#deps.maxConcurrentStreams;
    const waiting = isFull && tired.length > 0 ? await queue.countWaiting(tired.length, ending.stop) : 0;
    const ids = new Set([...alone, ...beyond, ...tired.slice(0, waiting)]);
    if (ids.size > 0) this.#readings.giveBack([...ids], 'others are to read it');
  }

  async #claim(): Promise<void> {
    const { session, claims, queue, parallelism, maxConcurrentStreams, runtime, ending } = this.#deps;
    // What may end its readers is read alone.
    if (this.#readings.suspect !== undefined) return;
    // Where a slot at work has less than its share, what waits is for that one.
    const share = shareOf(queue.open, parallelism);
    const wanted = isShort(claims.others, share) ? Math.min(share, maxConcurrentStreams) : maxConcurrentStreams;
    const before = new Set(Object.keys(session.units));
    const look = await claims.look(queue, { wanted, concurrent: wanted }, ending.stop);
    if (look.hasMore) this.#nextLookAt = 0;
    if (look.taken === 0) return;
    this.#taken += look.taken;
    runtime.metrics.count('partitionsTaken', look.taken);
    const now = runtime.clock.now();
    for (const id of Object.keys(session.units)) {
      const since = before.has(id) ? undefined : queue.waitedSince(id);
      if (since !== undefined) runtime.metrics.record('handOverGap', Math.max(0, now - since));
    }
  }

  /** What fails now is tried again soon. */
  async #tried(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (this.#isOver()) return;
      const { logger } = this.#deps.runtime;
      logger.log('WARNING', `a slot could not ${what}; it tries again soon`, { cause: describeError(error) });
    }
  }

  #awake(): void {
    this.#isWoken = true;
    this.#wake?.();
  }

  /** Until something is due, or happened. */
  async #sleep(): Promise<void> {
    if (!this.#isWoken) {
      const { clock } = this.#deps.runtime;
      const { promise, resolve } = Promise.withResolvers<undefined>();
      this.#wake = () => {
        resolve(undefined);
      };
      const due = Math.min(this.#nextLookAt, this.#nextCommitAt);
      const cancel = clock.after(Math.max(1, due - clock.now()), this.#wake);
      await promise;
      cancel();
      this.#wake = undefined;
    }
    this.#isWoken = false;
  }
}
