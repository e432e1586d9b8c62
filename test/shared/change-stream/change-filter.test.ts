import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import {
  type ChangeFilter,
  changeFilter,
  type ChangeFilterOptions,
  type LeftOut,
} from '../../../shared/change-stream/change-filter.ts';
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

const placesOf = (left: Change | LeftOut): readonly number[] | LeftOut =>
  typeof left === 'string' ? left : (left.places ?? left.entries.map((_, index) => index));

test('the library of patterns is loaded by the first list, and by nothing else', async () => {
  const load = vi.fn(() => vi.importActual<object>('re2js'));
  vi.resetModules();
  vi.doMock('re2js', load);
  const fresh = await import('../../../shared/change-stream/change-filter.ts');
  await fresh.changeFilter({ skipMessagesWithoutChange: true, collected: 'drop', sourceClusters: ['c1'] });
  expect(load).not.toHaveBeenCalled();
  await fresh.changeFilter({ ...NOTHING, families: { mode: 'include', patterns: ['cf'] } });
  expect(load).toHaveBeenCalledOnce();
  vi.doUnmock('re2js');
});

describe('a list of families', () => {
  test('matches whole names: a pattern of a part of it includes nothing', async () => {
    expect(placesOf((await filterOf({ families: { mode: 'include', patterns: ['cf'] } }))(change))).toEqual([0, 2, 3]);
    expect(placesOf((await filterOf({ families: { mode: 'include', patterns: ['c'] } }))(change))).toEqual([]);
    expect(placesOf((await filterOf({ families: { mode: 'include', patterns: ['cf.*', 'sums'] } }))(change))).toEqual([
      0, 1, 2, 3, 4,
    ]);
  });

  test('that excludes leaves what none of its patterns matches, whole', async () => {
    const exclude = (...patterns: string[]) => filterOf({ families: { mode: 'exclude', patterns } });
    expect(placesOf((await exclude('cf', 'sums'))(change))).toEqual([1]);
    expect(placesOf((await exclude('c'))(change))).toEqual([0, 1, 2, 3, 4]);
  });
});

describe('a list of qualifiers', () => {
  const include = (...patterns: string[]) => filterOf({ qualifiers: { mode: 'include', patterns } });

  test('matches the family and the qualifier in base64', async () => {
    expect(placesOf((await include(`cf:${base64('a')}`))(change))).toEqual([0, 2]);
    expect(placesOf((await include(`[^:]*:${base64('a')}`))(change))).toEqual([0, 1, 2]);
    expect(placesOf((await include(`sums:${base64('n')}`))(change))).toEqual([2, 4]);
  });

  test('never hides the delete of a family, which is of every qualifier', async () => {
    expect(placesOf((await filterOf({ qualifiers: { mode: 'exclude', patterns: ['.*'] } }))(change))).toEqual([2]);
    expect(placesOf((await include('nothing'))(change))).toEqual([2]);
  });

  test('is asked of what the list of families has left', async () => {
    const both = await filterOf({
      families: { mode: 'exclude', patterns: ['cf'] },
      qualifiers: { mode: 'include', patterns: [`cf2?:${base64('a')}`] },
    });
    expect(placesOf(both(change))).toEqual([1]);
  });

  test('cannot decide about a qualifier that is no bytes, and says so', async () => {
    const typed = changeOf({ entries: [sum({ kind: 'int64', value: 7n })] });
    const filter = await include('sums:.*');
    expect(() => filter(typed)).toThrow('an entry of the family sums has a qualifier of the kind int64');
    expect((await filterOf({ families: { mode: 'include', patterns: ['sums'] } }))(typed)).toBe(typed);
  });
});

test('patterns are those of RE2: one that would backtrack takes no longer for it', async () => {
  const slow = await filterOf({ families: { mode: 'include', patterns: ['(a*)*b'] } });
  const long = changeOf({ entries: [setCellOf('a'.repeat(5000), 'q', 'v')] });
  expect(placesOf(slow(long))).toEqual([]);
  await expect(filterOf({ families: { mode: 'include', patterns: ['a(?=b)'] } })).rejects.toThrow('invalid');
});

describe('a change of which every entry is left out', () => {
  const families = { mode: 'include', patterns: ['none'] } as const;

  test('is told without entries, or left out where that is asked for', async () => {
    expect((await filterOf({ families }))(change)).toEqual({ ...change, entries: [], places: [] });
    expect((await filterOf({ families, skipMessagesWithoutChange: true }))(change)).toBe('without-change');
  });

  test('is not one that the service told without entries: that is handed on', async () => {
    const empty = changeOf({ entries: [] });
    expect((await filterOf({ families, skipMessagesWithoutChange: true }))(empty)).toBe(empty);
  });
});

test('changes of garbage collection are left out where that is asked for, and clusters are not asked of them', async () => {
  const collection = changeOf({ type: 'GARBAGE_COLLECTION', sourceCluster: '' });
  expect((await filterOf({ collected: 'drop' }))(collection)).toBe('unwanted');
  expect((await filterOf({ collected: 'drop' }))(change)).toBe(change);
  expect((await filterOf({ sourceClusters: ['c1'] }))(collection)).toBe(collection);
});

test("users' changes are those of the clusters that are named", async () => {
  expect((await filterOf({ sourceClusters: ['c1', 'c2'] }))(change)).toBe(change);
  expect((await filterOf({ sourceClusters: ['c2'] }))(change)).toBe('unwanted');
  expect((await filterOf({ sourceClusters: [] }))(change)).toBe('unwanted');
});

test('whatever is left is what was told, at its place and in its order, and a second look leaves the same', async () => {
  const patterns = fc.array(fc.stringMatching(/^[a-m_.]{1,3}[.*]{0,2}$/), { maxLength: 3 });
  const list = fc.record({ mode: fc.constantFrom('include' as const, 'exclude' as const), patterns });
  await fc.assert(
    fc.asyncProperty(anyChange, list, async (told, families) => {
      let filter: ChangeFilter;
      try {
        filter = await filterOf({ families });
      } catch {
        // No pattern of RE2: `**`.
        return;
      }
      const left = filter(told) as Change;
      const places = placesOf(left) as readonly number[];
      expect(left.entries).toEqual(places.map((place) => told.entries[place]));
      expect(places.toSorted((one, other) => one - other)).toEqual(places);
      expect(filter(left)).toEqual(left);
    }),
  );
});

test('more columns than are remembered are decided about all the same', async () => {
  const filter = await filterOf({ qualifiers: { mode: 'include', patterns: ['f:.*'] } });
  const entries = Array.from({ length: 25_000 }, (_, index) =>
    setCellOf(index % 2 === 0 ? 'f' : 'g', String(index), ''),
  );
  expect(placesOf(filter(changeOf({ entries })))).toHaveLength(12_500);
});
