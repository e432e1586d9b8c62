import fc from 'fast-check';
import { expect, test } from 'vitest';
import { familiesOf, type RowEntry } from '../../../shared/model/mutation.ts';
import { anyEntry } from '../../support/arbitraries.ts';

test('the families of an entry are named once each, in the order they appear, by every kind of mutation', () => {
  const qualifier = Buffer.from('q');
  const input = { kind: 'int64', value: 1n } as const;
  const entry: RowEntry = {
    rowKey: Buffer.from('k'),
    mutations: [
      { kind: 'deleteFromFamily', family: 'd' },
      { kind: 'setCell', family: 'a', qualifier, timestampMicros: 0n, value: qualifier },
      { kind: 'deleteFromRow' },
      { kind: 'addToCell', family: 'c', qualifier, timestampMicros: 0n, input },
      { kind: 'deleteFromColumn', family: 'a', qualifier },
      { kind: 'mergeToCell', family: 'b', qualifier, timestampMicros: 0n, input },
    ],
  };
  expect(familiesOf(entry)).toEqual(['d', 'a', 'c', 'b']);
});

test('a row that is deleted as a whole names no family', () => {
  expect(familiesOf({ rowKey: Buffer.from('k'), mutations: [{ kind: 'deleteFromRow' }] })).toEqual([]);
});

test('no family is named twice and none is missing', () => {
  fc.assert(
    fc.property(anyEntry, (entry) => {
      const families = familiesOf(entry);
      expect(new Set(families).size).toBe(families.length);
      for (const mutation of entry.mutations) if ('family' in mutation) expect(families).toContain(mutation.family);
    }),
    { seed: 6 },
  );
});
