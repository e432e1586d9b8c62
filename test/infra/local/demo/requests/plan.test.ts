import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectedRoutes, planRequests, requestData } from '../../../../../infra/local/demo/requests/plan.ts';
import { departure } from '../departure.ts';

const shuffledFlights = fc
  .uniqueArray(fc.record({ number: fc.nat(500), minute: fc.nat(59) }), {
    selector: ({ number }) => number,
    minLength: 1,
  })
  .map((all) => all.map(({ number, minute }) => departure(number, { time: `10:${String(minute).padStart(2, '0')}` })));

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
  const [message] = planRequests([departure(3)]);
  const record = JSON.parse(requestData(message!).toString('utf8')) as { readonly departure: number };
  expect(record).toMatchObject({ flight: '00003', origin: 'DTW', day: '2001-01-01', delay: -6 });
  const [address] = [
    ...expectedRoutes([departure(3)])
      .get('DTW-LAS')!
      .keys(),
  ];
  expect(address).toBe(`latest:flight@${record.departure}`);
  expect(record.departure % 1000).toBe(0);
});
