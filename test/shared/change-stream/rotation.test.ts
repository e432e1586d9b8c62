import { expect, test } from 'vitest';
import {
  excess,
  isOwed,
  isShort,
  RESIDENCY_MILLIS,
  type Resident,
  rotatable,
} from '../../../shared/change-stream/rotation.ts';

const resident = (id: string, since: number, hasMoved = true): Resident => ({ id, since, hasMoved });

test('who is resident for a minute and got further may make room, the longest resident first', () => {
  const residents = [resident('new', 1), resident('second', -5), resident('stuck', -100, false), resident('first', -9)];
  expect(rotatable(residents, RESIDENCY_MILLIS)).toEqual(['first', 'second']);
  expect(rotatable(residents, RESIDENCY_MILLIS + 1)).toEqual(['first', 'second', 'new']);
});

test('a slot gives back what it has beyond its share, and no more than the others lack', () => {
  const residents = ['a', 'b', 'c', 'd'].map((id, since) => resident(id, since));
  expect(excess(residents, [0], 2)).toEqual(['a', 'b']);
  expect(excess(residents, [1], 2)).toEqual(['a']);
  expect(excess(residents, [1, 0], 3)).toEqual(['a']);
  expect(excess(residents, [2], 2)).toEqual([]);
  expect(excess(residents, [], 2)).toEqual([]);
  expect(excess([resident('a', 0, false), resident('b', 1, false), resident('c', 2)], [0], 1)).toEqual(['c']);
});

test('another slot owes what it has beyond its share, and is short of what it has less', () => {
  expect([isOwed([2, 3], 2), isOwed([2], 2), isOwed([], 1)]).toEqual([true, false, false]);
  expect([isShort([2, 1], 2), isShort([2, 3], 2), isShort([], 1)]).toEqual([true, false, false]);
});
