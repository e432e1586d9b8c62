import { expect, test } from 'vitest';
import type { StagedMessage, StagedPlan } from '../../../../../infra/local/demo/staged/plan.ts';
import type { MarkedTable } from '../../../../../infra/local/demo/staged/read-back.ts';
import { judgeStaged, type StagedObserved } from '../../../../../infra/local/demo/staged/verdict.ts';
import { departure } from '../departure.ts';

const message = (number: number, refused: StagedMessage['refused']): StagedMessage => ({
  ...{ flights: [departure(number)], id: `batch-${number}`, copies: 2, refused },
});
const plan: StagedPlan = {
  hub: 'DTW',
  steady: [message(1, { airports: 0, flights: 0 })],
  hot: [message(2, { flights: 0 })],
  early: [message(3, { remarks: 0 })],
  late: [message(4, { remarks: 0 })],
};
const truth = {
  airports: { effects: 4, rows: new Map() },
  departures: { effects: 4, rows: new Map() },
  remarks: { effects: 4, rows: new Map() },
};
const table: MarkedTable = {
  ...{ rowsExpected: 3, rowsRead: 3, cellsCompared: 9, missingRows: 0, unexpectedRows: 0, differentCells: 0 },
  markers: 4,
};
const tables = { airports: table, departures: table, remarks: table };
const right: StagedObserved = {
  ...{ messages: 8, waitingMessages: 0, segments: 0, openCheckpoints: 0, unanswered: 2, deduplicated: 2, tables },
  letters: { refused: 1, others: 0, copies: 1 },
  forever: { refused: 2, others: 0, copies: 2 },
  withoutFamily: { refused: 1, others: 0, copies: 1 },
  ...{ checkpointsWithoutPoison: 0, passingRests: 0, hotRequests: 1, held: 3 },
};
const verdict = (observed: Partial<StagedObserved>): string[] =>
  judgeStaged(plan, truth, { ...right, ...observed }).flatMap(({ what, isRight }) => (isRight ? [] : [what]));

test('what is as it must be is right, and more trouble than there had to be is no fault', () => {
  expect(verdict({})).toEqual([]);
  expect(verdict({ deduplicated: 100 })).toEqual([]);
  expect(verdict({ letters: { refused: 1, others: 0, copies: 7 } })).toEqual([]);
});

test.each<[string, Partial<StagedObserved>, string[]]>([
  ['a segment that is left', { segments: 1 }, ['segments left']],
  ['a checkpoint that is open', { openCheckpoints: 1 }, ['checkpoints not committed']],
  ['a message that was not acknowledged', { waitingMessages: 1 }, ['messages left']],
  ['a publish that is missing', { messages: 7 }, ['messages published, copies counted']],
  ['a wrong sum', { tables: { ...tables, airports: { ...table, differentCells: 1 } } }, ['airports: cells different']],
  ['a marker too few', { tables: { ...tables, departures: { ...table, markers: 3 } } }, ['departures: markers']],
  [
    'a poison record without a letter',
    { letters: { refused: 0, others: 0, copies: 0 } },
    ['airports: poison records with a dead letter'],
  ],
  [
    'a letter of a good record',
    { letters: { refused: 1, others: 1, copies: 2 } },
    ['airports: dead letters of other records'],
  ],
  [
    'a poison record that is gone',
    { forever: { refused: 1, others: 0, copies: 1 } },
    ['flights: poison records set apart, and so they stay'],
  ],
  [
    'a good record that is set apart at the end',
    { forever: { refused: 2, others: 1, copies: 3 } },
    ['flights: other records set apart'],
  ],
  [
    'a checkpoint that had no poison',
    { checkpointsWithoutPoison: 1 },
    ['flights: checkpoints without a poison record'],
  ],
  [
    'a record that is held up by the missing family of another',
    { withoutFamily: { refused: 1, others: 1, copies: 2 } },
    ['remarks: other records set apart'],
  ],
  ['a rest that did not drain', { passingRests: 1 }, ['airports, remarks: segments set apart at the end']],
  ['a hot row of a request for each record', { hotRequests: 20 }, ['requests for the hot row, 1 records (at most)']],
  ['a coordinator that worked beside another', { held: 2 }, ['pipelines that a second coordinator left alone']],
  ['effects that were not found', { deduplicated: 1 }, ['effects found applied already (at least)']],
])('%s is wrong', (_case, observed, wrong) => {
  expect(verdict(observed)).toEqual(wrong);
});
