import type { Metrics } from '../../base/metrics.ts';
import { hasRunOut } from '../../slots/lease.ts';
import type { SlotRead } from '../../slots/ports.ts';
import type { RunView } from './decide-run.ts';
import type { HeldSplit } from './split.ts';

type Slots = ReadonlyMap<number, SlotRead<HeldSplit>>;

/**
 * Measures the runs of a pipeline by what its coordinator sees, so that a slot that is dead shows: it cannot tell so itself.
 * Of an instance, over all of its invocations.
 */
export class RunsWatch {
  readonly #parallelism: number;
  #slots: Slots = new Map();
  #runs: readonly RunView[] = [];
  /** Everything that moves while a run goes on. */
  #progress = '';
  #progressAt = 0;
  #now = 0;

  constructor(parallelism: number, metrics: Metrics) {
    this.#parallelism = parallelism;
    metrics.observe('splitsOpen', () => this.#splitsOpen());
    metrics.observe('slotsWanted', () => (this.#isReading() ? this.#parallelism : 0));
    metrics.observe('slotsHeld', () => this.#slotsHeld());
    metrics.observe('runProgressAge', () => (this.#isReading() ? this.#now - this.#progressAt : 0));
  }

  seesSlots(slots: Slots): void {
    this.#slots = slots;
  }

  seesRuns(runs: readonly RunView[], now: number): void {
    this.#runs = runs;
    this.#now = now;
    const progress = this.#fingerprint();
    if (progress === this.#progress && this.#isReading()) return;
    this.#progress = progress;
    this.#progressAt = now;
  }

  #isReading(): boolean {
    return this.#runs.some(({ read }) => read.value.state === 'reading');
  }

  #splitsOpen(): number {
    return this.#runs.reduce((sum, { read, ended = 0 }) => {
      const { state, plan } = read.value;
      return state === 'reading' && plan ? sum + plan.splits - ended : sum;
    }, 0);
  }

  #slotsHeld(): number {
    if (!this.#isReading()) return 0;
    return [...this.#slots.values()].filter((read) => read.value.owner !== '' && !hasRunOut(read)).length;
  }

  /** Which splits have ended and where the others are; renewals of leases are no progress. */
  #fingerprint(): string {
    const ended = this.#runs.map(({ read, ended: count }) => [read.value.id, read.value.state, count]);
    const positions = [...this.#slots.values()].map(({ value }) =>
      Object.entries(value.units).map(([id, { range }]) => [
        id,
        range.start.kind === 'unbounded' ? '' : range.start.key.toString('base64'),
      ]),
    );
    return JSON.stringify([ended, positions]);
  }
}
