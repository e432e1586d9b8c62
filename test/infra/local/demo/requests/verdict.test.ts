import { expect, test } from 'vitest';
import type { Result } from '../../../../../infra/local/demo/requests/results.ts';
import { judgeRequests, type RequestsObserved } from '../../../../../infra/local/demo/requests/verdict.ts';
import { departure } from '../departure.ts';

const result = (correlationId: string, more: Partial<Result> = {}): Result => ({
  ...{ correlationId, hasWritten: false, mayBeReplayed: false },
  ...more,
});
const wrote = { hasWritten: true };
/** Two flights of one airport and day; the second one was there first. */
const right: RequestsObserved = {
  published: new Map([
    ['a', { flight: departure(1), copies: 1 }],
    ['b', { flight: departure(2), copies: 1 }],
  ]),
  waitingMessages: 0,
  results: { first: [result('a'), result('b', wrote)], latest: [result('a', wrote), result('b', wrote)] },
  airportDays: new Map([['DTW#2001-01-01', '00002']]),
  markers: 2,
  routes: {
    ...{ rowsExpected: 1, rowsRead: 1, cellsCompared: 2, missingRows: 0, unexpectedRows: 0, differentCells: 0 },
  },
  counted: ['1', '2'],
};
const verdict = (observed: Partial<RequestsObserved>): string[] =>
  judgeRequests(2, { ...right, ...observed }).flatMap(({ what, isRight }) => (isRight ? [] : [what]));
const withFirst = (...first: readonly Result[]): Partial<RequestsObserved> => ({
  results: { ...right.results, first },
});

test('what is as it must be is right, and so is a writer whose answer was lost and who is told that it may have written', () => {
  expect(verdict({})).toEqual([]);
  expect(verdict(withFirst(result('a'), result('b', { mayBeReplayed: true })))).toEqual([]);
  expect(verdict(withFirst(result('a'), result('b', wrote), result('b', { mayBeReplayed: true })))).toEqual([]);
});

test.each<[string, Partial<RequestsObserved>, string[]]>([
  ['a request without an answer', withFirst(result('b', wrote)), ['first: requests answered']],
  ['an answer to nobody', withFirst(result('a'), result('b', wrote), result('c')), ['first: answers to nobody']],
  [
    'a writer that was told that it did not',
    withFirst(result('a'), result('b')),
    ['first: writers that were not told'],
  ],
  [
    'two that were told that they wrote',
    withFirst(result('a', wrote), result('b', wrote)),
    ['first: others that were told that they wrote'],
  ],
  ['a marker too few', { markers: 1 }, ['first: markers, one for each request']],
  ['a wrong cell', { routes: { ...right.routes, differentCells: 1 } }, ['latest: cells different']],
  ['a counter that stands still', { counted: ['1', '1'] }, ['a counter over HTTP, request 2']],
])('%s is wrong', (_case, observed, wrong) => {
  expect(verdict(observed)).toEqual(wrong);
});
