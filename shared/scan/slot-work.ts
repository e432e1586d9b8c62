import { onAbort } from '../base/abort.ts';
import { abortReason } from '../base/clock.ts';
import { describeError } from '../base/logging.ts';
import type { Claims, ClaimSource } from '../slots/claims.ts';
import { wantedUnits } from '../slots/choose-claims.ts';
import type { ScanStore } from './runs/ports.ts';
import type { Plan, Run } from './runs/run.ts';
import type { HeldSplit, SplitWrite } from './runs/split.ts';
import { splitClaims } from './runs/split-claims.ts';
import { type ReadingsDependencies, type SessionCounts, SplitReadings } from './split-readings.ts';

/** A slot with room looks for more so often. */
const LOOK_MILLIS = 5_000;

/** A slot without room looks for runs that somebody ended. */
const BUSY_LOOK_MILLIS = 10_000;

/** What was planned or ended just now is looked at so soon. */
const ADVANCE_MILLIS = 1_000;

/** A slot that has had nothing to do for so long ends its session: its next attempt is a minute away. */
const IDLE_MILLIS = 15_000;

export interface SlotWorkDependencies extends Omit<ReadingsDependencies, 'onRead' | 'onEnded'> {
  readonly claims: Claims<HeldSplit, SplitWrite>;
  readonly store: ScanStore;
  /** Plans and ends runs, where that is due. */
  readonly advance: (signal: AbortSignal) => Promise<void>;
  readonly commitIntervalMillis: number;
}

type ReadRun = Run & { readonly plan: Plan };

/**
 * What a slot does with its time: takes splits while it has room, reads several at once, commits how far they came every few
 * seconds, and gives everything back when it is told to stop or nothing is left.
 */
export class SlotWork {
  readonly #deps: SlotWorkDependencies;
  readonly #readings: SplitReadings;
  readonly #sources = new Map<string, ClaimSource<HeldSplit, SplitWrite>>();
  /** Runs that are read, by the last look. */
  #runs: readonly ReadRun[] = [];
  /** Whether there is a run for which something is left to do, if only to be planned. */
  #isAnyOpen = true;
  #splitsTaken = 0;
  #finishedBefore = 0;
  #nextLookAt = 0;
  #nextCommitAt: number;
  #busyAt: number;
  #wake: (() => void) | undefined;
  #isWoken = false;

  constructor(deps: SlotWorkDependencies) {
    this.#deps = deps;
    this.#readings = new SplitReadings({
      ...deps,
      onRead: () => {
        this.#awake();
      },
      onEnded: () => {
        // There is room, and others like it may be many.
        if (Object.keys(deps.session.units).length === 0) this.#nextLookAt = 0;
        this.#awake();
      },
    });
    const now = deps.runtime.clock.now();
    this.#nextCommitAt = now + deps.commitIntervalMillis;
    this.#busyAt = now;
  }

  get counts(): SessionCounts {
    return { splitsTaken: this.#splitsTaken, ...this.#readings.counts };
  }

  /** Works until it is told to stop or there is nothing to do; then gives the slot back. Rejects where the slot is lost. */
  async run(): Promise<void> {
    const { session, runtime, ending, commitIntervalMillis } = this.#deps;
    const { clock } = runtime;
    const forget = [ending.stop, ending.end, session.lost].map((signal) =>
      onAbort(signal, () => {
        this.#awake();
      }),
    );
    try {
      while (!this.#isOver()) {
        if (clock.now() >= this.#nextLookAt) await this.#look();
        await this.#readings.start();
        if (clock.now() >= this.#nextCommitAt) {
          this.#nextCommitAt = clock.now() + commitIntervalMillis;
          await this.#readings.commit();
        }
        if (this.#isIdle()) break;
        await this.#sleep();
      }
      await this.#readings.drain();
      if (session.lost.aborted) throw abortReason(session.lost);
      const returned = Object.keys(session.units).length;
      await session.release();
      if (returned > 0) runtime.metrics.count('splitsReturned', returned);
    } finally {
      for (const off of forget) off();
    }
  }

  /** Nothing is begun any more. */
  #isOver(): boolean {
    const { session, ending } = this.#deps;
    return ending.stop.aborted || ending.end.aborted || session.lost.aborted;
  }

  /** Nothing to read, and nothing came for a while. */
  #isIdle(): boolean {
    const { session, runtime } = this.#deps;
    const now = runtime.clock.now();
    if (this.#readings.size > 0 || Object.keys(session.units).length > 0) {
      this.#busyAt = now;
      return false;
    }
    return !this.#isAnyOpen || now - this.#busyAt >= IDLE_MILLIS;
  }

  /** Learns which runs are read, and takes more of their splits while there is room. A look that fails is made again soon. */
  async #look(): Promise<void> {
    const { session, store, runtime, advance, ending } = this.#deps;
    let pause = LOOK_MILLIS;
    try {
      const open = await store.readOpenRuns(ending.stop);
      this.#isAnyOpen = open.length > 0;
      this.#runs = open.map(({ value }) => value).filter(isRead);
      await this.#readings.drop((run) => !this.#runs.some(({ id }) => id === run));
      const hasMore = await this.#claim();
      const isEmpty = this.#readings.size === 0 && Object.keys(session.units).length === 0;
      if (hasMore) {
        pause = 0;
      } else if (isEmpty && this.#isAnyOpen) {
        // Perhaps the last split of a run is done, or a run waits for its plan.
        await advance(ending.stop);
        // Where all runs are read, others have what is left: that may take long.
        if (this.#runs.length < open.length) pause = ADVANCE_MILLIS;
      } else if (!this.#hasRoom()) {
        pause = BUSY_LOOK_MILLIS;
      }
    } catch (error) {
      if (this.#isOver()) return;
      runtime.logger.log('WARNING', 'a slot could not look for splits; it looks again soon', {
        cause: describeError(error),
      });
    }
    this.#nextLookAt = runtime.clock.now() + pause;
  }

  /** True: another look at once may find more. */
  async #claim(): Promise<boolean> {
    const { session, claims, runtime, maxConcurrentSplits, ending } = this.#deps;
    const { splitsFinished } = this.#readings.counts;
    const wanted = wantedUnits(maxConcurrentSplits, splitsFinished - this.#finishedBefore);
    this.#finishedBefore = splitsFinished;
    let hasMore = false;
    for (const run of this.#runs) {
      if (Object.keys(session.units).length >= wanted) break;
      const look = await claims.look(this.#sourceOf(run), { wanted, concurrent: maxConcurrentSplits }, ending.stop);
      if (look.taken > 0) runtime.metrics.count('splitsTaken', look.taken);
      this.#splitsTaken += look.taken;
      hasMore ||= look.hasMore;
    }
    return hasMore;
  }

  #sourceOf({ id, plan }: ReadRun): ClaimSource<HeldSplit, SplitWrite> {
    const known = this.#sources.get(id);
    if (known) return known;
    const { store, runtime } = this.#deps;
    const made = splitClaims(id, plan, { store, clock: runtime.clock });
    this.#sources.set(id, made);
    return made;
  }

  #hasRoom(): boolean {
    return Object.keys(this.#deps.session.units).length < this.#deps.maxConcurrentSplits;
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

const isRead = (run: Run): run is ReadRun => run.state === 'reading' && run.plan !== undefined;
