import { describe, expect, test } from 'vitest';
import { nanosOf } from '../../../../shared/change-stream/ledger/position-of.ts';
import { checkExpiry, earliestOf, formatNanos, keptMillis } from '../../../../shared/change-stream/ledger/retention.ts';
import { held, token } from '../../../support/partitions.ts';

const NOW = Date.UTC(2026, 0, 8);
const DAY = 24 * 3_600_000;
const retained = { retentionMillis: DAY, now: NOW };
const EARLIEST = nanosOf(NOW - DAY + 60_000);
const at = (lowWatermark: bigint) => held('a', 'c', [token('a', 'c')], lowWatermark, { failures: 3, problem: 'x' });

describe('a partition that is taken', () => {
  test('is live at the earliest position that is kept, which is a minute inside the retention', () => {
    expect(earliestOf(DAY, NOW)).toBe(EARLIEST);
    expect(checkExpiry(at(EARLIEST), undefined, retained)).toEqual({ kind: 'live' });
  });

  test('is live where the retention may not be read: the service itself refuses what it does not keep', () => {
    expect(checkExpiry(at(0n), 5n, { now: NOW })).toEqual({ kind: 'live' });
  });

  test('stands still below it where there is no fallback, and says what is lost and what to do', () => {
    const expired = checkExpiry(at(EARLIEST - 90_000_000_000n), undefined, retained);
    expect(expired.kind).toBe('expired');
    const problem = expired.kind === 'expired' ? expired.problem : '';
    for (const words of [
      '[a, c)',
      formatNanos(EARLIEST),
      formatNanos(EARLIEST - 90_000_000_000n),
      '90 s',
      'resumeFallback',
    ]) {
      expect(problem).toContain(words);
    }
  });

  test('goes on from the fallback without its old tokens, marked, and with the window that is lost', () => {
    const fallback = EARLIEST + 5_000_000n;
    expect(checkExpiry(at(EARLIEST - 1_000_000n), fallback, retained)).toMatchObject({
      kind: 'restarted',
      lostMillis: 6,
      held: {
        position: { tokens: [], lowWatermark: fallback },
        restarted: { how: 'fallback', until: fallback },
        failures: 0,
      },
    });
  });

  test('goes on from what is kept where the fallback is older than that', () => {
    expect(checkExpiry(at(1n), 5n, retained)).toMatchObject({ held: { position: { lowWatermark: EARLIEST } } });
  });

  test('refuses a fallback that lies in the future', () => {
    expect(() => checkExpiry(at(1n), nanosOf(NOW + 1), retained)).toThrow('lies in the future');
  });
});

test('documents of finished partitions are kept for the retention and a day, or the longest one where it is not known', () => {
  expect(keptMillis(2 * DAY)).toBe(3 * DAY);
  expect(keptMillis(undefined)).toBe(8 * DAY);
});

test('a time is told to the nanosecond', () => {
  expect(formatNanos(nanosOf(NOW) + 7n)).toBe('2026-01-08T00:00:00.000000007Z');
});
