import { expect, test } from 'vitest';
import { closedBound, openBound, UNBOUNDED } from '../../../shared/model/row-range.ts';
import { type FrozenRun, readRunOptions, windowOf, writeRunOptions } from '../../../shared/scan/run-options.ts';
import { shapeFilter } from '../../../shared/model/filter/shape-filter.ts';
import { rangesOf } from '../../../shared/scan/selection.ts';

const FROZEN: FrozenRun = {
  table: { project: 'p', instance: 'i', table: 't' },
  appProfileId: '',
  ranges: [
    { start: closedBound(Buffer.from([0, 255])), end: openBound(Buffer.from('b')) },
    { start: openBound(Buffer.from('c')), end: UNBOUNDED },
  ],
  filter: Buffer.from([1, 2, 3]),
  form: { kind: 'row', text: 'base64' },
  emission: {
    topic: 'projects/p/topics/rows',
    orderingKeys: 64,
    maxRecordsPerMessage: 100,
    oversizedMessage: 'fail',
    failurePolicy: 'fail',
  },
  oversizedRow: 'fail',
  window: { sinceMicros: 2n ** 60n, untilMicros: 2n ** 61n },
};

test('options of a run are read back as they were frozen, bytes and int64 included', () => {
  expect(readRunOptions(writeRunOptions(FROZEN))).toEqual(FROZEN);
});

test('a run that counts keeps the ranges that it counts for', () => {
  const counting: FrozenRun = { ...FROZEN, form: { kind: 'count' }, counted: FROZEN.ranges };
  expect(readRunOptions(writeRunOptions(counting))).toEqual(counting);
});

test('options of a newer format are refused, not misread', () => {
  const newer = writeRunOptions(FROZEN).replace('"format":1', '"format":2');
  expect(() => readRunOptions(newer)).toThrow('options of format 2, and this version reads 1');
});

const NO_RANGES = { ranges: [], families: [], excludeFamilies: [], latestOnly: false };

test('ranges and prefixes that touch are united, so that a row in several is read once', () => {
  const key = (text: string) => ({ kind: 'closed', key: Buffer.from(text).toString('base64') }) as const;
  const open = (text: string) => ({ ...key(text), kind: 'open' }) as const;
  const ranges = [
    { start: key('m'), end: open('z') },
    { start: key('a'), end: open('m') },
    { start: key('b'), end: open('c') },
  ];
  expect(rangesOf({ ranges })).toEqual([{ start: closedBound(Buffer.from('a')), end: openBound(Buffer.from('z')) }]);
});

test('without a range the whole table is read', () => {
  expect(rangesOf({ ranges: [] })).toEqual([{ start: UNBOUNDED, end: UNBOUNDED }]);
});

test('the shape narrows by family, then by time, then to the latest version in that time', () => {
  expect(shapeFilter(NO_RANGES, {})).toBeUndefined();
  const shape = { families: ['a', 'b'], excludeFamilies: [], latestOnly: true };
  expect(shapeFilter(shape, { sinceMicros: 5_000n })).toEqual({
    kind: 'chain',
    filters: [
      {
        kind: 'interleave',
        filters: [
          { kind: 'family', family: 'a' },
          { kind: 'family', family: 'b' },
        ],
      },
      { kind: 'timestampRange', startMicros: 5_000n },
      { kind: 'cellsPerColumn', count: 1 },
    ],
  });
  expect(shapeFilter({ families: [], excludeFamilies: ['a'], latestOnly: false }, {})).toEqual({
    kind: 'otherFamilies',
    family: 'a',
  });
});

test('a run since the last one reads from the start of that one less the overlap, and the first run everything', () => {
  const selection = { ...NO_RANGES, timestampWindow: { since: 'last-run', overlapMillis: 300_000 } } as const;
  expect(windowOf(selection, undefined)).toEqual({});
  expect(windowOf(selection, 1_000_000)).toEqual({ sinceMicros: 700_000_000n });
  expect(windowOf(selection, 1000)).toEqual({ sinceMicros: 0n });
});
