import { expect, test } from 'vitest';
import { isLeft, repeatsIn, uncommitted } from '../../../../../infra/local/demo/scan/repeats.ts';

const held = (split: string, after: string, end: string) => ({
  ...{ split, rows: 1, start: { key: after, isOpen: true }, end: { key: end, isOpen: false } },
});

test.each([
  ['behind an open start', 'b', { start: { key: 'a', isOpen: true } }, true],
  ['at an open start', 'a', { start: { key: 'a', isOpen: true } }, false],
  ['at a closed start', 'a', { start: { key: 'a', isOpen: false } }, true],
  ['at an open end', 'z', { end: { key: 'z', isOpen: true } }, false],
  ['at a closed end', 'z', { end: { key: 'z', isOpen: false } }, true],
  ['where there is no bound', 'm', {}, true],
])('a row %s is left of a split: %s', (_, key, range, expected) => {
  expect(isLeft(key, range)).toBe(expected);
});

test('what a slot had published and not committed is what came of the rest of its splits', () => {
  const received = new Map([
    [
      'p-0',
      new Map([
        ['a', 1],
        ['b', 1],
        ['c', 2],
      ]),
    ],
    ['p-1', new Map([['m', 1]])],
    ['p-2', new Map([['x', 2]])],
  ]);
  const dead = [held('p-0', 'a', 'd'), held('p-1', 'm', 'n'), held('p-3', 'a', 'b')];
  expect(uncommitted(received, dead)).toBe(2);
  expect(repeatsIn(received, dead)).toEqual({ ofTheCrash: 1, others: 1 });
});
