import { expect, test } from 'vitest';
import { NO_COUNTS, type HeldSplit } from '../../../../shared/scan/runs/split.ts';
import {
  bytesOfSplit,
  failSplit,
  finishSplit,
  MAX_FAILURES,
  moveSplit,
  returnRun,
  returnSplit,
} from '../../../../shared/scan/runs/split-updates.ts';
import { progressTo, rangeFrom } from '../../../support/slot-world.ts';

const NOW = 1_000_000;
const held = (change: Partial<HeldSplit> = {}): HeldSplit => ({
  run: 'r1',
  range: rangeFrom('a'),
  counts: NO_COUNTS,
  failures: 0,
  ...change,
});
const failed = held({ failures: 3, problem: 'UNAVAILABLE' });
const middle = (): number => 0.5;

test('a split that goes on forgets its failures, and one that stands keeps them', () => {
  expect(moveSplit('p-0', progressTo('b', 5)).edit({ 'p-0': failed })).toEqual({
    units: { 'p-0': held(progressTo('b', 5)) },
    changes: [],
  });
  expect(moveSplit('p-0', progressTo('a', 0)).edit({ 'p-0': failed })?.units['p-0']).toEqual(failed);
});

test('a split that is done, or given back, leaves its slot with its last position and counts', () => {
  const units = { 'p-0': held(), 'p-1': held() };
  expect(finishSplit('p-0', progressTo('z', 9)).edit(units)).toEqual({
    units: { 'p-1': held() },
    changes: [{ split: { ...held(progressTo('z', 9)), id: 'p-0', state: { kind: 'done' } } }],
  });
  expect(returnSplit('p-1', progressTo('c', 2), NOW).edit(units)?.changes).toEqual([
    { split: { ...held(progressTo('c', 2)), id: 'p-1', state: { kind: 'waiting', since: NOW } } },
  ]);
});

test.each([
  [0, 10_000],
  [1, 20_000],
  [6, 600_000],
])('a split that failed %i times before waits %i ms', (failures, millis) => {
  const edit = failSplit('p-0', undefined, 'refused', NOW, middle).edit({ 'p-0': held({ failures }) });
  expect(edit?.changes).toMatchObject([
    { split: { failures: failures + 1, problem: 'refused', state: { kind: 'waiting', since: NOW + millis } } },
  ]);
});

test('a split that fails the tenth time in a row is not tried again, unless it went on in between', () => {
  const last = held({ failures: MAX_FAILURES - 1 });
  const kindOf = (edit: ReturnType<ReturnType<typeof failSplit>['edit']>) => edit?.changes[0]?.split.state.kind;
  expect(kindOf(failSplit('p-0', undefined, 'refused', NOW, middle).edit({ 'p-0': last }))).toBe('failed');
  expect(kindOf(failSplit('p-0', progressTo('b', 1), 'refused', NOW, middle).edit({ 'p-0': last }))).toBe('waiting');
});

test('nothing is written of a split that the slot does not have', () => {
  for (const update of [
    moveSplit('p-0', progressTo('b', 5)),
    finishSplit('p-0', progressTo('b', 5)),
    returnSplit('p-0', undefined, NOW),
    failSplit('p-0', undefined, 'refused', NOW, middle),
    returnRun('r2', NOW),
  ]) {
    expect(update.edit({ 'p-1': held() })).toBeUndefined();
  }
});

test('all splits of a run go back at once, and those of others stay', () => {
  const edit = returnRun('r1', NOW).edit({ 'p-0': held(), 'q-0': held({ run: 'r2' }), 'p-1': held() });
  expect(Object.keys(edit?.units ?? {})).toEqual(['q-0']);
  expect(edit?.changes.map(({ split }) => split.id)).toEqual(['p-0', 'p-1']);
});

test('the size of a split counts its keys and its problem', () => {
  const [small, large] = [held(), held({ range: rangeFrom('a'.repeat(4096)) })];
  expect(bytesOfSplit('p-0', large) - bytesOfSplit('p-0', small)).toBe(4095);
  expect(bytesOfSplit('p-0', failed)).toBeGreaterThan(bytesOfSplit('p-0', small));
});
