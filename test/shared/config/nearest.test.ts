import { expect, test } from 'vitest';
import { nearestName } from '../../../shared/config/nearest.ts';

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
