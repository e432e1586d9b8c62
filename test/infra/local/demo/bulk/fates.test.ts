import { expect, test } from 'vitest';
import { fateOf, type Fate } from '../../../../../infra/local/demo/bulk/fates.ts';
import { flight, flights } from '../flight.ts';

test('each kind of trouble has its share of the flights, and a short hop no other trouble', () => {
  const fates = flights(6000).map(fateOf);
  const count = (fate: Fate): number => fates.filter((given) => given === fate).length;
  const broken = ['empty-row-key', 'long-row-key', 'odd-timestamp', 'not-json'] as const;
  expect(broken.map(count)).toEqual([6, 6, 6, 6]);
  expect(count('unknown-family')).toBe(1);
  expect(fateOf(flight(101, { distance: 99 }))).toBe('short-hop');
});
