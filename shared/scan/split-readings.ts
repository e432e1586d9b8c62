import { describeError } from '../base/logging.ts';
import type { Runtime } from '../base/runtime.ts';
import type { SlotSession } from '../slots/session.ts';
import { readSplit, type SplitEnding, type SplitPlace, type SplitReader } from './read-split.ts';
import type { RunWork, SlotTools } from './run-work.ts';
import type { HeldSplit, SplitWrite } from './runs/split.ts';
import { failSplit, finishSplit, moveSplit, returnSplit, type SplitProgress } from './runs/split-updates.ts';

/** When a session ends. */
export interface SessionEnd {
  /** Reading ends, and everything is given back. */
  readonly stop: AbortSignal;
  /** Whatever is not done by then is left as it is. */
  readonly end: AbortSignal;
}

/** What a session did. */
export interface SessionCounts {
  readonly splitsTaken: number;
  readonly splitsFinished: number;
  readonly splitsFailed: number;
  readonly commits: number;
}

export interface ReadingsDependencies {
  readonly session: SlotSession<HeldSplit, SplitWrite>;
  /** What the splits of a run are read with. Rejects where its options cannot be read, as of a newer format. */
  readonly workOf: (run: string, signal: AbortSignal) => Promise<RunWork>;
  readonly tools: SlotTools;
  readonly maxConcurrentSplits: number;
  readonly runtime: Runtime;
  readonly ending: SessionEnd;
  /** A split is read: there is room for another one. */
  readonly onRead: () => void;
  /** A split ended, and what it came to is written. */
  readonly onEnded: () => void;
}

/** A split that is being read, or whose end is being written. */
interface Reading {
  readonly held: HeldSplit;
  readonly reader: SplitReader;
  /** As it was said last. */
  place: SplitPlace;
  /** Ends this reading alone. */
  readonly cancel: AbortController;
  /** Nothing of it is read any more: its end is being written, and others are read meanwhile. */
  isRead: boolean;
}

/**
 * The splits that a slot reads at the same time, from the moment that its document holds them to the write that gives them
 * away. What must stay true: a split is read here only while the slot's document holds it; a position is written only
 * once all before it is confirmed; nothing is given back before nothing of it is on its way.
 */
export class SplitReadings {
  readonly counts = { splitsFinished: 0, splitsFailed: 0, commits: 0 };
  readonly #deps: ReadingsDependencies;
  readonly #readings = new Map<string, Reading>();
  readonly #works = new Map<string, Promise<RunWork>>();

