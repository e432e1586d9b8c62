import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changeFilter, type ChangeFilterOptions } from '../../../shared/change-stream/change-filter.ts';
import type { Change, ChangeEntry, ChangeValue } from '../../../shared/model/change.ts';
import { anyChange, changeOf, setCellOf } from '../../support/changes.ts';

const NOTHING: ChangeFilterOptions = { skipMessagesWithoutChange: false, collected: 'include' };
const filterOf = (options: Partial<ChangeFilterOptions>) => changeFilter({ ...NOTHING, ...options });
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const raw = (text: string): ChangeValue => ({ kind: 'raw-value', value: Buffer.from(text) });

const deleteFamily: ChangeEntry = { kind: 'delete-family', family: 'cf' };
const sum = (qualifier: ChangeValue): ChangeEntry => ({
  kind: 'add-to-cell',
  family: 'sums',
  qualifier,
  timestamp: raw(''),
  input: { kind: 'int64', value: 1n },
});
const change = changeOf({
  entries: [
    setCellOf('cf', 'a', '1'),
    setCellOf('cf2', 'a', '2'),
    deleteFamily,
    { kind: 'delete-cells', family: 'cf', qualifier: Buffer.from('b'), timestampRange: {} },
    sum(raw('n')),
  ],
});

const placesOf = (filtered: Change | undefined): readonly number[] | undefined =>
  filtered && (filtered.places ?? filtered.entries.map((_, index) => index));

describe('a list of families', () => {
  test('matches whole names: a pattern of a part of it includes nothing', () => {
    expect(placesOf(filterOf({ families: { mode: 'include', patterns: ['cf'] } })(change))).toEqual([0, 2, 3]);
    expect(placesOf(filterOf({ families: { mode: 'include', patterns: ['c'] } })(change))).toEqual([]);
    expect(placesOf(filterOf({ families: { mode: 'include', patterns: ['cf.*', 'sums'] } })(change))).toEqual([
      0, 1, 2, 3, 4,
    ]);
  });

  test('that excludes leaves what none of its patterns matches, whole', () => {
    const exclude = (...patterns: string[]) => filterOf({ families: { mode: 'exclude', patterns } });
    expect(placesOf(exclude('cf', 'sums')(change))).toEqual([1]);
    expect(placesOf(exclude('c')(change))).toEqual([0, 1, 2, 3, 4]);
  });
});

describe('a list of qualifiers', () => {
  const include = (...patterns: string[]) => filterOf({ qualifiers: { mode: 'include', patterns } });

  test('matches the family and the qualifier in base64', () => {
    expect(placesOf(include(`cf:${base64('a')}`)(change))).toEqual([0, 2]);
    expect(placesOf(include(`[^:]*:${base64('a')}`)(change))).toEqual([0, 1, 2]);
    expect(placesOf(include(`sums:${base64('n')}`)(change))).toEqual([2, 4]);
  });

  test('never hides the delete of a family, which is of every qualifier', () => {
    expect(placesOf(filterOf({ qualifiers: { mode: 'exclude', patterns: ['.*'] } })(change))).toEqual([2]);
    expect(placesOf(include('nothing')(change))).toEqual([2]);
  });

  test('is asked of what the list of families has left', () => {
    const both = filterOf({
      families: { mode: 'exclude', patterns: ['cf'] },
      qualifiers: { mode: 'include', patterns: [`cf2?:${base64('a')}`] },
    });
    expect(placesOf(both(change))).toEqual([1]);
  });

  test('cannot decide about a qualifier that is no bytes, and says so', () => {
    const typed = changeOf({ entries: [sum({ kind: 'int64', value: 7n })] });
    expect(() => include('sums:.*')(typed)).toThrow('an entry of the family sums has a qualifier of the kind int64');
    expect(filterOf({ families: { mode: 'include', patterns: ['sums'] } })(typed)).toBe(typed);
  });
});

test('patterns are those of RE2: one that would backtrack takes no longer for it', () => {
  const slow = filterOf({ families: { mode: 'include', patterns: ['(a*)*b'] } });
  const long = changeOf({ entries: [setCellOf('a'.repeat(5000), 'q', 'v')] });
  expect(placesOf(slow(long))).toEqual([]);
  expect(() => filterOf({ families: { mode: 'include', patterns: ['a(?=b)'] } })).toThrow();
});

describe('a change of which every entry is left out', () => {
  const families = { mode: 'include', patterns: ['none'] } as const;

  test('is told without entries, or left out where that is asked for', () => {
    expect(filterOf({ families })(change)).toEqual({ ...change, entries: [], places: [] });
    expect(filterOf({ families, skipMessagesWithoutChange: true })(change)).toBeUndefined();
  });

  test('is not one that the service told without entries: that is handed on', () => {
    const empty = changeOf({ entries: [] });
    expect(filterOf({ families, skipMessagesWithoutChange: true })(empty)).toBe(empty);
  });
});

test('changes of garbage collection are left out where that is asked for, and clusters are not asked of them', () => {
  const collection = changeOf({ type: 'GARBAGE_COLLECTION', sourceCluster: '' });
  expect(filterOf({ collected: 'drop' })(collection)).toBeUndefined();
  expect(filterOf({ collected: 'drop' })(change)).toBe(change);
  expect(filterOf({ sourceClusters: ['c1'] })(collection)).toBe(collection);
});

test("users' changes are those of the clusters that are named", () => {
  expect(filterOf({ sourceClusters: ['c1', 'c2'] })(change)).toBe(change);
  expect(filterOf({ sourceClusters: ['c2'] })(change)).toBeUndefined();
  expect(filterOf({ sourceClusters: [] })(change)).toBeUndefined();
});

test('whatever is left is what was told, at its place and in its order, and a second look leaves the same', () => {
  const patterns = fc.array(fc.stringMatching(/^[a-m_.]{1,3}[.*]{0,2}$/), { maxLength: 3 });
  const list = fc.record({ mode: fc.constantFrom('include' as const, 'exclude' as const), patterns });
  fc.assert(
    fc.property(anyChange, list, (told, families) => {
      let filter: ReturnType<typeof changeFilter>;
      try {
        filter = filterOf({ families });
      } catch {
        // No pattern of RE2: `**`.
        return;
      }
      const left = filter(told);
      const places = placesOf(left) ?? [];
      expect(left?.entries).toEqual(places.map((place) => told.entries[place]));
      expect(places.toSorted((one, other) => one - other)).toEqual(places);
      expect(left && filter(left)).toEqual(left);
    }),
  );
});

test('more columns than are remembered are decided about all the same', () => {
  const filter = filterOf({ qualifiers: { mode: 'include', patterns: ['f:.*'] } });
  const entries = Array.from({ length: 25_000 }, (_, index) =>
    setCellOf(index % 2 === 0 ? 'f' : 'g', String(index), ''),
  );
  expect(filter(changeOf({ entries }))?.entries).toHaveLength(12_500);
});
