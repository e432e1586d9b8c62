import { expect, test } from 'vitest';
import { loadFlights } from '../../../../../infra/local/demo/base/flights.ts';

test('the data set holds 200,000 flights, and the first of them are those of the file', async () => {
  const all = await loadFlights(200_000);
  expect(all.slice(0, 2)).toEqual([
    { number: 0, delay: 0, distance: 1452, time: 0 },
    { number: 1, delay: 171, distance: 2227, time: 0 },
  ]);
  expect(all.at(-1)?.number).toBe(199_999);
  await expect(loadFlights(200_001)).rejects.toThrow(/200001 flights expected/);
});
