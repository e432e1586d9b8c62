import { expect, test } from 'vitest';
import { ratioOf, spreadOf } from './statistics.ts';

test('a spread has the middle value, or the mean of the two in the middle', () => {
  expect(spreadOf([5, 1, 9])).toEqual({ median: 5, min: 1, max: 9 });
  expect(spreadOf([4, 1, 9, 2])).toEqual({ median: 3, min: 1, max: 9 });
  expect(() => spreadOf([])).toThrow(RangeError);
});

test('a ratio is that of the medians; its spread is that of the rounds, neighbour by neighbour', () => {
  const ratio = ratioOf('theirs / ours', [30, 20, 40], [10, 5, 10], { atLeast: 3 });
  expect(ratio).toMatchObject({ value: 3, min: 3, max: 4, isMet: true });
  expect(ratioOf('theirs / ours', [30], [11], { atLeast: 3 }).isMet).toBe(false);
  expect(ratioOf('ours / no-op', [30], [20], { atMost: 1.5 }).isMet).toBe(true);
  expect(ratioOf('ours / no-op', [31], [20], { atMost: 1.5 }).isMet).toBe(false);
});
