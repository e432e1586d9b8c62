import { expect, test } from 'vitest';
import { refusedByModule, tooLarge } from '../../../../../infra/local/demo/scan/letters.ts';
import { planTable } from '../../../../../infra/local/demo/scan/rows.ts';
import { judgeScan, type ScanObserved } from '../../../../../infra/local/demo/scan/verdict.ts';

const plan = planTable(100);
const totals = { rows: 99, cells: 300, messages: 98, skipped: 0, quarantined: 2 };
const copy = { totals, rows: 99, difference: { rows: 0, cells: 0 }, letters: new Set([tooLarge(plan.largeKey)]) };
const right: ScanObserved = {
  rowsStored: 100,
  table: { rows: 99, cells: 300 },
  consumed: { rows: 101, distinct: 98, unexpected: 0, different: 0 },
  repeated: { ofTheCrash: 3, others: 0 },
  ...{ uncommitted: 3, isTaken: true, leftByStop: 0, moves: 5, refusals: 7 },
  letters: new Set([tooLarge(plan.largeKey), refusedByModule(plan.refusedKey)]),
  ...{ totals, told: totals, isToldEarly: false, copy },
};
const verdict = (observed: Partial<ScanObserved>): string[] =>
  judgeScan(plan, { ...right, ...observed }).flatMap(({ what, isRight }) => (isRight ? [] : [what]));

test('what is as it must be is right', () => {
  expect(verdict({})).toEqual([]);
});

test.each<[string, Partial<ScanObserved>, string[]]>([
  [
    'a row that did not come',
    { consumed: { ...right.consumed, distinct: 97 } },
    ['topic: rows, each once', 'run: records handed on'],
  ],
  [
    'a row with other cells',
    { consumed: { ...right.consumed, different: 1 } },
    ['topic: rows with other cells than in the table'],
  ],
  [
    'a row that is not in the table',
    { consumed: { ...right.consumed, unexpected: 1 } },
    ['topic: rows that the table has not'],
  ],
  ['a letter of a good row', { letters: new Set([...right.letters, 'form 00#0000000']) }, ['other letters']],
  [
    'a letter that is missing',
    { letters: new Set([tooLarge(plan.largeKey)]) },
    ['letter of the row that the module refuses'],
  ],
  ['a total too large', { totals: { ...totals, rows: 100 } }, ['run: rows', 'run: rows, as its last message tells']],
  ['an end that nobody told', { told: undefined }, ['run: rows, as its last message tells']],
  ['rows behind the end', { isToldEarly: true }, ['messages of rows behind the last one']],
  ['a repeat without a crash', { repeated: { ofTheCrash: 3, others: 1 } }, ['repeats that the crash does not explain']],
  ['more repeats than the crash explains', { uncommitted: 2 }, ['repeats that the crash explains (at most)']],
  [
    'a crash that shows nowhere',
    { repeated: { ofTheCrash: 0, others: 0 } },
    ['repeats that the crash explains (at least)'],
  ],
  ['a slot that nobody took over', { isTaken: false }, ['the killed slot was taken over']],
  ['a split that was not given back', { leftByStop: 1 }, ['splits that the stopped slot did not give back']],
  ['a topic that refused nothing', { refusals: 0 }, ['publishes refused (at least)']],
  [
    'a copy with other cells',
    { copy: { ...copy, difference: { rows: 0, cells: 1 } } },
    ['copy: rows with other cells'],
  ],
  [
    'a row that was not copied',
    { copy: { ...copy, rows: 98, difference: { rows: 1, cells: 0 } } },
    ['copy: rows', 'copy: rows missing or unexpected'],
  ],
])('%s is wrong', (_, observed, wrong) => {
  expect(verdict(observed)).toEqual(wrong);
});
