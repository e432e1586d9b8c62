import { expect, test } from 'vitest';
import { loadDepartures } from '../../../../../infra/local/demo/base/departures.ts';
import { departure } from '../departure.ts';

test('the data set holds 20,000 flights, and the first of them is that of the file', async () => {
  const all = await loadDepartures(20_000);
  expect(all[0]).toEqual(departure(0, { delay: 66 }));
  await expect(loadDepartures(20_001)).rejects.toThrow(/20001 flights expected/);
});
