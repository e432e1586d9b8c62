import fc from 'fast-check';

/** What one run of the simulation is made of. Equal schedules run alike. */
export interface Schedule {
  readonly seed: number;
  readonly messages: number;
  /** Rows that they spread over: with one, everything coalesces. */
  readonly rows: number;
  /** Share of remote calls at which the calling process dies. */
  readonly deathShare: number;
  /** Share of requests to the table, and of calls to the store, that fail, before their effect or after it. */
  readonly tableFailures: number;
  readonly storeFailures: number;
  /** Of deliveries, for all three of: duplicated, delayed, acknowledgement lost. */
  readonly deliveryFaults: number;
  /** Share of work messages that are lost between the coordinator and its topic. */
  readonly lostWork: number;
  /** Clocks are wrong by up to so much. */
  readonly skewMillis: number;
  /** Coordinators that the scheduler starts a minute, where one would do. */
  readonly coordinators: number;
  readonly maxStagedEntries: number;
}

/** Schedules in which processes die at such shares of their calls. */
export const schedules = (deathShares: readonly [number, ...number[]]): fc.Arbitrary<Schedule> =>
  fc.record({
    seed: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    messages: fc.constantFrom(3, 8, 16),
    rows: fc.constantFrom(1, 3),
    deathShare: fc.constantFrom(...deathShares),
    tableFailures: fc.constantFrom(0, 0.2, 0.6),
    storeFailures: fc.constantFrom(0, 0.1, 0.3),
    deliveryFaults: fc.constantFrom(0, 0.15, 0.4),
    lostWork: fc.constantFrom(0, 0.3),
    skewMillis: fc.constantFrom(0, 3000),
    coordinators: fc.constantFrom(1, 2),
    maxStagedEntries: fc.constantFrom(6, 1000),
  });
