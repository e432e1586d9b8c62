import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseEmulatorEndpoint } from '../../../shared/config/addresses.ts';
import { nearestName } from '../../../shared/config/nearest.ts';
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

describe('emulator endpoints', () => {
  test.each([
    ['localhost:8086', 'localhost', 8086],
    ['127.0.0.1:1', '127.0.0.1', 1],
    ['[::1]:65535', '[::1]', 65_535],
    ['::1:80', '::1', 80],
    ['HOST.example:0080', 'HOST.example', 80],
  ])('%s is host %s and port %i', (text, host, port) => {
    expect(parseEmulatorEndpoint(text)).toEqual({ host, port });
  });

  test.each([
    '',
    'localhost',
    ':8086',
    'localhost:',
    'localhost:0',
    'localhost:65536',
    'localhost:+80',
    'localhost:-1',
    'localhost:8o',
    'localhost:1e3',
    'localhost:٨٠',
    ' localhost:80',
    'localhost:80 ',
    'local host:80',
    'localhost: 80',
    'local\u00a0host:80',
  ])('%j is none', (text) => {
    expect(parseEmulatorEndpoint(text)).toBeUndefined();
  });
});

test.each([
  ['maxInflightEntries', 'maxInFlightEntries'],
  ['max_in_flight_entries', 'maxInFlightEntries'],
  ['tabel', 'table'],
  ['topics', 'topic'],
  ['zzz', undefined],
  ['', undefined],
])('of what was written, %j is nearest to %j', (written, nearest) => {
  expect(nearestName(written, ['table', 'topic', 'maxInFlightEntries'])).toBe(nearest);
});
