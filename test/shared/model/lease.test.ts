import { expect, test } from 'vitest';
import { CLOCK_SKEW_MILLIS, hasRunOut } from '../../../shared/model/lease.ts';

const NOW = 1_000_000_000;
const LONGEST = 25_000;

test.each([
  ['one that ends now', 0, false],
  ['one that ended within the allowance for clocks', -CLOCK_SKEW_MILLIS, false],
  ['one that ended before that', -CLOCK_SKEW_MILLIS - 1, true],
  ['a fresh one', LONGEST, false],
  ['one of a clock that is a minute ahead', LONGEST + 60_000, false],
  ['one of a clock that is further ahead', LONGEST + 60_001, true],
])('a claim: %s', (_case, endsIn, expected) => {
  expect(hasRunOut(NOW + endsIn, NOW, LONGEST)).toBe(expected);
});
