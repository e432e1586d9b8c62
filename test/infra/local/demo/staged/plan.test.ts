import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  copiesOf,
  departuresOf,
  effectsOf,
  planMessages,
  refusedBy,
  remarksOf,
  type StagedMessage,
} from '../../../../../infra/local/demo/staged/plan.ts';
import { departure } from '../departure.ts';

const someFlights = fc
  .array(fc.constantFrom('ATL', 'DTW', 'ORD'), { minLength: 1, maxLength: 450 })
  .map((origins) => origins.map((origin, number) => departure(number, { origin })));

const numbersOf = (messages: readonly StagedMessage[]): number[] =>
  messages.flatMap(({ flights }) => flights.map(({ number }) => number)).toSorted((left, right) => left - right);

test('every flight is in exactly one message of departures, those of the busiest airport apart, and every tenth in one of remarks', () => {
  fc.assert(
    fc.property(someFlights, (flights) => {
      const plan = planMessages(flights);
      expect(numbersOf(departuresOf(plan))).toEqual([...flights.keys()]);
      expect(numbersOf(remarksOf(plan))).toEqual([...flights.keys()].filter((number) => number % 10 === 0));
      const ofOrigin = (origin: string): number => flights.filter((flight) => flight.origin === origin).length;
      expect(Math.max(...['ATL', 'DTW', 'ORD'].map(ofOrigin))).toBe(ofOrigin(plan.hub));
      expect(plan.hot.flatMap((message) => message.flights).every(({ origin }) => origin === plan.hub)).toBe(true);
      expect(plan.steady.flatMap((message) => message.flights).some(({ origin }) => origin === plan.hub)).toBe(false);
      const ids = [...departuresOf(plan), ...remarksOf(plan)].flatMap(({ id }) => id ?? []);
      expect(new Set(ids).size).toBe(ids.length);
    }),
  );
});

test('of ten messages one is published twice under its id and one twice without; each has a record that is refused', () => {
  const flights = [...new Array<undefined>(101).keys()].map((number) => departure(number, { origin: 'ATL' }));
  const { steady, hot } = planMessages([
    ...flights,
    ...flights.slice(1).map((flight) => ({ ...flight, origin: 'DTW' })),
  ]);
  expect(hot).toHaveLength(11);
  expect(steady.map((message) => `${message.copies} ${effectsOf(message)}`)).toEqual([
    '1 1',
    '1 1',
    '1 1',
    '2 1',
    '1 1',
    '1 1',
    '1 1',
    '2 2',
    '1 1',
    '1 1',
  ]);
  expect(copiesOf(steady)).toBe(12);
  expect(steady.map(({ refused }) => refused.flights)).toEqual(new Array(10).fill(9));
  expect(refusedBy('flights', steady)).toBe(11);
  expect(steady.flatMap(({ refused }, index) => (refused.airports === undefined ? [] : [index]))).toEqual([5]);
  expect(refusedBy('airports', hot)).toBe(0);
});
