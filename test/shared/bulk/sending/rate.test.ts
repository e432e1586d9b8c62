import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  afterExhausted,
  afterQuiet,
  afterRateLimit,
  afterSend,
  type RateState,
  unlimited,
  waitMillis,
} from '../../../../shared/bulk/sending/rate.ts';

/** Sends batches of 100 every 100 ms from 0 to `until`: 1000 entries a second. */
function sendSteadily(until: number): RateState {
  let state = unlimited(0);
  for (let now = 0; now < until; now += 100) state = afterSend(state, 100, now);
  return state;
}

describe('the rate', () => {
  test('is not limited until the service says a word', () => {
    const state = afterQuiet(sendSteadily(5000), 5000);
    expect(state.perSecond).toBeUndefined();
    expect(waitMillis(state, 5000)).toBe(0);
  });

  test('becomes the rate in use times the factor, and holds for the period', () => {
    const limited = afterRateLimit(sendSteadily(3000), { factor: 0.8, periodMillis: 10_000 }, 3000);
    expect(limited.perSecond).toBeCloseTo(800, -1);
    expect(afterRateLimit(limited, { factor: 0.8, periodMillis: 10_000 }, 12_999)).toBe(limited);
    expect(afterRateLimit(limited, { factor: 0.8, periodMillis: 10_000 }, 13_000).perSecond).toBeCloseTo(640, -1);
  });

  test.each([
    [0.1, 700],
    [5, 1300],
  ])('changes by at most 30 percent at a word: factor %d of 1000/s gives %d/s', (factor, expected) => {
    const limited = afterRateLimit(sendSteadily(3000), { factor: 0.99999, periodMillis: 0 }, 3000);
    expect(afterRateLimit(limited, { factor, periodMillis: 1 }, 3000).perSecond).toBeCloseTo(expected, -1);
  });

  test('ignores a factor that is no rate, and "faster" where nothing is limited', () => {
    const state = sendSteadily(3000);
    for (const factor of [0, -1, Number.NaN, 1.2]) {
      expect(afterRateLimit(state, { factor, periodMillis: 1000 }, 3000)).toBe(state);
    }
  });

  test('halves at RESOURCE_EXHAUSTED, at most once a second', () => {
    const once = afterExhausted(sendSteadily(3000), 3000);
    expect(once.perSecond).toBeCloseTo(500, -1);
    expect(afterExhausted(once, 3500)).toBe(once);
    expect(afterExhausted(once, 4000).perSecond).toBeCloseTo(250, -1);
  });

  test('grows by a twentieth a second while it is reached, and is lifted once it is not', () => {
    let state = afterExhausted(sendSteadily(3000), 3000);
    for (let now = 3000; now < 5000; now += 100) state = afterSend(state, 50, now);
    const grown = afterQuiet(state, 5000);
    expect(grown.perSecond).toBeCloseTo(525, -1);
    expect(afterQuiet(grown, 5500)).toBe(grown);
    expect(afterQuiet(afterSend(grown, 1, 9000), 60_000).perSecond).toBeUndefined();
  });

  test('never sends more than the limit allows over any second, and always lets a batch through in the end', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 5, maxLength: 60 }), (batches) => {
        let state: RateState = { ...unlimited(0), perSecond: 1000 };
        let now = 0;
        const sent: { at: number; entries: number }[] = [];
        for (const entries of batches) {
          now += waitMillis(state, now);
          state = afterSend(state, entries, now);
          sent.push({ at: now, entries });
        }
        const total = sent.reduce((sum, { entries }) => sum + entries, 0);
        const last = sent.at(-1)!;
        // All but the last batch have been paid for by the time the last leaves.
        expect(last.at).toBeCloseTo(total - last.entries, 3);
      }),
    );
  });
});
