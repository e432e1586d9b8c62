import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sessionEnd } from '../../../shared/slots/session-end.ts';

const MINUTE = 60_000;
const TEN_MINUTES = 10 * MINUTE;
const at = (text: string): number => Date.parse(`2026-01-01T${text}Z`);
const timeOf = (millis: number): string => new Date(millis).toISOString().slice(11, 19);

test.each([
  [0, '10:00:00', '10:00:50'],
  [0, '10:00:55', '10:10:50'],
  [1, '10:00:55', '10:01:50'],
  [3, '10:03:51', '10:13:50'],
  [13, '10:03:51', '10:13:50'],
])('slot %i that starts at %s for ten minutes ends at %s', (slot, start, end) => {
  expect(timeOf(sessionEnd(slot, TEN_MINUTES, at(start)))).toBe(end);
});

test('a session that starts seconds before its own minute ends as late as its length allows, not at once', () => {
  expect(timeOf(sessionEnd(0, TEN_MINUTES, at('10:00:45')))).toBe('10:09:50');
});

test('a session of less than a minute takes its time', () => {
  expect(sessionEnd(2, 30_000, at('10:00:00'))).toBe(at('10:00:30'));
});

test('every session is longer than nothing, no longer than its length, and of more than a minute and a half ends at second 50', () => {
  fc.assert(
    fc.property(
      fc.nat(200),
      fc.integer({ min: 1000, max: 30 * MINUTE }),
      fc.integer({ min: at('00:00:00'), max: at('23:59:59') }),
      (slot, sessionMillis, startedAt) => {
        const end = sessionEnd(slot, sessionMillis, startedAt);
        expect(end).toBeGreaterThan(startedAt);
        expect(end).toBeLessThanOrEqual(startedAt + sessionMillis);
        if (sessionMillis >= 1.5 * MINUTE) expect(end % MINUTE).toBe(50_000);
      },
    ),
  );
});

test('slots that start over and over end at minutes of their own, of which no two are the same', () => {
  const minutes = Array.from({ length: 10 }, (_, slot) => {
    let startedAt = at('10:00:03');
    const ends = new Set<number>();
    for (let session = 0; session < 5; session += 1) {
      const end = sessionEnd(slot, TEN_MINUTES, startedAt);
      // The scheduler starts the next at the full minute.
      startedAt = end + 10_000;
      if (session > 0) ends.add(Math.floor(end / MINUTE) % 10);
    }
    return [...ends];
  });
  expect(minutes).toEqual(Array.from({ length: 10 }, (_, slot) => [slot]));
});
