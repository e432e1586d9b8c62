import { describe, expect, test } from 'vitest';
import type { DeadLetter } from '../../../../../infra/local/demo/bulk/dead-letters.ts';
import { expectedOutcome } from '../../../../../infra/local/demo/bulk/truth.ts';
import { BROKEN_FATES } from '../../../../../infra/local/demo/bulk/fates.ts';
import type { Flight } from '../../../../../infra/local/demo/base/flights.ts';
import { planMessages } from '../../../../../infra/local/demo/bulk/plan.ts';
import { countReasons, judge, type Observed } from '../../../../../infra/local/demo/bulk/verdict.ts';

const flights = Array.from({ length: 1200 }, (_, number): Flight => ({
  number,
  delay: 1,
  distance: number % 50 === 49 ? 80 : 500,
  time: 12,
}));
const expected = expectedOutcome(planMessages(flights));

const letters: DeadLetter[] = BROKEN_FATES.flatMap((fate) =>
  Array.from({ length: expected.deadLettered[fate] }, () => ({
    fate,
    reason: fate === 'not-json' ? 'serializer' : 'rejected',
  })),
);
const asItMustBe: Observed = {
  messages: expected.messages,
  records: expected.records,
  delivered: expected.messages + 3,
  acknowledged: expected.messages,
  backlog: 0,
  applied: expected.applied + expected.held,
  skipped: expected.skipped,
  requests: 100,
  requestsForIsolation: 20,
  deadLetters: letters,
  heldRowsBefore: 0,
  heldRowsAfter: expected.heldRows.size,
  redelivered: new Map([['missing-family', 3]]),
  otherRedeliveries: 0,
  unreadable: 0,
  table: {
    rowsExpected: expected.rows.size,
    rowsRead: expected.rows.size,
    cellsCompared: expected.rows.size * 3,
    missingRows: 0,
    unexpectedRows: 0,
    differentCells: 0,
  },
};
const wrong = (observed: Observed): string[] =>
  judge(expected, observed)
    .filter(({ isRight }) => !isRight)
    .map(({ what }) => what);

describe('the verdict', () => {
  test('is right when everything is as it must be', () => {
    expect(wrong(asItMustBe)).toEqual([]);
    expect(judge(expected, asItMustBe)).toHaveLength(19);
  });

  const { table } = asItMustBe;
  test.each<[string, Partial<Observed>, string[]]>([
    ['a publish is missing', { messages: expected.messages - 1 }, ['messages published']],
    [
      'a message is left',
      { acknowledged: expected.messages - 1, backlog: 1 },
      ['messages acknowledged', 'messages left'],
    ],
    ['a record was applied twice', { applied: asItMustBe.applied + 1 }, ['records applied, held ones included']],
    ['a skip is missing', { skipped: expected.skipped - 1 }, ['records skipped: short hops']],
    ['a dead letter is missing', { deadLetters: letters.slice(1) }, ['dead letters: empty-row-key']],
    ['a dead letter came twice', { deadLetters: [...letters, letters[0]!] }, ['dead letters: empty-row-key']],
    [
      'a good record was put aside',
      { deadLetters: [...letters, { fate: 'good', reason: 'rejected' }] },
      ['dead letters of other records'],
    ],
    ['a letter names no record', { deadLetters: [...letters, { reason: 'x' }] }, ['dead letters of other records']],
    ['a held row was there too early', { heldRowsBefore: 1 }, ['held rows before their family is there']],
    ['a held row never came', { heldRowsAfter: 0 }, ['held rows after it was added']],
    ['a sampled row was never readable', { unreadable: 1 }, ['sampled rows never readable']],
    ['a row is missing', { table: { ...table, missingRows: 1 } }, ['rows missing']],
    ['a row is too many', { table: { ...table, unexpectedRows: 1 } }, ['rows unexpected']],
    ['a cell differs', { table: { ...table, differentCells: 1 } }, ['cells different']],
    ['a cell was not compared', { table: { ...table, cellsCompared: 1 } }, ['cells compared']],
  ])('says so when %s', (_case, change, problems) => {
    expect(wrong({ ...asItMustBe, ...change })).toEqual(problems);
  });

  test('allows more of what is counted at least once where the function asked for messages again, never less', () => {
    const repeated = { ...asItMustBe, otherRedeliveries: 2, applied: asItMustBe.applied + 100 };
    expect(wrong({ ...repeated, skipped: expected.skipped + 1, deadLetters: [...letters, letters[0]!] })).toEqual([]);
    expect(wrong({ ...repeated, applied: asItMustBe.applied - 1 })).toEqual(['records applied, held ones included']);
  });

  test('groups dead letters by the reason they carry', () => {
    const rejected = letters.length - expected.deadLettered['not-json'];
    expect(Object.fromEntries(countReasons(letters))).toEqual({
      rejected,
      serializer: expected.deadLettered['not-json'],
    });
  });
});
