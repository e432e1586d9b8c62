import { expect, test } from 'vitest';
import type { MarkedTable } from '../../../../../infra/local/demo/staged/read-back.ts';
import { judgeStaged, type StagedObserved } from '../../../../../infra/local/demo/staged/verdict.ts';

const table: MarkedTable = {
  ...{ rowsExpected: 3, rowsRead: 3, cellsCompared: 9, missingRows: 0, unexpectedRows: 0, differentCells: 0 },
  markers: 4,
};
const right: StagedObserved = {
  ...{ messages: 6, waitingMessages: 0, segments: 0, openCheckpoints: 0, unanswered: 2, deduplicated: 2 },
  held: 2,
  tables: { airports: table, departures: table },
};
const truth = { effects: 4, tables: { airports: new Map(), departures: new Map() } };
const verdict = (observed: Partial<StagedObserved>): string[] =>
  judgeStaged(truth, 6, { ...right, ...observed }).flatMap(({ what, isRight }) => (isRight ? [] : [what]));

test('what is as it must be is right, and more trouble than there had to be is no fault', () => {
  expect(verdict({})).toEqual([]);
  expect(verdict({ deduplicated: 100 })).toEqual([]);
});

test.each<[string, Partial<StagedObserved>, string[]]>([
  ['a segment that is left', { segments: 1 }, ['segments left']],
  ['a checkpoint that is open', { openCheckpoints: 1 }, ['checkpoints not committed']],
  ['a message that was not acknowledged', { waitingMessages: 1 }, ['messages left']],
  ['a publish that is missing', { messages: 5 }, ['messages published, copies counted']],
  [
    'a wrong sum',
    { tables: { airports: { ...table, differentCells: 1 }, departures: table } },
    ['airports: cells different'],
  ],
  ['a marker too few', { tables: { airports: table, departures: { ...table, markers: 3 } } }, ['departures: markers']],
  ['a coordinator that worked beside another', { held: 1 }, ['pipelines that a second coordinator left alone']],
  ['effects that were not found', { deduplicated: 1 }, ['effects found applied already (at least)']],
])('%s is wrong', (_case, observed, wrong) => {
  expect(verdict(observed)).toEqual(wrong);
});
