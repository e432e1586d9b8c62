import { TEST_FINGERPRINT } from '../../../support/fingerprint.ts';
import { describe, expect, test } from 'vitest';
import { nextReadAt, NUMBER_MILLIS, PipelineWatch } from '../../../../shared/staged/stage/pipeline-watch.ts';
import { NO_AMOUNT, type PipelineState } from '../../../../shared/staged/state.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { testRuntime } from '../../../support/runtime.ts';

const INTERVAL = 10_000;
const START = 1_000_000_000;
const { signal } = new AbortController();

const completedAt = (completed: number, lastCompletedAt: number): PipelineState => ({
  lease: { owner: 'c', epoch: 1, expiresAt: lastCompletedAt },
  ...{ completed, lastCompletedAt, backlog: NO_AMOUNT, rests: NO_AMOUNT, countedAt: lastCompletedAt, marks: [] },
});

function watching(first?: PipelineState) {
  const clock = new ManualClock(START);
  const store = { state: first, reads: 0, isAway: false };
  const runtime = testRuntime({ clock });
  const watch = new PipelineWatch(INTERVAL, {
    store: {
      readPipeline: () => {
        store.reads += 1;
        return store.isAway ? Promise.reject(new Error('away')) : Promise.resolve(store.state);
      },
    },
    runtime,
    fingerprint: TEST_FINGERPRINT,
  });
  return { clock, store, watch, lines: runtime.lines };
}

test('the number of what is staged is the one after the last completed', async () => {
  const { watch } = watching(completedAt(41, START));
  expect(await watch.numberToStage(signal)).toBe(42);
});

test('before the first coordinator it is 1', async () => {
  expect(await watching().watch.numberToStage(signal)).toBe(1);
});

test('many that ask at once wait for one read', async () => {
  const { store, watch } = watching(completedAt(1, START));
  await Promise.all(Array.from({ length: 100 }, () => watch.numberToStage(signal)));
  expect(store.reads).toBe(1);
});

test('a completed checkpoint is known within a second of its slot, by an instance in use', async () => {
  const { clock, store, watch } = watching(completedAt(1, START));
  const delays: number[] = [];
  for (let checkpoint = 2; checkpoint < 8; checkpoint += 1) {
    await clock.advance(INTERVAL - ((clock.now() - START) % INTERVAL));
    store.state = completedAt(checkpoint, clock.now());
    const slot = clock.now();
    while ((await watch.numberToStage(signal)) !== checkpoint + 1) await clock.advance(50);
    delays.push(clock.now() - slot);
  }
  expect(Math.max(...delays)).toBeLessThanOrEqual(1000);
  expect(store.reads).toBeLessThanOrEqual(12);
});

test('no number is used a minute after the read that it comes from: staging waits for another', async () => {
  const { clock, store, watch } = watching(completedAt(1, START));
  await watch.numberToStage(signal);
  store.isAway = true;
  await clock.advance(NUMBER_MILLIS - 1);
  expect(await watch.numberToStage(signal)).toBe(2);
  await clock.advance(1);
  await expect(watch.numberToStage(signal)).rejects.toThrow('away');
  store.isAway = false;
  store.state = completedAt(7, clock.now());
  expect(await watch.numberToStage(signal)).toBe(8);
});

test('nothing is staged by an instance that makes identities of other values than the pipeline does', async () => {
  const fingerprint = { ...TEST_FINGERPRINT.own, markerFamily: 'others' };
  const { watch } = watching({ ...completedAt(1, START), fingerprint });
  await expect(watch.numberToStage(signal)).rejects.toMatchObject({ reason: 'changed' });
});

test('a wait for a read ends with the signal', async () => {
  const { watch } = watching();
  const ending = new AbortController();
  const waiting = watch.numberToStage(ending.signal);
  ending.abort(new Error('the time is used up'));
  await expect(waiting).rejects.toThrow('the time is used up');
});

test('a read that fails beside the messages is told, and the one before goes on counting', async () => {
  const { clock, store, watch, lines } = watching(completedAt(1, START));
  await watch.numberToStage(signal);
  store.isAway = true;
  await clock.advance(20_000);
  watch.refreshIfDue();
  await clock.advance(0);
  expect(lines.join()).toContain('the state of the pipeline could not be read');
  expect(watch.state?.completed).toBe(1);
});

describe('the next read', () => {
  test('comes when the next checkpoint should be complete, spread over half a second', () => {
    expect(nextReadAt(START, 0, INTERVAL, START + 1000, 0)).toBe(START + INTERVAL + 300);
    expect(nextReadAt(START, 0, INTERVAL, START + 1000, 0.99)).toBeGreaterThan(START + INTERVAL + 700);
  });

  test('comes soon where that is late, and then at doubling distances up to five seconds', () => {
    const now = START + 3 * INTERVAL;
    const waits = [0, 1, 2, 3, 4, 9].map((fruitless) => nextReadAt(START, fruitless, INTERVAL, now, 0) - now);
    expect(waits).toEqual([500, 1000, 2000, 4000, 5000, 5000]);
  });

  test('comes within ten seconds, however long the interval', () => {
    expect(nextReadAt(START, 0, 600_000, START + 1000, 0)).toBe(START + 11_000);
  });
});
