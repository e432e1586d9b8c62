import { expect, test } from 'vitest';
import { encodeWith } from '../../../../shared/mapping/rows/wire-writer.ts';

const text = (content: string): Buffer => encodeWith((writer) => writer.string(content));

test('bytes that were given out are not written over by what comes later', () => {
  const first = text('first');
  const second = text('second, and longer');
  expect(first.subarray(1).toString()).toBe('first');
  expect(second.subarray(1).toString()).toBe('second, and longer');
});

test('an encoder that throws halfway leaves nothing behind', () => {
  expect(() =>
    encodeWith((writer) => {
      writer.string('half').fork();
      throw new Error('no more');
    }),
  ).toThrow('no more');
  expect(text('whole').subarray(1).toString()).toBe('whole');
});

test('an encoder may encode within', () => {
  const outer = encodeWith((writer) => writer.string('outer ').bytes(text('inner')));
  expect(outer.toString()).toContain('outer ');
  expect(outer.toString()).toContain('inner');
});