  constructor(deps: ReadingsDependencies) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#readings.size;
  }

  /** Those of them whose end is not being written. */
  get #reading(): number {
    let count = 0;
    for (const { isRead } of this.#readings.values()) if (!isRead) count += 1;
    return count;
  }

  /** Whatever the slot has and nobody reads is read, as many at a time as may be; what it has no more is stopped. */
  async start(): Promise<void> {
    const { session, maxConcurrentSplits, ending } = this.#deps;
    const isOver = (): boolean => ending.stop.aborted || session.lost.aborted;
    for (const [id, { cancel }] of this.#readings) {
      // The document is the truth: what is not there is another's.
      if (!(id in session.units)) cancel.abort(new Error('the split is not of this slot any more'));
    }
    for (const [id, held] of Object.entries(session.units)) {
      if (this.#reading >= maxConcurrentSplits || isOver()) return;
      if (this.#readings.has(id)) continue;
      try {
        this.#read(id, held, await this.#workOf(held.run));
      } catch (error) {
        if (isOver()) return;
        await this.#write(id, { held, place: held }, { kind: 'failed', problem: describeError(error) });
      }
    }
  }

  /** How far every split came since the last commit, in one write; nothing where nothing moved. */
  async commit(): Promise<void> {
    const { session, runtime } = this.#deps;
    const came: (readonly [string, SplitProgress])[] = [];
    for (const [id, reading] of this.#readings) {
      const before = reading.place;
      const { place } = updated(reading);
      // One that is finished is written with its end.
      if (place !== before && place.range) came.push([id, progressOf(reading)]);
    }
    if (came.length === 0) return;
    try {
      const outcomes = await Promise.all(came.map(([id, progress]) => session.update(moveSplit(id, progress))));
      if (!outcomes.includes('written')) return;
      this.counts.commits += 1;
      runtime.metrics.count('positionsCommitted', came.length);
    } catch (error) {
      this.#onUnwritten(error);
    }
  }

  /** Splits of runs that are over are given back: nobody takes them. */
  async drop(isOver: (run: string) => boolean): Promise<void> {
    const { session, runtime } = this.#deps;
    const gone = Object.entries(session.units).filter(([, { run }]) => isOver(run));
    for (const [id] of gone) this.#readings.get(id)?.cancel.abort(new Error('the run is over'));
    await Promise.all(gone.flatMap(([id]) => this.#readings.get(id)?.reader.ended ?? []));
    const now = runtime.clock.now();
    await Promise.all(
      gone.map(([id]) => {
        const reading = this.#readings.get(id);
        this.#readings.delete(id);
        return session.update(returnSplit(id, reading && progressOf(updated(reading)), now));
      }),
    );
  }

  /** Readers stop, and what is on its way is waited for; then their last positions are written. */
  async drain(): Promise<void> {
    for (const { cancel } of this.#readings.values()) cancel.abort(new Error('the session is over'));
    await Promise.all([...this.#readings.values()].map(({ reader }) => reader.ended));
    await this.commit();
  }

  #workOf(run: string): Promise<RunWork> {
    const known = this.#works.get(run);
    if (known) return known;
    const made = this.#deps.workOf(run, this.#deps.ending.stop);
    this.#works.set(run, made);
    made.catch(() => {
      this.#works.delete(run);
    });
    return made;
  }

  #read(id: string, held: HeldSplit, work: RunWork): void {
    const { tools, runtime, session, ending } = this.#deps;
    const cancel = new AbortController();
    const stop = AbortSignal.any([ending.stop, cancel.signal, session.lost]);
    const end = AbortSignal.any([ending.end, session.lost]);
    const reader = readSplit({ id, held, work, tools, runtime, stop, end });
    const reading: Reading = { held, reader, place: held, cancel, isRead: false };
    this.#readings.set(id, reading);
    // What becomes of the split is written by itself, beside whatever else the slot does.
    reader.ended
      .then((ended) => {
        reading.isRead = true;
        this.#deps.onRead();
        return this.#ended(id, reading, ended);
      })
      .catch((error: unknown) => {
        this.#onUnwritten(error);
      });
  }

  /** What becomes of a split whose reading ended; one that was stopped with its session or its run is theirs to write. */
  async #ended(id: string, reading: Reading, ending: SplitEnding): Promise<void> {
    const { session, onEnded } = this.#deps;
    if (ending.kind === 'stopped' && (this.#deps.ending.stop.aborted || reading.cancel.signal.aborted)) {
      if (!(id in session.units) && this.#readings.get(id) === reading) this.#readings.delete(id);
      onEnded();
      return;
    }
    try {
      await this.#write(id, updated(reading), ending);
    } finally {
      if (this.#readings.get(id) === reading) this.#readings.delete(id);
      onEnded();
    }
  }

  /** The end of a split, or that it waits for another attempt, in one commit with the slot. */
  async #write(id: string, reading: Pick<Reading, 'held' | 'place'>, ending: SplitEnding): Promise<void> {
    const { session, runtime } = this.#deps;
    const progress = progressOf(reading);
    switch (ending.kind) {
      case 'stopped':
        // By the publisher, whose lease had nearly run out: it is read again from here.
        await session.update(moveSplit(id, progress));
        return;
      case 'finished':
        if ((await session.update(finishSplit(id, progress))) === 'written') this.counts.splitsFinished += 1;
        return;
      case 'failed': {
        const { clock, random, logger, metrics } = runtime;
        const { problem } = ending;
        metrics.count('splitFailures');
        logger.log('WARNING', 'a split failed; it is tried again from its position', { split: id, problem });
        const outcome = await session.update(failSplit(id, progress, problem, clock.now(), random));
        if (outcome === 'written') this.counts.splitsFailed += 1;
        return;
      }
      default:
        ending satisfies never;
    }
  }

  #onUnwritten(error: unknown): void {
    const { session, runtime, ending } = this.#deps;
    if (session.lost.aborted || ending.end.aborted) return;
    runtime.logger.log('ERROR', 'a slot could not write how far it came', { cause: describeError(error) });
  }
}

/** The reading with where it has come to since it was asked last. */
function updated(reading: Reading): Reading {
  reading.place = reading.reader.takePlace() ?? reading.place;
  return reading;
}

/** What is left of a split, and its counts. Of one that is finished the range says nothing any more. */
const progressOf = ({ held, place: { range, counts } }: Pick<Reading, 'held' | 'place'>): SplitProgress => ({
  range: range ?? held.range,
  counts,
});
