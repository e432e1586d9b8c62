import { describeError } from '../base/logging.ts';
import type { Runtime } from '../base/runtime.ts';
import type { SlotSession } from '../slots/session.ts';
import type { HeldPartition, Position } from './ledger/partition.ts';
import { endsItsReader, movePartitions } from './ledger/partition-updates.ts';
import type { PartitionEnds } from './partition-ends.ts';
import type { LedgerWrite } from './ports.ts';
import { type PartitionPlace, type PartitionReader, readPartition } from './read-partition.ts';
import type { Resident } from './rotation.ts';
import type { OpenUnit, SessionEnd, StreamWork } from './stream-work.ts';

export interface PartitionReadingsDependencies {
  readonly session: SlotSession<HeldPartition, LedgerWrite>;
  readonly work: StreamWork;
  readonly openUnit: OpenUnit;
  readonly ends: PartitionEnds;
  readonly maxConcurrentStreams: number;
  readonly runtime: Runtime;
  readonly ending: SessionEnd;
  /** A reading ended and what became of it is written: there is room. */
  readonly onEnded: () => void;
}

interface Reading {
  readonly held: HeldPartition;
  readonly reader: PartitionReader;
  readonly since: number;
  readonly cancel: AbortController;
  /** Undefined: nothing was confirmed in this reading yet. */
  place: PartitionPlace | undefined;
  /** The last place that is written. */
  written: PartitionPlace | undefined;
  /** What becomes of it is being written. */
  isOver: boolean;
}

/**
 * The partitions that a slot reads, each from the moment when its document holds it to the write that gives it away. What must
 * stay true: a partition is read here only while the slot's document holds it; a position is written only once all before it is
 * confirmed; nothing is given away before nothing of it is on its way.
 */
export class PartitionReadings {
  readonly #deps: PartitionReadingsDependencies;
  readonly #readings = new Map<string, Reading>();
  /** Ends what is still on its way when the session has drained for long enough. */
  readonly #cut = new AbortController();
  #committedAt: number;

  constructor(deps: PartitionReadingsDependencies) {
    this.#deps = deps;
    this.#committedAt = deps.runtime.clock.now();
  }

  get size(): number {
    return this.#readings.size;
  }

