import type { Flight } from '../../../../infra/local/demo/base/flights.ts';

/** A flight whose number alone matters. */
export const flight = (number: number, more: Partial<Flight> = {}): Flight => ({
  number,
  delay: -12,
  distance: 500,
  time: 0.5,
  ...more,
});

export const flights = (count: number): Flight[] => Array.from({ length: count }, (_, number) => flight(number));
