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
  /** Share of commits that the client repeats by itself, up to ten minutes later. */
  readonly repeatedCommits: number;
  /** Share of stage attempts that land minutes later, perhaps after their segment was drained. */
  readonly lateStages: number;
  /** Pushes may be held for ten minutes, where twenty seconds would do. */
  readonly slowPushes: boolean;
  /** Instances of each function. */
  readonly instances: number;
  /** No coordinator comes for an hour, beginning in the middle. */
  readonly isCoordinatorAway: boolean;
  /** Segments of the format before, staged when it begins. */
  readonly formerSegments: number;
  /** A permission is missing for one row, until the trouble is over. */
  readonly isRowRefused: boolean;
  /** Share of ticks after which somebody sends work for a checkpoint that is not complete. */
  readonly earlyWork: number;
  /** Instances that make identities of other values run beside the others for a while, in the middle. */
  readonly changedIdentities: false | 'id attribute' | 'marker family';
  /** The profile is failed over in the middle, and then routed back, or the other cluster is confirmed. */
  readonly failover: false | 'back' | 'confirmed';
}

/** What a schedule may have beyond what it always has. Each kind is in one schedule of twenty at least. */
export const KINDS: Readonly<Record<string, (schedule: Schedule) => boolean>> = {
  'commits repeated later': ({ repeatedCommits }) => repeatedCommits > 0,
  'stage attempts that land late': ({ lateStages }) => lateStages > 0,
  'slow pushes': ({ slowPushes }) => slowPushes,
  'several instances': ({ instances }) => instances > 2,
  'two coordinators': ({ coordinators }) => coordinators > 1,
  'no coordinator for an hour': ({ isCoordinatorAway }) => isCoordinatorAway,
  'segments of the format before': ({ formerSegments }) => formerSegments > 0,
  'a row that is refused': ({ isRowRefused }) => isRowRefused,
  'work for a checkpoint that is not complete': ({ earlyWork }) => earlyWork > 0,
  'configuration changed in the middle': ({ changedIdentities }) => changedIdentities !== false,
  'two clusters': ({ failover }) => failover !== false,
};

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
    repeatedCommits: fc.constantFrom(0, 0, 0.1, 0.4),
    lateStages: fc.constantFrom(0, 0, 0.2, 0.5),
    slowPushes: fc.constantFrom(false, false, true),
    instances: fc.constantFrom(2, 2, 4),
    isCoordinatorAway: fc.constantFrom(...new Array<boolean>(9).fill(false), true),
    formerSegments: fc.constantFrom(0, 0, 0, 2),
    isRowRefused: fc.constantFrom(false, false, true),
    earlyWork: fc.constantFrom(0, 0, 0, 0.5),
    changedIdentities: fc.constantFrom<Schedule['changedIdentities']>(false, false, 'id attribute', 'marker family'),
    failover: fc.constantFrom<Schedule['failover']>(false, false, 'back', 'confirmed'),
  });
