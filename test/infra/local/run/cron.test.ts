import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextTime } from '../../../../infra/local/run/cron.ts';

const at = (text: string): number => Date.parse(`${text}Z`);
const next = (cron: string, after: string): string => new Date(nextTime(cron, at(after))).toISOString().slice(0, 16);

test.each([
  ['* * * * *', '2026-01-01T00:00:00', '2026-01-01T00:01'],
  ['* * * * *', '2026-01-01T00:00:59.999', '2026-01-01T00:01'],
  ['0 3 * * *', '2026-01-01T03:00:00', '2026-01-02T03:00'],
  ['*/15 9-17 * * mon-fri', '2026-01-02T17:50:00', '2026-01-05T09:00'],
  ['5,35 0 1 * *', '2026-01-01T00:05:00', '2026-01-01T00:35'],
  ['0 0 29 feb *', '2026-03-01T00:00:00', '2028-02-29T00:00'],
  ['30 12 * * 7', '2026-01-01T00:00:00', '2026-01-04T12:30'],
  ['0 0 13 * fri', '2026-01-01T00:00:00', '2026-01-02T00:00'],
  ['10/20 * * * *', '2026-01-01T00:11:00', '2026-01-01T00:30'],
])('%s after %s is at %s', (cron, after, expected) => {
  expect(next(cron, after)).toBe(expected);
});

test.each([
  '',
  '* * * *',
  '60 * * * *',
  '* 24 * * *',
  '* * 0 * *',
  '* * * 13 *',
  'x * * * *',
  '*/0 * * * *',
  '0 0 31 feb *',
])('%j is refused', (cron) => {
  expect(() => nextTime(cron, 0)).toThrow(RangeError);
});

test('a time is after the one before, at a full minute, and the first that its fields allow', () => {
  const day = fc.integer({ min: 1, max: 28 });
  fc.assert(
    fc.property(
      fc.nat(59),
      fc.nat(23),
      day,
      fc.integer({ min: 0, max: 2 ** 41 }),
      (minute, hour, dayOfMonth, after) => {
        const time = new Date(nextTime(`${minute} ${hour} ${dayOfMonth} * *`, after));
        expect(time.getTime()).toBeGreaterThan(after);
        expect(time.getTime() - after).toBeLessThanOrEqual(31 * 24 * 3_600_000);
        expect([time.getUTCMinutes(), time.getUTCHours(), time.getUTCDate(), time.getTime() % 60_000]).toEqual([
          ...[minute, hour, dayOfMonth, 0],
        ]);
      },
    ),
  );
});
