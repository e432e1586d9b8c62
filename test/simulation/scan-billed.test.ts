import { expect, test } from 'vitest';
import { sleep } from '../../shared/base/clock.ts';
import { createTicks } from '../../shared/coordinator/tick.ts';
import { runTicks } from '../../shared/coordinator/tick-loop.ts';
import { createEmission } from '../../shared/emission/emission.ts';
import { prefixRange, type RowRange } from '../../shared/model/row-range.ts';
import type { ReadEvent } from '../../shared/scan/reading/read-event.ts';
import { readSlot } from '../../shared/scan/read-slot.ts';
import type { RunWork } from '../../shared/scan/run-work.ts';
import { scanDecider } from '../../shared/scan/runs/scan-decider.ts';
import { bytesOfSplit, waitingSplit } from '../../shared/scan/runs/split-updates.ts';
import { startRun } from '../../shared/scan/runs/start-run.ts';
import { sessionEnd } from '../../shared/slots/session-end.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryScanStore } from '../support/memory-scan-store.ts';
import { testRuntime } from '../support/runtime.ts';
import { remote } from './support/pool.ts';
import { SimulatedProcess } from './support/process.ts';

/** What a scan costs of Firestore where nothing fails: counted by the store, at the pace of a scan, in virtual time. */

const SESSION_MILLIS = 600_000;
const DIGITS = 8;

interface Load {
  readonly splits: number;
  readonly rowsPerSplit: number;
  readonly slots: number;
  /** Of one stream. */
  readonly rowsPerSecond: number;
}

class Scan {
  readonly clock = new ManualClock(Date.UTC(2026, 0, 1));
  readonly store = new MemoryScanStore(this.clock);
  readonly #load: Load;
  readonly #stop = new AbortController();
  #owners = 0;

  constructor(load: Load) {
    this.#load = load;
  }

