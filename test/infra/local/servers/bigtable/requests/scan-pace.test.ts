import { expect, test } from 'vitest';
import { scanPace } from '../../../../../../infra/local/servers/bigtable/requests/scan-pace.ts';
import { ManualClock } from '../../../../../support/manual-clock.ts';

/** Rows that a scan gives until the signal aborts. */
async function scan(clock: ManualClock, rowsPerSecond: number, given: { rows: number }, signal: AbortSignal) {
  const pace = scanPace(rowsPerSecond, clock, signal);
  for (;;) {
    const waiting = pace(given.rows);
    if (waiting) await waiting;
    given.rows += 1;
  }
}

test('a stream gives as many rows a second as it is told', async () => {
  const clock = new ManualClock();
  const stop = new AbortController();
  const given = { rows: 0 };
  const scanning = scan(clock, 5000, given, stop.signal);
  await clock.advance(1000);
  expect(given.rows).toBeGreaterThan(4800);
  expect(given.rows).toBeLessThan(5200);
  stop.abort(new Error('over'));
  await expect(scanning).rejects.toThrow('over');
});

test('a stream whose reader stood still goes on at its pace, and catches nothing up', async () => {
  const clock = new ManualClock();
  const pace = scanPace(100, clock, new AbortController().signal);
  expect(pace(0)).toBeUndefined();
  await clock.advance(60_000);
  expect(pace(1)).toBeUndefined();
  expect(pace(2)).toBeUndefined();
  expect(pace(10)).toBeInstanceOf(Promise);
});
