import { expect, test } from 'vitest';
import { factsOf, modesThat, writeModes } from '../../../../shared/mapping/declared/write-modes.ts';

test('modes that make entries come first, because the reference says that the last modes need a request pipeline', () => {
  const entries = modesThat(({ makes }) => makes === 'entry');
  expect(entries.length).toBeGreaterThan(0);
  expect(writeModes.slice(0, entries.length)).toEqual(entries);
});

test('every mode that writes columns says what may become of a null', () => {
  for (const mode of modesThat(({ carries }) => carries !== 'conditional')) expect(factsOf(mode).nulls).not.toEqual([]);
});
