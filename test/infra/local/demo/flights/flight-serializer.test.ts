import { expect, test } from 'vitest';
import type { Flight } from '../../../../../infra/local/demo/base/flights.ts';
import { planMessages, type PlannedRecord } from '../../../../../infra/local/demo/bulk/plan.ts';
import serializeFlight from '../../../../../infra/local/demo/flights/flight-serializer.ts';
import { flight } from '../flight.ts';

const planOne = (planned: Flight): PlannedRecord => planMessages([planned])[0]!.records[0]!;

const message = {
  ...{ messageId: '1', publishTimeMicros: 0n, data: Buffer.alloc(0), attributes: {} },
  ...{ orderingKey: '', subscription: '' },
};
const serialize = (planned: PlannedRecord): ReturnType<typeof serializeFlight> =>
  serializeFlight({ message, index: 0, data: Buffer.from(planned.line) }, { publishTimeMicros: 0n });

test('the serializer of the demo writes three cells at the departure, skips a short hop, and throws at what is not JSON', () => {
  const entry = serialize(planOne(flight(1)));
  expect(entry?.rowKey.toString()).toBe('25#000001');
  expect(entry?.mutations.map((mutation) => mutation.kind)).toEqual(['setCell', 'setCell', 'setCell']);
  expect(serialize(planOne(flight(2, { distance: 99 })))).toBeNull();
  expect(() => serialize(planOne(flight(404)))).toThrow(SyntaxError);
});
