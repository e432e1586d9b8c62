import { describe, expect, test } from 'vitest';
import { nanosOf } from '../../../../shared/change-stream/ledger/position-of.ts';
import {
  requestedStart,
  resolveStart,
  type StartPosition,
  StartPositionError,
} from '../../../../shared/change-stream/ledger/start-position.ts';

const NOW = Date.UTC(2026, 0, 8);
const DAY = 24 * 3_600_000;
const EARLIEST = nanosOf(NOW - DAY + 60_000);
const LATEST = nanosOf(NOW - 2_000);
const resolve = (start: StartPosition, retentionMillis: number | undefined = DAY) =>
  resolveStart(start, NOW, retentionMillis);

describe('a start', () => {
  test.each<[string, StartPosition, bigint]>([
    ['earliest is a minute inside the retention', { kind: 'earliest' }, EARLIEST],
    ['latest is a little before now, because a clock that is ahead is refused', { kind: 'latest' }, LATEST],
    ['at a time is that time', { kind: 'at', time: EARLIEST + 7n }, EARLIEST + 7n],
    ['some time ago is before now', { kind: 'ago', millis: 3_600_000 }, nanosOf(NOW - 3_600_000)],
    ['at this very moment is the latest', { kind: 'at', time: nanosOf(NOW) }, LATEST],
    ['at the earliest that is kept is not moved', { kind: 'at', time: EARLIEST }, EARLIEST],
  ])('%s', (_, start, startTime) => {
    expect(resolve(start)).toEqual({ startTime });
  });

  test('latest needs no retention', () => {
    expect(resolveStart({ kind: 'latest' }, NOW, undefined)).toEqual({ startTime: LATEST });
  });

  test('before what is kept is moved to it, and says both times and what is left out', () => {
    expect(resolve({ kind: 'at', time: EARLIEST - 3_000_000n })).toEqual({
      startTime: EARLIEST,
      clamped: { requested: EARLIEST - 3_000_000n, earliest: EARLIEST, lostMillis: 3 },
    });
  });

  test('in the future is refused before anything is read', () => {
    expect(() => requestedStart({ kind: 'at', time: nanosOf(NOW) + 1n }, NOW)).toThrow(StartPositionError);
    expect(() => requestedStart({ kind: 'at', time: -1n }, NOW)).toThrow('before 1970');
  });

  test.each([0, -1, Infinity, Number.NaN])('of %s milliseconds ago is refused', (millis) => {
    expect(() => requestedStart({ kind: 'ago', millis }, NOW)).toThrow(StartPositionError);
  });

  test('of which the retention may not be read is what was asked for, but for the earliest, which says what to grant', () => {
    expect(resolveStart({ kind: 'at', time: 5n }, NOW, undefined)).toEqual({ startTime: 5n });
    expect(() => resolveStart({ kind: 'earliest' }, NOW, undefined)).toThrow('bigtable.tables.get');
  });

  test('of a table that keeps a minute or less is refused', () => {
    expect(() => resolve({ kind: 'earliest' }, 60_000)).toThrow('longer than a minute');
  });
});
