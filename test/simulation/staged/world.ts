import type { CheckAndMutateRowRequest } from '../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { Clock } from '../../../shared/base/clock.ts';
import type { Random } from '../../../shared/base/random.ts';
import { runTicks } from '../../../shared/coordinator/tick-loop.ts';
import { encodeEntry } from '../../../shared/mapping/rows/entry-wire.ts';
import { identityOfId } from '../../../shared/model/identity.ts';
import type { PushedMessage } from '../../../shared/model/record.ts';
import type { CommitWork } from '../../../shared/staged/work-message.ts';
import { workTopic } from '../../support/work-topic.ts';
import { createTicks } from '../../../shared/coordinator/tick.ts';
import { checkpointDecider } from '../../../shared/staged/checkpoint/checkpoint-decider.ts';
import { FakeMarkedTable, type Mishap } from '../../support/fake-marked-table.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { MemoryStageStore, type StoreFault } from '../../support/memory-stage-store.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { deliver, PIPELINE, startCommitter, startStager } from './functions.ts';
import { Pool, remote } from './pool.ts';
import { SimulatedProcess } from './process.ts';
import type { Schedule } from './schedule.ts';
import { SimulatedSubscription } from './subscription.ts';
import { Witness } from './witness.ts';
import { testRuntime } from '../../support/runtime.ts';

const INVOCATION_MILLIS = 20_000;
const ACK_DEADLINE_MILLIS = 25_000;
const STORM_MILLIS = 90_000;
const CHECKPOINT_MILLIS = 10_000;

/** By then everything must be done: the longest wait in the protocol is ten minutes. */
const PATIENCE_MILLIS = 3_600_000;

/** What can be said of a run at its end. */
export interface Ending {
  /** Distinct publications, and the sum of all effects: each adds one. */
  readonly distinct: number;
  readonly sum: bigint;
  readonly markers: number;
  readonly unacknowledged: number;
  readonly segmentsLeft: number;
  readonly openCheckpoints: number;
  readonly checkpoints: number;
  readonly deaths: number;
  readonly violations: readonly string[];
}

/**
 * A staged pipeline under faults, from the publisher to the table, on a clock of its own: two stagers, two committers,
 * coordinators that the scheduler starts every minute, all of them the production code; and a store, a table and two
 * subscriptions that lose, repeat and delay. After the storm nobody dies any more, and all must come right.
 */
export async function runSchedule(schedule: Schedule): Promise<Ending> {
  const world = new World(schedule);
  await world.storm();
  await world.calm();
  return world.ending();
}

class World {
  readonly #schedule: Schedule;
  readonly #clock = new ManualClock(1_000_000);
  readonly #random: Random;
  readonly #store = new MemoryStageStore(this.#clock);
  readonly #witness = new Witness(this.#store);
  readonly #table: FakeMarkedTable;
  readonly #records: SimulatedSubscription<PushedMessage>;
  readonly #work: SimulatedSubscription<CommitWork>;
  readonly #pools: readonly { readonly deaths: number }[];
  readonly #stop = new AbortController();
  readonly #ids = new Set<string>();
  #isStorm = true;
  #coordinatorDeaths = 0;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
    const random = (this.#random = seededRandom(schedule.seed));
    const clock = this.#clock;
    this.#store.fault = () => (this.#happens(schedule.storeFailures) ? storeFault(random) : undefined);
    this.#table = new FakeMarkedTable({ clock, mishap: (request) => this.#mishap(request) });
    const shallDie = (): boolean => this.#happens(schedule.deathShare);
    const pool = { clock, random, size: 2, skewMillis: schedule.skewMillis, shallDie };
    const stagers = new Pool(pool, (process) =>
      startStager(process, this.#witness.staging, schedule.maxStagedEntries, random),
    );
    const committers = new Pool(pool, (process) =>
      startCommitter(process, this.#store.committing, this.#table.send, random),
    );
    this.#pools = [stagers, committers];
    const share = schedule.deliveryFaults;
    const subscription = { clock, random, ackDeadlineMillis: ACK_DEADLINE_MILLIS };
    const faults = (): { duplicated: number; delayed: number; ackLost: number } => ({
      duplicated: share,
      delayed: share,
      ackLost: share,
    });
    this.#records = new SimulatedSubscription({ ...subscription, faults: faults() }, (message) =>
      deliver(message, stagers.pick(), INVOCATION_MILLIS, this.#onUnexpected),
    );
    this.#work = new SimulatedSubscription({ ...subscription, faults: faults() }, (message) =>
      deliver(message, committers.pick(), INVOCATION_MILLIS, this.#onUnexpected),
    );
  }

  async storm(): Promise<void> {
    this.#scheduleCoordinators();
    for (let number = 0; number < this.#schedule.messages; number += 1) {
      // Every fifth is published under the id of the one before: the same effect, which counts once.
      const effect = number % 5 === 4 ? number - 1 : number;
      this.#ids.add(idOf(effect));
      this.#clock.after(Math.floor(this.#random() * STORM_MILLIS * 0.6), () => {
        this.#records.publish(messageOf(number, effect, effect % this.#schedule.rows, this.#clock));
      });
    }
    await this.#clock.advance(STORM_MILLIS);
  }

