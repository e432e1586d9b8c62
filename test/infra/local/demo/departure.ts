import type { Departure } from '../../../../infra/local/demo/base/departures.ts';

/** A flight whose number alone matters. */
export const departure = (number: number, more: Partial<Departure> = {}): Departure => ({
  ...{ number, origin: 'DTW', destination: 'LAS', day: '2001-01-01', time: '00:47', delay: -6, miles: 1750 },
  ...more,
});
