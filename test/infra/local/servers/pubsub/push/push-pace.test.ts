import { expect, test } from 'vitest';
import {
  afterAcknowledgement,
  afterRefusal,
  NO_PUSH_BACKOFF,
  PUSH_BACKOFF_BOUNDS,
  retryDelay,
} from '../../../../../../infra/local/servers/pubsub/delivery/backoff.ts';
import {
  PushPace,
  windowAfterAcknowledgement,
  windowAfterRefusal,
} from '../../../../../../infra/local/servers/pubsub/push/push-pace.ts';

const WINDOW = { start: 4, cap: 64 };

test('the retry delay doubles from the minimum to the maximum', () => {
  const policy = { minimumMillis: 10_000, maximumMillis: 600_000 };
  const delays = [1, 2, 3, 6, 7, 8, 1000].map((attempts) => retryDelay(policy, attempts));
  expect(delays).toEqual([10_000, 20_000, 40_000, 320_000, 600_000, 600_000, 600_000]);
});

test.each([undefined, { minimumMillis: 0, maximumMillis: 600_000 }])(
  'with the retry policy %j a message is retried at once',
  (policy) => {
    expect(retryDelay(policy, 3)).toBe(0);
  },
);

test('refusals pause pushes from 100 ms, doubling, up to a minute', () => {
  let state = NO_PUSH_BACKOFF;
  const pauses = Array.from({ length: 12 }, () => {
    state = afterRefusal(state, PUSH_BACKOFF_BOUNDS, 5000);
    return state.pausedUntil - 5000;
  });
  expect(pauses.slice(0, 4)).toEqual([100, 200, 400, 800]);
  expect(pauses.at(-1)).toBe(60_000);
});

test('one refusal in five holds the pause, fewer let it shrink to nothing, more let it grow', () => {
  const levelAfter = (rounds: number, acknowledgements: number): number => {
    let state = { levelMillis: 500, pausedUntil: 0 };
    for (let round = 0; round < rounds; round += 1) {
      state = afterRefusal(state, PUSH_BACKOFF_BOUNDS, 0);
      for (let ack = 0; ack < acknowledgements; ack += 1) state = afterAcknowledgement(state, PUSH_BACKOFF_BOUNDS);
    }
    return state.levelMillis;
  };
  expect(levelAfter(50, 4)).toBeCloseTo(500);
  expect(levelAfter(50, 9)).toBe(0);
  expect(levelAfter(50, 1)).toBeGreaterThan(30_000);
});

test('the window doubles per round trip of good answers up to its cap', () => {
  let window = WINDOW.start;
  const perRound = Array.from({ length: 6 }, () => {
    for (let answers = window; answers > 0; answers -= 1) window = windowAfterAcknowledgement(window, WINDOW, 20);
    return window;
  });
  expect(perRound).toEqual([8, 16, 32, 64, 64, 64]);
});

test('slow answers shrink the window to its start, never below', () => {
  let window = 6;
  for (let answers = 0; answers < 10; answers += 1) window = windowAfterAcknowledgement(window, WINDOW, 1000);
  expect(window).toBe(4);
});

test('a refusal halves the window down to one', () => {
  expect([64, 5, 1].map(windowAfterRefusal)).toEqual([32, 2, 1]);
});

test('requests that fail together pause the subscription once; the next failure pauses it longer', () => {
  const pace = new PushPace(WINDOW, PUSH_BACKOFF_BOUNDS);
  const together = [pace.start(), pace.start(), pace.start(), pace.start()];
  expect(pace.mayStart(0)).toBe(false);
  for (const request of together) pace.refused(request, 1000);
  expect(pace.pausedUntil).toBe(1100);
  expect(pace.window).toBe(2);
  expect(pace.outstanding).toBe(0);
  expect(pace.mayStart(1099)).toBe(false);
  expect(pace.mayStart(1100)).toBe(true);
  pace.refused(pace.start(), 1200);
  expect(pace.pausedUntil).toBe(1400);
  expect(pace.window).toBe(1);
});
