import { TEST_FINGERPRINT } from '../../../support/fingerprint.ts';
import { describe, expect, test } from 'vitest';
import { RedeliverError } from '../../../../shared/base/errors.ts';
import { createLogger } from '../../../../shared/base/logging.ts';
import { createMetrics } from '../../../../shared/base/metrics.ts';
import { Backpressure } from '../../../../shared/staged/stage/backpressure.ts';
import { type Weight, weightOf } from '../../../../shared/staged/stage/backlog-view.ts';
import { PipelineWatch } from '../../../../shared/staged/stage/pipeline-watch.ts';
import { BYTES_PER_ENTRY, NO_AMOUNT, type PipelineState } from '../../../../shared/staged/state.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { testRuntime } from '../../../support/runtime.ts';

const CAPS = { maxStagedEntries: 10, maxStagedBytes: 10_000 };
const START = Date.UTC(2026, 0, 1);

const counted = (envelopes: number, bytes: number, countedAt: number): PipelineState => ({
  lease: { owner: 'c', epoch: 1, expiresAt: countedAt },
  completed: 1,
  lastCompletedAt: countedAt,
  backlog: { segments: 1, envelopes, bytes },
  rests: NO_AMOUNT,
  countedAt,
  marks: [],
});

function setUp(first?: PipelineState) {
  const clock = new ManualClock(START);
  const metrics = createMetrics();
  const lines: string[] = [];
  const reads = { count: 0, answer: (): Promise<PipelineState | undefined> => Promise.resolve(first) };
  const counts = { count: 0, answer: () => Promise.resolve({ backlog: NO_AMOUNT, rests: NO_AMOUNT }) };
  const runtime = testRuntime({ clock, metrics, logger: createLogger({}, (line) => lines.push(line)) });
  const store = {
    readPipeline: () => {
      reads.count += 1;
      return reads.answer();
    },
    countBacklog: () => {
      counts.count += 1;
      return counts.answer();
    },
  };
  const watch = new PipelineWatch(10_000, { store, runtime, fingerprint: TEST_FINGERPRINT });
  const backpressure = new Backpressure(CAPS, { store, watch, runtime });
  const refusal = (): RedeliverError | undefined => {
    try {
      backpressure.admit();
      return undefined;
    } catch (error) {
      if (error instanceof RedeliverError) return error;
      throw error;
    }
  };
  /** A read is under way once something was admitted, and its answer is there for the next. */
  const look = async (): Promise<void> => {
    refusal();
    await clock.advance(0);
    refusal();
  };
  const stage = (weight: Weight): Promise<void> => backpressure.during(weight, () => Promise.resolve());
  return { clock, metrics, lines, reads, counts, backpressure, refusal, look, stage };
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
      counters: { backlogRefusals: 2 },
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
    await clock.advance(10_000);
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

describe('what is set apart', () => {
  test('has caps of its own, as large, and does not count against the others', async () => {
    const apart = (entriesApart: number) => ({
      ...counted(9, 0, START),
      rests: { segments: 1, envelopes: entriesApart, bytes: 0 },
    });
    const below = setUp(apart(9));
    await below.look();
    expect(below.refusal()).toBeUndefined();
    const at = setUp(apart(10));
    await at.look();
    expect(at.refusal()?.reason).toBe('backlog');
    expect(at.refusal()?.message).toContain('10 entries of at most 10 (maxStagedEntries)');
    expect(at.refusal()?.message).toContain('See connector status for what refuses them');
  });
});

describe('the count', () => {
  test('is read beside the messages, one read at a time, and no message waits for it', async () => {
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
  });

  test('of before is good enough where it cannot be read', async () => {
    const { clock, reads, look, refusal, lines } = setUp(counted(10, 0, START));
    await look();
    reads.answer = () => Promise.reject(new Error('UNAVAILABLE'));
    await clock.advance(11_000);
    await look();
    expect(refusal()?.reason).toBe('backlog');
    expect(lines.join()).toContain('the state of the pipeline could not be read');
  });

  test('that is older than 30 s is made by the instance itself, at most every 10 s', async () => {
    const { clock, counts, look, refusal } = setUp(counted(0, 0, START));
    await look();
    counts.answer = () => Promise.resolve({ backlog: { segments: 1, envelopes: 10, bytes: 0 }, rests: NO_AMOUNT });
    await clock.advance(29_000);
    await look();
    expect(counts.count).toBe(0);
    for (let second = 0; second < 60; second += 1) {
      await clock.advance(1000);
      await look();
    }
    expect(refusal()?.reason).toBe('backlog');
    expect(counts.count).toBeGreaterThanOrEqual(2);
    expect(counts.count).toBeLessThanOrEqual(6);
  });

  test('while the coordinator is away sees what other instances stage: together they fill the caps once', async () => {
    const { clock, counts, look, refusal, stage } = setUp(counted(0, 0, START));
    await look();
    await clock.advance(31_000);
    // Seven of others, and three of this one.
    counts.answer = () => Promise.resolve({ backlog: { segments: 1, envelopes: 7, bytes: 0 }, rests: NO_AMOUNT });
    await look();
    expect(refusal()).toBeUndefined();
    await stage(entries(3));
    expect(refusal()?.reason).toBe('backlog');
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
