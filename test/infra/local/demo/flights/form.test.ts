import { expect, test } from 'vitest';
import { departureMicros } from '../../../../../infra/local/demo/bulk/form.ts';
import { codedForm } from '../../../../../infra/local/demo/flights/form.ts';
import { flight, flights } from '../flight.ts';

const { rowKeyOf } = codedForm;

test('row keys are unique and departures are whole minutes', () => {
  const some = flights(20_000);
  expect(new Set(some.map(rowKeyOf)).size).toBe(some.length);
  expect(departureMicros(flight(0, { time: 23.983333333333334 })) % 60_000_000n).toBe(0n);
});
