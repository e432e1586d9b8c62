import { expect, test } from 'vitest';
import { digestOf, MessageMemory } from '../../../shared/letters/message-memory.ts';

const digest = digestOf(Buffer.from('data'), 'p.i.t');

test('a record is recalled by its message, its place and what it holds, and by nothing less', () => {
  const memory = new MessageMemory<string>(10);
  memory.remember('m', 1, digest, 'refused');
  expect(memory.recall('m', 1, digest)).toBe('refused');
  expect(memory.recall('m', 2, digest)).toBeUndefined();
  expect(memory.recall('n', 1, digest)).toBeUndefined();
  expect(memory.recall('m', 1, digestOf(Buffer.from('other'), 'p.i.t'))).toBeUndefined();
  expect(memory.recall('m', 1, digestOf(Buffer.from('data'), 'p.i.u'))).toBeUndefined();
  memory.forget('m');
  expect(memory.knows('m')).toBe(false);
});

test('no more is remembered than the bound: the message that was remembered first is forgotten', () => {
  const memory = new MessageMemory<number>(5);
  for (let number = 0; number < 5; number += 1)
    memory.remember(number < 3 ? 'first' : 'second', number, digest, number);
  memory.remember('third', 0, digest, 0);
  expect(['first', 'second', 'third'].map((id) => memory.knows(id))).toEqual([false, true, true]);
  memory.forget('nobody');
  for (let number = 0; number < 7; number += 1) memory.remember('large', number, digest, number);
  expect(['second', 'third'].map((id) => memory.knows(id))).toEqual([false, false]);
});