  /** Partitions of which one may be what ends its readers is read alone. Undefined: there is no such one. */
  get suspect(): string | undefined {
    return Object.entries(this.#deps.session.units).find(([, held]) => endsItsReader(held))?.[0];
  }

  /** Those that are read now, with whether they got further here. */
  get residents(): readonly Resident[] {
    return [...this.#readings]
      .filter(([, { isOver, cancel }]) => !isOver && !cancel.signal.aborted)
      .map(([id, reading]) => ({ id, since: reading.since, hasMoved: placeOf(reading) !== undefined }));
  }

  /** Whatever the slot has and nobody reads is read; what it has no more is stopped. */
  start(): void {
    const { session, maxConcurrentStreams, ending } = this.#deps;
    for (const [id, { cancel }] of this.#readings) {
      // The document is the truth: what is not there is another's.
      if (!(id in session.units)) cancel.abort(new Error('the partition is not of this slot any more'));
    }
    const { suspect } = this;
    for (const [id, held] of Object.entries(session.units)) {
      if (this.#readings.size >= maxConcurrentStreams || ending.stop.aborted || session.lost.aborted) return;
      if (this.#readings.has(id)) continue;
      if (suspect !== undefined && (id !== suspect || this.#readings.size > 0)) continue;
      this.#read(id, held);
    }
  }

  /**
   * How far every partition came, in one write: at once where a change moved one, and else every minute, because heartbeats
   * come all the time.
   */
  async commit(isEveryMove = false): Promise<void> {
    const { session, runtime } = this.#deps;
    const now = runtime.clock.now();
    const moved = [...this.#readings].filter(([, reading]) => placeOf(reading) !== reading.written);
    const isBusy = moved.some(([, { place, written }]) => (place?.changes ?? 0) > (written?.changes ?? 0));
    const isDue = isEveryMove || isBusy || now - this.#committedAt >= QUIET_COMMIT_MILLIS;
    if (moved.length === 0 || !isDue) return;
    const places = moved.flatMap(([id, { place }]) => (place ? [[id, place] as const] : []));
    this.#committedAt = now;
    const positions = new Map<string, Position>(places.map(([id, { position }]) => [id, position]));
    if ((await session.update(movePartitions(positions))) !== 'written') return;
    for (const [id, place] of places) {
      const reading = this.#readings.get(id);
      if (reading) reading.written = place;
    }
    runtime.metrics.count('positionsCommitted', places.length);
  }

  /**
   * Those stop; each waits for another slot when nothing of it is on its way any more. Whatever the slot has of them and does
   * not read goes back as it is.
   */
  giveBack(ids: readonly string[], reason: string): void {
    const { runtime, ends } = this.#deps;
    for (const id of ids) {
      const reading = this.#readings.get(id);
      if (!reading) {
        ends.returned(id, undefined).catch((error: unknown) => {
          this.#onUnwritten(error);
        });
      } else if (!reading.isOver && !reading.cancel.signal.aborted) {
        runtime.metrics.count('readsCancelled');
        reading.cancel.abort(new Error(reason));
      }
    }
  }

  /**
   * Everything stops, and what is on its way is waited for, for some seconds; then the last positions are written. What is
   * on its way longer is handed on again from there, and changes no order.
   */
  async drain(): Promise<void> {
    const { runtime } = this.#deps;
    const reason = new Error('the session is over');
    const active = [...this.#readings.values()].filter(({ isOver, cancel }) => !isOver && !cancel.signal.aborted);
    if (active.length > 0) runtime.metrics.count('readsCancelled', active.length);
    for (const { cancel } of active) cancel.abort(reason);
    const cancelCut = runtime.clock.after(DRAIN_MILLIS, () => {
      this.#cut.abort(new Error('the session is over, and what was on its way took too long'));
    });
    await Promise.all([...this.#readings.values()].map(({ reader }) => reader.ended));
    cancelCut();
    await this.commit(true);
  }

  #read(id: string, held: HeldPartition): void {
    const { work, openUnit, runtime, session, ending } = this.#deps;
    const cancel = new AbortController();
    const reading: Reading = {
      ...{ held, cancel, since: runtime.clock.now(), place: undefined, written: undefined, isOver: false },
      reader: readPartition({
        ...{ held, work, openUnit, runtime },
        stop: AbortSignal.any([ending.stop, cancel.signal, session.lost]),
        end: AbortSignal.any([ending.end, session.lost, this.#cut.signal]),
      }),
    };
    this.#readings.set(id, reading);
    runtime.metrics.count('changeStreamReadsStarted');
    // What becomes of the partition is written by itself, beside whatever else the slot does.
    this.#follow(id, reading).catch((error: unknown) => {
      this.#onUnwritten(error);
    });
  }

  #onUnwritten(error: unknown): void {
    const { runtime, session, ending } = this.#deps;
    if (session.lost.aborted || ending.end.aborted || ending.stop.aborted) return;
    runtime.logger.log('ERROR', 'what became of a partition was not written', { cause: describeError(error) });
  }

  async #follow(id: string, reading: Reading): Promise<void> {
    const { ends, session, ending, onEnded } = this.#deps;
    const ended = await reader(reading);
    // With its session it is given back by the session's own last commit.
    if (ended.kind === 'stopped' && (ending.stop.aborted || session.lost.aborted)) return;
    reading.isOver = true;
    try {
      await ends.ended(id, reading.held, placeOf(reading)?.position, ended);
    } finally {
      if (this.#readings.get(id) === reading) this.#readings.delete(id);
      onEnded();
    }
  }
}

/** Where only heartbeats move positions they are written so often. */
const QUIET_COMMIT_MILLIS = 60_000;

/** Within 9 s of a SIGTERM everything is given back: so much of it is for what is on its way. */
const DRAIN_MILLIS = 4_000;

const reader = ({ reader: { ended } }: Reading): PartitionReader['ended'] => ended;

/** Where it has come to by now. */
function placeOf(reading: Reading): PartitionPlace | undefined {
  reading.place = reading.reader.takePlace() ?? reading.place;
  return reading.place;
}