  async start(): Promise<void> {
    const request = { id: 'r1', options: () => '{}', concurrentRuns: 'refuse' } as const;
    await startRun(request, { store: this.store.runs, clock: this.clock }, this.#stop.signal);
  }

  /** The scheduler: posts to each slot and to the coordinator at every full minute, and to a slot that is at work after it. */
  schedule(): void {
    const next = (): void => {
      if (!this.#stop.signal.aborted) this.clock.after(60_000, next);
      this.#coordinate();
    };
    next();
    for (let slot = 0; slot < this.#load.slots; slot += 1) this.#attempt(slot);
  }

  end(): void {
    this.#stop.abort(new Error('enough'));
  }

  get isDone(): boolean {
    const run = this.store.run('r1');
    return run?.state === 'done' && run.isTold && run.dead.length === 0;
  }

  get operations(): number {
    const { reads, writes, deletes } = this.store.billed;
    return reads + writes + deletes;
  }

  #attempt(slot: number): void {
    if (this.#stop.signal.aborted) return;
    const again = (): void => {
      this.clock.after(60_000 - (this.clock.now() % 60_000), () => {
        this.#attempt(slot);
      });
    };
    this.#read(slot).then(again, again);
  }

  #process(): SimulatedProcess {
    return new SimulatedProcess(
      this.clock,
      () => 0.5,
      0,
      () => undefined,
    );
  }

  #ticks(process: SimulatedProcess) {
    const store = remote(process, this.store.coordinator);
    const runtime = testRuntime({ clock: this.clock });
    const decider = scanDecider('export', {
      store,
      runtime,
      planRanges: () => Promise.resolve(Array.from({ length: this.#load.splits }, (_, split) => prefixOf(split))),
      newPlanId: () => '0123456789abcdef',
      announce: () => Promise.resolve(),
    });
    return createTicks(decider, { store, clock: this.clock, owner: `owner-${(this.#owners += 1)}` });
  }

  #coordinate(): void {
    const runtime = testRuntime({ clock: this.clock });
    runTicks(this.#ticks(this.#process()), runtime, this.#stop.signal).catch(() => undefined);
  }

  async #read(slot: number): Promise<void> {
    const process = this.#process();
    const { signal: end } = this.#stop;
    const stop = new AbortController();
    const now = this.clock.now();
    const cancel = this.clock.after(sessionEnd(slot, SESSION_MILLIS, now) - now, () => {
      stop.abort(new Error('the session ends'));
    });
    const ticks = this.#ticks(process);
    const runtime = testRuntime({ clock: this.clock });
    try {
      await readSlot(
        {
          ...{ slot, owner: `reader-${(this.#owners += 1)}`, runtime },
          store: remote(process, this.store.slots),
          giveBack: waitingSplit,
          bytesOf: bytesOfSplit,
          async advance(signal) {
            await ticks.tick(signal);
          },
          workOf: () => Promise.resolve(this.#work()),
          toolsFor(session) {
            const emission = createEmission({
              send: () => Promise.resolve({ kind: 'confirmed' }),
              runtime,
              remainingMillis: () => session.remainingMillis(),
              signal: end,
              maxOutstandingBytes: 1e9,
            });
            return {
              openUnit: (options) => emission.open(options),
              fileLetter: () => Promise.resolve(),
              close: () => {
                emission.close();
              },
            };
          },
          parallelism: this.#load.slots,
          commitIntervalMillis: 5_000,
          maxConcurrentSplits: 4,
        },
        { stop: stop.signal, end },
      );
    } finally {
      cancel();
      await ticks.release(end).catch(() => undefined);
    }
  }

  #work(): RunWork {
    const { rowsPerSplit, rowsPerSecond } = this.#load;
    const { clock } = this;
    return {
      run: 'r1',
      form: undefined,
      unit: { topic: 'projects/p/topics/t', maxRecordsPerMessage: 1, oversizedMessage: 'fail', failurePolicy: 'fail' },
      orderingKeyOf: () => undefined,
      oversizedRow: 'fail',
      async *open(range, signal) {
        const { start } = range;
        const key = start.kind === 'unbounded' ? '' : start.key.toString();
        const prefix = key.slice(0, PREFIX_LENGTH);
        let next = start.kind === 'open' ? Number(key.slice(PREFIX_LENGTH)) + 1 : 0;
        while (next < rowsPerSplit) {
          const page = Math.min(500, rowsPerSplit - next);
          await sleep(clock, (page / rowsPerSecond) * 1000, signal);
          yield Array.from({ length: page }, (_, index): ReadEvent => {
            const rowKey = Buffer.from(prefix + String(next + index).padStart(DIGITS, '0'));
            return { kind: 'row', row: { key: rowKey, cells: [], bytes: 100 } };
          });
          next += page;
        }
      },
    };
  }
}

const PREFIX_LENGTH = 8;
const prefixOf = (split: number): RowRange =>
  prefixRange(Buffer.from(`${String(split).padStart(PREFIX_LENGTH - 1, '0')}#`));

async function scanned(load: Load): Promise<{ readonly scan: Scan; readonly millis: number }> {
  const scan = new Scan(load);
  await scan.start();
  const startedAt = scan.clock.now();
  scan.schedule();
  while (!scan.isDone && scan.clock.now() - startedAt < 3_600_000) await scan.clock.advance(1_000);
  const millis = scan.clock.now() - startedAt;
  scan.end();
  await scan.clock.advance(60_000);
  expect(scan.store.run('r1')).toMatchObject({ state: 'done', totals: { rows: load.splits * load.rowsPerSplit } });
  return { scan, millis };
}

test('a million rows in 64 splits cost at most 1,000 operations of Firestore, the plan and the expiry of the splits included', async () => {
  const { scan } = await scanned({ splits: 64, rowsPerSplit: 15_625, slots: 4, rowsPerSecond: 1_500 });
  expect(scan.operations).toBeLessThanOrEqual(1_000);
}, 60_000);

test('4,000 prefixes of a few rows each are read within a minute by four slots, with at most six operations each', async () => {
  const { scan, millis } = await scanned({ splits: 4_000, rowsPerSplit: 3, slots: 4, rowsPerSecond: 300 });
  expect(scan.operations).toBeLessThanOrEqual(6 * 4_000);
  expect(millis).toBeLessThan(60_000);
  // Hundreds of them are claimed, and end, with one write of their slot.
  const commits = scan.store.calls.filter(({ method }) => method === 'commitSlot').length;
  expect(commits).toBeLessThan(4_000 / 10);
}, 60_000);

test('an idle slot costs at most 150 operations an hour, and with no run its coordinator one a tick', async () => {
  const scan = new Scan({ splits: 1, rowsPerSplit: 1, slots: 1, rowsPerSecond: 1 });
  scan.schedule();
  await scan.clock.advance(3_600_000 - 1);
  scan.end();
  await scan.clock.advance(60_000);
  const { reads, writes } = scan.store.billed;
  const ticks = 6 * 60;
  expect(writes).toBe(0);
  expect(reads - ticks).toBeLessThanOrEqual(150);
});
