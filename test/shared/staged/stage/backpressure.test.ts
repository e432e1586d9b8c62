import { describe, expect, test } from 'vitest';
import { RedeliverError } from '../../../../shared/base/errors.ts';
import { createLogger } from '../../../../shared/base/logging.ts';
import { createMetrics } from '../../../../shared/base/metrics.ts';
import { Backpressure } from '../../../../shared/staged/stage/backpressure.ts';
import { type Weight, weightOf } from '../../../../shared/staged/stage/backlog-view.ts';
import { BYTES_PER_ENTRY } from '../../../../shared/staged/state.ts';
import type { PipelineState } from '../../../../shared/staged/state.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { testRuntime } from '../../../support/runtime.ts';

const CAPS = { maxStagedEntries: 10, maxStagedBytes: 10_000 };
const START = Date.UTC(2026, 0, 1);

const counted = (envelopes: number, bytes: number, countedAt: number): PipelineState => ({
  lease: { owner: 'c', epoch: 1, expiresAt: countedAt },
  lastCheckpoint: 1,
  lastCompletedAt: countedAt,
  backlog: { segments: 1, envelopes, bytes },
  countedAt,
});

function setUp(first?: PipelineState) {
  const clock = new ManualClock(START);
  const metrics = createMetrics();
  const lines: string[] = [];
  const reads = { count: 0, answer: (): Promise<PipelineState | undefined> => Promise.resolve(first) };
  const backpressure = new Backpressure(CAPS, {
    store: {
      readPipeline: () => {
        reads.count += 1;
        return reads.answer();
      },
    },
    runtime: testRuntime({ clock, metrics, logger: createLogger({}, (line) => lines.push(line)) }),
  });
  const refusal = (): RedeliverError | undefined => {
    try {
      backpressure.admit();
      return undefined;
    } catch (error) {
      if (error instanceof RedeliverError) return error;
      throw error;
    }
  };
  /** A read is under way once something was admitted. */
  const look = async (): Promise<void> => {
    refusal();
    await clock.advance(0);
  };
  const stage = (weight: Weight): Promise<void> => backpressure.during(weight, () => Promise.resolve());
  return { clock, metrics, lines, reads, backpressure, refusal, look, stage };
}

const entries = (count: number): Weight => ({ entries: count, bytes: count * BYTES_PER_ENTRY });

describe('the caps', () => {
  test('turn a message away at the count of the coordinator, naming both', async () => {
    const { look, refusal, metrics } = setUp(counted(10, 100, START));
    await look();
    const error = refusal();
    expect(error?.reason).toBe('backlog');
    expect(error?.message).toContain('10 entries of at most 10 (maxStagedEntries)');
    expect(error?.message).toContain('2660 bytes of at most 10000 (maxStagedBytes)');
    expect(metrics.snapshot()).toMatchObject({
      counters: { backlogRefusals: 1 },
      gauges: { stagedEntries: 10, stagedBytes: 2660 },
    });
  });

  test.each([
    [counted(9, 10_000 - 9 * BYTES_PER_ENTRY - 1, START), true],
    [counted(9, 10_000 - 9 * BYTES_PER_ENTRY, START), false],
    [counted(10, 0, START), false],
  ])('admit below them and not at them: %#', async (state, isAdmitted) => {
    const { look, refusal } = setUp(state);
    await look();
    expect(refusal() === undefined).toBe(isAdmitted);
  });

  test('admit a message that is larger than they are, onto an empty backlog', async () => {
    const { look, refusal, stage } = setUp(counted(0, 0, START));
    await look();
    expect(refusal()).toBeUndefined();
    await stage({ entries: 50, bytes: 50_000 });
    expect(refusal()?.reason).toBe('backlog');
  });

  test('weigh a request and 256 bytes for each', () => {
    expect(weightOf([{ request: Buffer.alloc(10) }, { request: Buffer.alloc(20) }])).toEqual({
      entries: 2,
      bytes: 542,
    });
  });
});

describe('what this instance stages', () => {
  test('counts at once, while it is being stored, without a coordinator too', async () => {
    const { look, refusal, backpressure } = setUp(undefined);
    await look();
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const staging = backpressure.during(entries(10), async () => {
      await promise;
    });
    expect(refusal()?.reason).toBe('backlog');
    resolve(undefined);
    await staging;
    expect(refusal()?.reason).toBe('backlog');
  });

  test('is the coordinator’s to count once a count is later for certain', async () => {
    const { clock, reads, look, refusal, stage } = setUp(undefined);
    await stage(entries(10));
    reads.answer = () => Promise.resolve(counted(4, 0, START + 2000));
    await look();
    // The count may have begun before: both are held against the cap.
    expect(refusal()?.message).toContain('14 entries');
    await clock.advance(5000);
    reads.answer = () => Promise.resolve(counted(4, 0, START + 4000));
    await look();
    expect(refusal()).toBeUndefined();
  });

  test('and is given up may be there, but what the store refused is not', async () => {
    const { refusal, backpressure } = setUp(undefined);
    const ends = (reason: 'staging' | 'deadline'): Promise<void> =>
      backpressure.during(entries(10), () => Promise.reject(new RedeliverError(reason, 'no')));
    await expect(ends('staging')).rejects.toThrow('no');
    expect(refusal()).toBeUndefined();
    await expect(ends('deadline')).rejects.toThrow('no');
    expect(refusal()?.reason).toBe('backlog');
  });
});

describe('the count', () => {
  test('is read at most every 5 s, one read at a time, and no message waits for it', async () => {
    const { clock, reads, refusal } = setUp();
    const { promise, resolve } = Promise.withResolvers<PipelineState>();
    reads.answer = () => promise;
    for (let message = 0; message < 100; message += 1) expect(refusal()).toBeUndefined();
    expect(reads.count).toBe(1);
    await clock.advance(6000);
    refusal();
    expect(reads.count).toBe(1);
    resolve(counted(10, 0, START));
    await clock.advance(0);
    expect(refusal()?.reason).toBe('backlog');
    expect(reads.count).toBe(2);
    await clock.advance(0);
    expect(clock.pending).toBe(0);
  });

  test('of before is good enough where it cannot be read', async () => {
    const { clock, reads, look, refusal, lines } = setUp(counted(10, 0, START));
    await look();
    await clock.advance(5000);
    reads.answer = () => Promise.reject(new Error('UNAVAILABLE'));
    await look();
    expect(refusal()?.reason).toBe('backlog');
    expect(lines.join()).toContain('the backlog could not be read');
  });

  test('that does not come is given up', async () => {
    const { clock, reads, refusal } = setUp();
    reads.answer = () => Promise.resolve(undefined);
    refusal();
    await clock.advance(20_000);
    refusal();
    expect(reads.count).toBe(2);
    await clock.advance(0);
    expect(clock.pending).toBe(0);
  });

  test.each([
    ['has grown old', counted(0, 0, START)],
    ['was never made', undefined],
  ])('that %s says once a minute that nobody ticks', async (_, state) => {
    const { clock, look, lines } = setUp(state);
    await look();
    await clock.advance(299_000);
    await look();
    expect(lines).toEqual([]);
    for (let seconds = 0; seconds < 90; seconds += 10) {
      await clock.advance(10_000);
      await look();
    }
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('Is the scheduler job there that calls coordinate');
  });
});
