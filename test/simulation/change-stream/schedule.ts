import fc from 'fast-check';

/** What one run of the simulation is made of. Equal schedules run alike. */
export interface Schedule {
  readonly seed: number;
  /** Partitions that the service has at the start. */
  readonly partitions: number;
  readonly changes: number;
  /** Splits, merges, shifts and moves during the storm. */
  readonly topologyChanges: number;
  readonly parallelism: number;
  readonly maxConcurrentStreams: number;
  readonly orderingKeys: 'none' | 'row' | number;
  readonly maxRecordsPerMessage: number;
  /** The source ends in the middle of the storm. */
  readonly isBounded: boolean;
  /** Share of remote calls at which the calling process dies. */
  readonly deathShare: number;
  /** Share of remote calls at which the calling process freezes, and wakes up to two minutes later. */
  readonly freezeShare: number;
  /** Share of calls of the store that fail, before their effect or after it, or conflict. */
  readonly storeFailures: number;
  /** Share of commits that the client repeats by itself, up to ten minutes later, or that land late. */
  readonly lateCommits: number;
  /** Share of messages of a stream at which it is cut, refused, silent, or ends early. */
  readonly streamFaults: number;
  /** No coordinator comes before the storm is over. */
  readonly isCoordinatorAway: boolean;
  /** Share of closes that are lost, that name no successor, or one too few. */
  readonly closeFaults: number;
  readonly publishFaults: number;
  /** Share of publishes that are applied after their deadline. */
  readonly latePublishes: number;
  readonly skewMillis: number;
  /** Share of starts of a slot beside an invocation of it that is still at work. */
  readonly overlaps: number;
  /** Share of sessions that are told to stop in the middle, as with SIGTERM. */
  readonly stops: number;
}

/** What a schedule may have beyond what it always has. Each kind is in one schedule of twenty at least. */
export const KINDS: Readonly<Record<string, (schedule: Schedule) => boolean>> = {
  'processes that die': ({ deathShare }) => deathShare > 0,
  'zombies that wake late': ({ freezeShare }) => freezeShare > 0,
  'a store that fails': ({ storeFailures }) => storeFailures > 0,
  'commits repeated later': ({ lateCommits }) => lateCommits > 0,
  'streams that fail': ({ streamFaults }) => streamFaults > 0,
  'closes that are lost or name no successor': ({ closeFaults }) => closeFaults > 0,
  'publishes that fail': ({ publishFaults }) => publishFaults > 0,
  'publishes applied late': ({ latePublishes }) => latePublishes > 0,
  'overlapping invocations': ({ overlaps }) => overlaps > 0,
  'sessions that are stopped': ({ stops }) => stops > 0,
  'an end': ({ isBounded }) => isBounded,
  'more partitions than streams': ({ partitions, parallelism, maxConcurrentStreams }) =>
    partitions > parallelism * maxConcurrentStreams,
  'no coordinator': ({ isCoordinatorAway }) => isCoordinatorAway,
  'packed messages': ({ maxRecordsPerMessage }) => maxRecordsPerMessage > 1,
  'no ordering keys': ({ orderingKeys }) => orderingKeys === 'none',
};

/** Whether nothing goes wrong: then every change is published exactly once. */
export const isCalm = (schedule: Schedule): boolean =>
  [
    schedule.deathShare,
    schedule.freezeShare,
    schedule.storeFailures,
    schedule.lateCommits,
    schedule.publishFaults,
    schedule.latePublishes,
    schedule.streamFaults,
    schedule.closeFaults,
    schedule.overlaps,
  ].every((share) => share === 0);

export const schedules: fc.Arbitrary<Schedule> = fc
  .record({
    seed: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    partitions: fc.constantFrom(1, 3, 6),
    changes: fc.constantFrom(5, 30, 60),
    topologyChanges: fc.constantFrom(0, 2, 6),
    parallelism: fc.constantFrom(1, 2, 2, 3),
    maxConcurrentStreams: fc.constantFrom(1, 2, 4, 16),
    orderingKeys: fc.constantFrom<Schedule['orderingKeys']>('none', 'row', 2, 2),
    maxRecordsPerMessage: fc.constantFrom(1, 1, 1, 3),
    isBounded: fc.constantFrom(false, false, true),
    isCoordinatorAway: fc.boolean(),
    deathShare: fc.constantFrom(0, 0.005, 0.02),
    freezeShare: fc.constantFrom(0, 0, 0.005),
    storeFailures: fc.constantFrom(0, 0.1, 0.3),
    lateCommits: fc.constantFrom(0, 0, 0.2),
    streamFaults: fc.constantFrom(0, 0.05, 0.2),
    closeFaults: fc.constantFrom(0, 0, 0.3),
    publishFaults: fc.constantFrom(0, 0.1, 0.3),
    latePublishes: fc.constantFrom(0, 0, 0.1),
    skewMillis: fc.constantFrom(0, 3000, 30_000),
    overlaps: fc.constantFrom(0, 0, 0.3),
    stops: fc.constantFrom(0, 0, 0.3),
  })
  .chain((stormy) =>
    // One in six runs without any fault, to see that everything comes exactly once.
    fc.integer({ min: 0, max: 5 }).map((drawn) =>
      drawn > 0
        ? stormy
        : {
            ...stormy,
            ...{ deathShare: 0, freezeShare: 0, storeFailures: 0, lateCommits: 0, streamFaults: 0, closeFaults: 0 },
            ...{ publishFaults: 0, latePublishes: 0, overlaps: 0 },
          },
    ),
  );