  async calm(): Promise<void> {
    this.#isStorm = false;
    for (const { faults } of [this.#records, this.#work]) {
      Object.assign(faults, { duplicated: 0, delayed: 0, ackLost: 0 });
    }
    const latest = this.#clock.now() + PATIENCE_MILLIS;
    while (!this.#isOver() && this.#clock.now() < latest) await this.#clock.advance(10_000);
    // Zombies of the storm may still come back: they must change nothing.
    await this.#clock.advance(60_000);
    this.#stop.abort(new Error('the simulation is over'));
    await this.#clock.advance(0);
  }

  ending(): Ending {
    const rows = [...this.#table.rows.values()];
    const isMarked = (id: string): boolean => rows.some(({ markers }) => markers.has(identityOfId(PIPELINE, id)));
    const missing = [...this.#ids].filter((id) => !isMarked(id)).map((id) => `${id} has no marker`);
    return {
      distinct: this.#ids.size,
      sum: this.#table.sum,
      markers: rows.reduce((sum, { markers }) => sum + markers.size, 0),
      unacknowledged: this.#records.unacknowledged + this.#work.unacknowledged,
      segmentsLeft: this.#store.segments.length,
      openCheckpoints: this.#store.checkpoints.filter(({ state }) => state !== 'committed').length,
      checkpoints: this.#store.checkpoints.length,
      deaths: this.#pools.reduce((sum, { deaths }) => sum + deaths, this.#coordinatorDeaths),
      violations: [...this.#witness.violations, ...missing],
    };
  }

  #isOver(): boolean {
    const { unacknowledged, segmentsLeft, openCheckpoints } = this.ending();
    return unacknowledged + segmentsLeft + openCheckpoints === 0;
  }

  #happens(share: number): boolean {
    return this.#isStorm && this.#random() < share;
  }

  #mishap(request: CheckAndMutateRowRequest): Mishap | undefined {
    this.#witness.sees(request);
    return this.#happens(this.#schedule.tableFailures) ? tableMishap(this.#random) : undefined;
  }

  readonly #onUnexpected = (error: unknown): void => {
    this.#witness.violations.push(`a function failed as it should not: ${String(error)}`);
  };

  #scheduleCoordinators(): void {
    if (this.#stop.signal.aborted) return;
    for (let one = 0; one < this.#schedule.coordinators; one += 1) {
      this.#clock.after(one * Math.floor(this.#random() * 8000), () => {
        this.#startCoordinator();
      });
    }
    this.#clock.after(60_000, () => {
      this.#scheduleCoordinators();
    });
  }

  #startCoordinator(): void {
    const { skewMillis, deathShare, lostWork, maxStagedEntries } = this.#schedule;
    const skew = Math.round((this.#random() * 2 - 1) * skewMillis);
    const process = new SimulatedProcess(this.#clock, this.#random, skew, (one) => {
      if (!one.isAlive || !this.#happens(deathShare)) return;
      one.kill();
      this.#coordinatorDeaths += 1;
    });
    const topic = workTopic((work) => {
      if (!this.#happens(lostWork)) this.#work.publish(work);
    });
    const { clock } = process;
    const runtime = testRuntime({ clock, random: this.#random });
    const store = remote(process, this.#witness.coordinator);
    const decider = checkpointDecider(
      PIPELINE,
      { checkpointIntervalMillis: CHECKPOINT_MILLIS, maxStagedEntries, maxStagedBytes: 1e9 },
      { store, topic: remote(process, topic), runtime },
    );
    const ticks = createTicks(decider, { store, clock, owner: String(this.#random()) });
    runTicks(ticks, runtime, this.#stop.signal).catch(this.#onUnexpected);
  }
}

const idOf = (effect: number): string => `effect-${effect}`;

function messageOf(number: number, effect: number, row: number, clock: Clock): PushedMessage {
  return {
    messageId: String(number),
    publishTimeMicros: BigInt(clock.now()) * 1000n,
    data: encodeEntry({
      rowKey: Buffer.from(`row-${row}`),
      mutations: [
        {
          kind: 'addToCell',
          family: 'sums',
          qualifier: Buffer.from('n'),
          timestampMicros: 0n,
          input: { kind: 'int64', value: 1n },
        },
      ],
    }),
    attributes: { id: idOf(effect) },
    orderingKey: '',
    subscription: 'projects/p/subscriptions/records',
  };
}

function tableMishap(random: Random): Mishap {
  const when = random() < 0.5 ? 'before' : 'after';
  const codes = ['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'ABORTED', 'RESOURCE_EXHAUSTED'] as const;
  return { when, code: codes[Math.floor(random() * codes.length)] ?? 'UNAVAILABLE' };
}

function storeFault(random: Random): StoreFault {
  const faults: readonly StoreFault[] = ['error-before', 'error-after', 'conflict', { delayMillis: 5000 * random() }];
  return faults[Math.floor(random() * faults.length)] ?? 'error-before';
}
