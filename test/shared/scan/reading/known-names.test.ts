import { expect, test } from 'vitest';
import { KnownNames } from '../../../../shared/scan/reading/known-names.ts';

const qualifierOf = (names: KnownNames, text: string): Buffer => {
  const message = Buffer.from(text);
  return names.qualifier(message, 0, message.length);
};

test('a name is found again whatever came between, unless another took its place', () => {
  const names = new KnownNames();
  const texts = ['', 'a', 'b', 'name', 'long-name', 'long-game', '\0', 'é'];
  const first = texts.map((text) => qualifierOf(names, text));
  for (const [index, text] of texts.entries()) {
    const again = qualifierOf(names, text);
    expect(again.toString()).toBe(text);
    if (again !== first[index]) expect(again.equals(first[index] as Buffer)).toBe(true);
  }
  expect(qualifierOf(names, 'name')).toBe(qualifierOf(names, 'name'));
});

test('families are texts, in UTF-8', () => {
  const names = new KnownNames();
  for (const text of ['f', 'häß', 'f', 'häß']) {
    const message = Buffer.from(`-${text}-`);
    expect(names.family(message, 1, message.length - 1)).toBe(text);
  }
});

test('a qualifier that holds data is a slice of its message, and none is kept after a thousand that were not known', () => {
  const names = new KnownNames();
  const long = 'x'.repeat(65);
  expect(qualifierOf(names, long)).not.toBe(qualifierOf(names, long));
  for (let index = 0; index < 1000; index += 1) qualifierOf(names, `data-${index}`);
  expect(qualifierOf(names, 'name')).not.toBe(qualifierOf(names, 'name'));
});
