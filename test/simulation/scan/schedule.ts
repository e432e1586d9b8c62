import fc from 'fast-check';

/** What one run of the simulation is made of. Equal schedules run alike. */
export interface Schedule {
  readonly seed: number;
  readonly rows: number;
  /** Ranges and prefixes of the run, by name; `table` is all of it. */
  readonly selection: 'table' | 'overlapping' | 'tiny';
  readonly parallelism: number;
  readonly maxConcurrentSplits: number;
  readonly maxRecordsPerMessage: number;
  readonly orderingKeys: 'none' | 'row' | number;
  /** Share of remote calls at which the calling process dies. */
  readonly deathShare: number;
  /** Share of remote calls at which the calling process freezes, and wakes up to two minutes later. */
  readonly freezeShare: number;
  /** Share of calls of the store that fail, before their effect or after it, or conflict. */
  readonly storeFailures: number;
  /** Share of commits that the client repeats by itself, up to ten minutes later, or that land late. */
  readonly lateCommits: number;
  /** Share of messages of a stream at which it is cut, says only how far it looked, or takes a row back. */
  readonly streamFaults: number;
  /** Share of publishes that fail before their effect, or whose answer is lost. */
  readonly publishFaults: number;
  /** Share of publishes that are applied after their deadline. */
  readonly latePublishes: number;
  readonly skewMillis: number;
  /** Share of starts of a slot beside an invocation of it that is still at work. */
  readonly overlaps: number;
  /** Share of sessions that are told to stop in the middle, as with SIGTERM. */
  readonly stops: number;
  /** A row that the service will not read, and one whose message the topic refuses: both are quarantined. */
  readonly hasBadRows: boolean;
  /** Coordinators beside the slots. */
  readonly coordinators: 0 | 1;
}

/** What a schedule may have beyond what it always has. Each kind is in one schedule of twenty at least. */
export const KINDS: Readonly<Record<string, (schedule: Schedule) => boolean>> = {
  'processes that die': ({ deathShare }) => deathShare > 0,
  'zombies that wake late': ({ freezeShare }) => freezeShare > 0,
  'a store that fails': ({ storeFailures }) => storeFailures > 0,
  'commits repeated later': ({ lateCommits }) => lateCommits > 0,
  'streams that are cut': ({ streamFaults }) => streamFaults > 0,
  'publishes that fail': ({ publishFaults }) => publishFaults > 0,
  'publishes applied late': ({ latePublishes }) => latePublishes > 0,
  'overlapping invocations': ({ overlaps }) => overlaps > 0,
  'sessions that are stopped': ({ stops }) => stops > 0,
  'bad rows': ({ hasBadRows }) => hasBadRows,
  'packed messages': ({ maxRecordsPerMessage }) => maxRecordsPerMessage > 1,
  'ordering keys': ({ orderingKeys }) => orderingKeys !== 'none',
  'tiny ranges': ({ selection }) => selection === 'tiny',
  'no coordinator': ({ coordinators }) => coordinators === 0,
};

/** Whether nothing goes wrong: then every row is published exactly once. */
export const isCalm = (schedule: Schedule): boolean =>
  [
    schedule.deathShare,
    schedule.freezeShare,
    schedule.storeFailures,
    schedule.lateCommits,
    schedule.publishFaults,
    schedule.latePublishes,
    schedule.overlaps,
  ].every((share) => share === 0);

export const schedules: fc.Arbitrary<Schedule> = fc
  .record({
    seed: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    rows: fc.constantFrom(0, 1, 20, 60),
    selection: fc.constantFrom<Schedule['selection']>('table', 'table', 'overlapping', 'tiny'),
    parallelism: fc.constantFrom(1, 2, 4),
    maxConcurrentSplits: fc.constantFrom(1, 2, 4),
    maxRecordsPerMessage: fc.constantFrom(1, 1, 3),
    orderingKeys: fc.constantFrom<Schedule['orderingKeys']>('none', 'row', 2),
    deathShare: fc.constantFrom(0, 0.01, 0.04),
    freezeShare: fc.constantFrom(0, 0, 0.01),
    storeFailures: fc.constantFrom(0, 0.1, 0.3),
    lateCommits: fc.constantFrom(0, 0, 0.2),
    streamFaults: fc.constantFrom(0, 0.1, 0.3),
    publishFaults: fc.constantFrom(0, 0.1, 0.3),
    latePublishes: fc.constantFrom(0, 0, 0.1),
    skewMillis: fc.constantFrom(0, 3000, 30_000),
    overlaps: fc.constantFrom(0, 0, 0.3),
    stops: fc.constantFrom(0, 0, 0.3),
    hasBadRows: fc.boolean(),
    coordinators: fc.constantFrom<Schedule['coordinators']>(0, 1),
  })
  .chain((stormy) =>
    // One in six runs without any fault, to see that everything comes exactly once.
    fc.integer({ min: 0, max: 5 }).map((drawn) =>
      drawn > 0
        ? stormy
        : {
            ...stormy,
            ...{ deathShare: 0, freezeShare: 0, storeFailures: 0, lateCommits: 0 },
            ...{ publishFaults: 0, latePublishes: 0, overlaps: 0 },
          },
    ),
  );
