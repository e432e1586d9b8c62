import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  MAX_DURATION_MILLIS,
  formatDuration,
  formatSize,
  parseDuration,
  parseSize,
} from '../../../shared/config/units.ts';

describe('durations and sizes', () => {
  test.each([
    ['250ms', 250],
    ['10s', 10_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['7d', 604_800_000],
    ['0ms', 0],
    ['007s', 7_000],
  ])('%s is %i ms', (text, millis) => {
    expect(parseDuration(text)).toBe(millis);
  });

  test.each([
    ['512B', 512],
    ['64KiB', 65_536],
    ['4MiB', 4_194_304],
    ['1GiB', 1_073_741_824],
    ['3kB', 3_000],
    ['3MB', 3_000_000],
    ['3GB', 3_000_000_000],
  ])('%s is %i bytes', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  test.each(['', '10', 's', '1.5s', '1e3s', '-1s', '+1s', ' 1s', '1s ', '1 s', '1S', '1us', '1w', '1s1ms', '١s'])(
    '%j is no duration',
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );

  test.each(['', '10', 'B', '1.5MiB', '1mib', '1MIB', '1M', '1KB', '1 B', '-1B', '1TiB'])('%j is no size', (text) => {
    expect(parseSize(text)).toBeUndefined();
  });

  test('what is formatted reads back as the same', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_DURATION_MILLIS }), (value) => {
        expect(parseDuration(formatDuration(value))).toBe(value);
        expect(parseSize(formatSize(value))).toBe(value);
      }),
    );
  });

  test('the longest duration is the last whole millisecond of 2^63-1 nanoseconds', () => {
    expect(BigInt(MAX_DURATION_MILLIS)).toBe((2n ** 63n - 1n) / 1_000_000n);
  });
});
