import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { sleep } from '../../../shared/base/clock.ts';
import { createLogger } from '../../../shared/base/logging.ts';
import { createMetrics, type MetricsRegistry } from '../../../shared/base/metrics.ts';
import type { TickOutcome, Ticks } from '../../../shared/coordinator/tick.ts';
import { nextSlot, type PipelineRun, runTicks } from '../../../shared/coordinator/tick-loop.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { testRuntime } from '../../support/runtime.ts';

const START = Date.UTC(2026, 0, 1);
const DONE: TickOutcome = { kind: 'ticked', counts: { completed: 1 } };

class Pipeline implements Ticks {
  readonly name = 'orders';
  slotMillis = 10_000;
  takesTurns = false;
  ends = 0;
  /** Seconds since the start of every tick that began. */
  readonly ticks: number[] = [];
  releases = 0;
  running = 0;
  mostAtOnce = 0;
  readonly #clock: ManualClock;
  work: (tick: number, signal: AbortSignal) => Promise<TickOutcome> = () => Promise.resolve(DONE);
  giveBack: () => Promise<void> = () => Promise.resolve();

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  async tick(signal: AbortSignal): Promise<TickOutcome> {
    this.ticks.push((this.#clock.now() - START) / 1000);
    this.running += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.running);
    try {
      return await this.work(this.ticks.length, signal);
    } finally {
      this.running -= 1;
    }
  }

  end(): void {
    this.ends += 1;
  }

  async release(): Promise<void> {
    this.releases += 1;
    await this.giveBack();
  }
}

let clock: ManualClock;
let metrics: MetricsRegistry;
let lines: string[];
let pipeline: Pipeline;
let stop: AbortController;
let run: Promise<PipelineRun>;

function start(startMillis = 3_000): void {
  clock = new ManualClock(START + startMillis);
  metrics = createMetrics();
  lines = [];
  pipeline = new Pipeline(clock);
  stop = new AbortController();
}

const begin = (): void => {
  const logger = createLogger({}, (line) => lines.push(line));
  run = runTicks(pipeline, testRuntime({ clock, metrics, logger }), stop.signal);
};

beforeEach(() => {
  start();
});

test('ticks at once and at every slot for 55 s, then gives the lease back and sums up', async () => {
  begin();
  await clock.advance(60_000);
  expect(await run).toEqual({
    pipeline: 'orders',
    outcome: 'ticked',
    ticks: 6,
    failures: 0,
    counts: { completed: 6 },
  });
  expect(pipeline.ticks).toEqual([3, 10, 20, 30, 40, 50]);
  expect(pipeline.releases).toBe(1);
  expect(clock.pending).toBe(0);
  expect(metrics.snapshot().distributions.tickLatency?.count).toBe(6);
});

test('a pipeline with a shorter interval ticks as often', async () => {
  pipeline.slotMillis = 1_000;
  begin();
  await clock.advance(4_000);
  expect(pipeline.ticks).toEqual([3, 4, 5, 6, 7]);
  stop.abort();
  await clock.advance(0);
  await run;
});

test('where another has the lease, it ends at once and gives nothing back', async () => {
  pipeline.work = () => Promise.resolve({ kind: 'held', by: 'them', expiresAt: START + 20_000 });
  begin();
  await clock.advance(0);
  expect(await run).toMatchObject({ outcome: 'held', heldBy: 'them', ticks: 0 });
  expect(pipeline.releases).toBe(0);
  expect(metrics.snapshot().counters.leasesLost).toBeUndefined();
});

test('where others take turns, a lease that is held is left to them, and the next tick looks', async () => {
  pipeline.takesTurns = true;
  pipeline.work = (tick) => Promise.resolve(tick === 2 ? { kind: 'held', by: 'them', expiresAt: START } : DONE);
  begin();
  await clock.advance(60_000);
  expect(await run).toMatchObject({ outcome: 'ticked', ticks: 5 });
  expect(metrics.snapshot().counters.leasesLost).toBeUndefined();
});

test('whatever goes on beside the ticks ends with them, however they end', async () => {
  pipeline.work = () => Promise.resolve({ kind: 'held', by: 'them', expiresAt: START });
  begin();
  await clock.advance(0);
  await run;
  expect(pipeline.ends).toBe(1);
});

test('a lease that is lost on the way ends the run and is counted', async () => {
  pipeline.work = (tick) => Promise.resolve(tick < 3 ? DONE : { kind: 'held', by: 'them', expiresAt: START });
  begin();
  await clock.advance(60_000);
  expect(await run).toMatchObject({ outcome: 'held', heldBy: 'them', ticks: 2 });
  expect(pipeline.releases).toBe(0);
  expect(metrics.snapshot().counters.leasesLost).toBe(1);
});

test('a tick that fails is told, counted, and followed by the next one', async () => {
  pipeline.work = (tick) => (tick === 2 ? Promise.reject(new Error('the store is away')) : Promise.resolve(DONE));
  begin();
  await clock.advance(60_000);
  expect(await run).toMatchObject({ ticks: 5, failures: 1 });
  expect(pipeline.ticks).toHaveLength(6);
  expect(metrics.snapshot().counters.tickFailures).toBe(1);
  expect(lines.join('\n')).toContain('the store is away');
});

describe('a tick that hangs', () => {
  const hang = (signal: AbortSignal): Promise<TickOutcome> => sleep(clock, 1_000_000, signal).then(() => DONE);

  test('ends by itself before its slot does, and the slots go on', async () => {
    pipeline.work = (tick, signal) => (tick === 2 ? hang(signal) : Promise.resolve(DONE));
    begin();
    await clock.advance(60_000);
    expect(await run).toMatchObject({ ticks: 5, failures: 1 });
    expect(pipeline.ticks).toEqual([3, 10, 20, 30, 40, 50]);
    expect(lines.join('\n')).toContain('a tick took longer than 8000 ms');
  });

  test('skips short slots, and never runs beside another', async () => {
    pipeline.slotMillis = 1_000;
    pipeline.work = (tick, signal) => (tick === 2 ? hang(signal) : Promise.resolve(DONE));
    begin();
    await clock.advance(12_000);
    expect(pipeline.ticks).toEqual([3, 4, 13, 14, 15]);
    expect(pipeline.mostAtOnce).toBe(1);
    stop.abort();
    await clock.advance(0);
    await run;
  });
});

describe('a stop', () => {
  test('between ticks ends the run at once, and the lease is given back', async () => {
    begin();
    await clock.advance(12_000);
    stop.abort();
    await clock.advance(0);
    expect(await run).toMatchObject({ outcome: 'ticked', ticks: 2 });
    expect(pipeline.releases).toBe(1);
    expect(clock.pending).toBe(0);
  });

  test('in the middle of a tick lets it finish', async () => {
    pipeline.work = (_tick, signal) => sleep(clock, 500, signal).then(() => DONE);
    begin();
    await clock.advance(100);
    stop.abort();
    await clock.advance(500);
    expect(await run).toMatchObject({ ticks: 1, failures: 0 });
    expect(pipeline.releases).toBe(1);
  });
});

test('a lease that cannot be given back is told, and ends nothing else', async () => {
  pipeline.giveBack = () => Promise.reject(new Error('the store is away'));
  begin();
  await clock.advance(60_000);
  expect(await run).toMatchObject({ outcome: 'ticked', ticks: 6 });
  expect(lines.join('\n')).toContain('the lease was not given back');
});

test('the next slot is a boundary, ahead, and less than a slot away or one', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 41 }), fc.integer({ min: 1, max: 10_000 }), (now, slot) => {
      const next = nextSlot(now, slot);
      expect(next % slot).toBe(0);
      expect(next - now).toBeGreaterThan(0);
      expect(next - now).toBeLessThanOrEqual(slot);
    }),
  );
});
