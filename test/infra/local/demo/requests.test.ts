import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Departure } from '../../../../infra/local/demo/departures.ts';
import { expectedRoutes, planRequests, requestData } from '../../../../infra/local/demo/requests/plan.ts';
import { readResult, type Result } from '../../../../infra/local/demo/requests/results.ts';
import { judgeRequests, type RequestsObserved } from '../../../../infra/local/demo/requests/verdict.ts';

const flight = (number: number, more: Partial<Departure> = {}): Departure => ({
  ...{ number, origin: 'DTW', destination: 'LAS', day: '2001-01-01', time: '00:47', delay: -6, miles: 1750 },
  ...more,
});

const shuffledFlights = fc
  .uniqueArray(fc.record({ number: fc.nat(500), minute: fc.nat(59) }), {
    selector: ({ number }) => number,
    minLength: 1,
  })
  .map((all) => all.map(({ number, minute }) => flight(number, { time: `10:${String(minute).padStart(2, '0')}` })));

test('the last departure of a route is the same in whatever order flights come, also of two in one minute', () => {
  fc.assert(
    fc.property(shuffledFlights, (flights) => {
      const [last] = flights.toSorted(
        (left, right) => right.time.localeCompare(left.time) || right.number - left.number,
      );
      const routes = expectedRoutes(flights);
      expect([...routes.keys()]).toEqual(['DTW-LAS']);
      const [hex = ''] = [...routes.get('DTW-LAS')!.values()];
      expect(Number(Buffer.from(hex, 'hex').toString('utf8'))).toBe(last?.number);
      expect(routes).toEqual(expectedRoutes(flights.toReversed()));
    }),
  );
});

test('a message holds one record, and its time is that of the expected cell', () => {
  const [message] = planRequests([flight(3)]);
  const record = JSON.parse(requestData(message!).toString('utf8')) as { readonly departure: number };
  expect(record).toMatchObject({ flight: '00003', origin: 'DTW', day: '2001-01-01', delay: -6 });
  const [address] = [
    ...expectedRoutes([flight(3)])
      .get('DTW-LAS')!
      .keys(),
  ];
  expect(address).toBe(`latest:flight@${record.departure}`);
  expect(record.departure % 1000).toBe(0);
});

test('a result tells whether its request wrote; what is no result is an error', () => {
  const result = (outcome: object, more: object = {}): Buffer =>
    Buffer.from(JSON.stringify({ version: 1, correlationId: '7', outcome: { conditional: outcome }, ...more }));
  const wrote = { predicateMatched: false, selectedBranch: 'otherwise', selectedBranchHasMutations: true };
  const left = { predicateMatched: true, selectedBranch: 'then', selectedBranchHasMutations: false };
  expect(readResult(result(wrote))).toEqual({ correlationId: '7', hasWritten: true, mayBeReplayed: false });
  expect(readResult(result(left, { mayBeReplayed: true }))).toMatchObject({ hasWritten: false, mayBeReplayed: true });
  expect(() => readResult(Buffer.from('{"version":1}'))).toThrow();
});

const result = (correlationId: string, more: Partial<Result> = {}): Result => ({
  ...{ correlationId, hasWritten: false, mayBeReplayed: false },
  ...more,
});
const wrote = { hasWritten: true };
/** Two flights of one airport and day; the second one was there first. */
const right: RequestsObserved = {
  published: new Map([
    ['a', { flight: flight(1), copies: 1 }],
    ['b', { flight: flight(2), copies: 1 }],
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
