import type { CheckAndMutateRowRequest } from '../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { Clock } from '../../../shared/base/clock.ts';
import type { Random } from '../../../shared/base/random.ts';
import { runTicks } from '../../../shared/coordinator/tick-loop.ts';
import { decodeEntry, encodeEntry } from '../../../shared/mapping/rows/entry-wire.ts';
import { identityOfId } from '../../../shared/model/identity.ts';
import type { PushedMessage } from '../../../shared/model/record.ts';
import type { CommitWork } from '../../../shared/staged/work-message.ts';
import { workTopic } from '../../support/work-topic.ts';
import { createTicks } from '../../../shared/coordinator/tick.ts';
import { encodeSegment } from '../../../shared/staged/envelope/segment.ts';
import { LANES } from '../../../shared/staged/segment-id.ts';
import type { CommittingStore, CoordinatorStore, StagingStore } from '../../../shared/staged/ports.ts';
import { NO_AMOUNT } from '../../../shared/staged/state.ts';
import { workOfNumber } from '../../../shared/staged/checkpoint/work.ts';
import { envelopeOf } from '../../support/envelopes.ts';
import { checkpointDecider } from '../../../shared/staged/checkpoint/checkpoint-decider.ts';
import type { FakeMarkedTable, Mishap } from '../../support/fake-marked-table.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { MemoryStageStore } from '../../support/memory-stage-store.ts';
import type { StoreFault } from '../../support/store-faults.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { Clusters } from './clusters.ts';
import { failOver, INSTANCE } from './failover.ts';
import {
  CHECKPOINT_MILLIS,
  deliver,
  fingerprintFor,
  IDENTITIES,
  type Identities,
  OTHER_IDENTITIES,
  PIPELINE,
  TABLE,
  startCommitter,
  startStager,
} from './functions.ts';
import { Pool, remote } from '../support/pool.ts';
import { SimulatedProcess } from '../support/process.ts';
import type { Schedule } from './schedule.ts';
import { SimulatedSubscription } from './subscription.ts';
import { Witness } from './witness.ts';
import { testRuntime } from '../../support/runtime.ts';

/** A push is held for so long, and redelivered a little later. */
const INVOCATION_MILLIS = 20_000;
const SLOW_INVOCATION_MILLIS = 600_000;
const GRACE_MILLIS = 5_000;
const STORM_MILLIS = 90_000;

/** The client repeats a commit for so long, and a push ends by then. */
const LATEST_MILLIS = 600_000;

const AWAY_FROM_MILLIS = 30_000;
const AWAY_MILLIS = 3_600_000;

/** While functions that make identities of other values run beside the others. */
const CHANGED_FROM = 15_000;
const CHANGED_UNTIL = 50_000;

/** By then everything must be done: the longest waits in the protocol are a quarter of an hour and the ack deadline. */
const PATIENCE_MILLIS = 2 * 3_600_000;

/** What can be said of a run at its end. */
export interface Ending {
  /** Distinct publications, and the sum of all effects: each adds one. */
  readonly distinct: number;
  readonly sum: bigint;
  readonly markers: number;
  readonly unacknowledged: number;
  readonly segmentsLeft: number;
  readonly restsLeft: number;
  /** Completed and not committed. */
  readonly uncommitted: number;
  readonly checkpoints: number;
  readonly deaths: number;
  readonly violations: readonly string[];
}

/** A fault in the production code, to see that it is found: what a store does in the place of what it should. */
export interface Mutant {
  readonly staging?: (store: MemoryStageStore) => Partial<StagingStore>;
  readonly coordinator?: (store: MemoryStageStore) => Partial<CoordinatorStore>;
  readonly committing?: (store: MemoryStageStore) => Partial<CommittingStore>;
}

/**
 * A staged pipeline under faults, from the publisher to the table, on a clock of its own: two stagers, two committers,
 * coordinators that the scheduler starts every minute, all of them the production code; and a store, a table and two
 * subscriptions that lose, repeat and delay. After the storm nobody dies any more, and all must come right.
 */
export async function runSchedule(schedule: Schedule, mutant: Mutant = {}): Promise<Ending> {
  const world = new World(schedule, mutant);
  await world.storm();
  await world.calm();
  return world.ending();
}

class World {
  readonly #schedule: Schedule;
  readonly #mutant: Mutant;
  readonly #clock = new ManualClock(1_000_000);
  readonly #random: Random;
  readonly #store = new MemoryStageStore(this.#clock);
  readonly #witness: Witness;
  readonly #clusters: Clusters;
  /** The one whose end is told; the other one must end alike. */
  readonly #table: FakeMarkedTable;
  readonly #records: SimulatedSubscription<PushedMessage>;
  readonly #work: SimulatedSubscription<CommitWork>;
  readonly #pools: readonly { readonly deaths: number }[];
  readonly #stop = new AbortController();
  readonly #ids = new Set<string>();
  readonly #invocationMillis: number;
  readonly #startedAt: number;
  /** Until then something of the storm may still land. */
  #latestEffectAt = 0;
  #isStorm = true;
  #coordinatorDeaths = 0;

  constructor(schedule: Schedule, mutant: Mutant) {
    this.#schedule = schedule;
    this.#mutant = mutant;
    const random = (this.#random = seededRandom(schedule.seed));
    const clock = this.#clock;
    this.#startedAt = clock.now();
    this.#invocationMillis = schedule.slowPushes ? SLOW_INVOCATION_MILLIS : INVOCATION_MILLIS;
    const store = this.#store;
    store.fault = ({ method }) => this.#storeFault(method);
    this.#witness = new Witness(
      store,
      { ...store.coordinator, ...mutant.coordinator?.(store) },
      () => clock.now(),
      (identity) => this.#clusters.isMarked(identity),
    );
    const committing = { ...store.committing, ...mutant.committing?.(store) };
    this.#clusters = new Clusters({ clock, mishap: (request) => this.#mishap(request) });
    this.#table = this.#clusters.c1;
    const shallDie = (): boolean => this.#happens(schedule.deathShare);
    const pool = { clock, random, size: schedule.instances, skewMillis: schedule.skewMillis, shallDie };
    const staging = { ...this.#witness.staging, ...mutant.staging?.(store) };
    const stagers = new Pool(pool, (process) => startStager(process, staging, schedule.maxStagedEntries, random));
    const changed =
      schedule.changedIdentities === false
        ? undefined
        : new Pool(pool, (process) =>
            startStager(process, staging, schedule.maxStagedEntries, random, otherIdentities(schedule)),
          );
    let confirmed: string | undefined;
    const committers = new Pool(pool, (process) =>
      startCommitter(process, committing, this.#clusters, random, confirmed),
    );
    this.#pools = [stagers, committers, ...(changed ? [changed] : [])];
    failOver(schedule.failover, {
      clock,
      clusters: this.#clusters,
      isInCluster: () => store.clusterOf(INSTANCE) !== undefined,
      restartCommitters: (pauseMillis, confirmChange) => {
        confirmed = confirmChange;
        committers.restart(pauseMillis);
      },
    });
    const share = schedule.deliveryFaults;
    const subscription = { clock, random, ackDeadlineMillis: this.#invocationMillis + GRACE_MILLIS };
    const faults = (): { duplicated: number; delayed: number; ackLost: number } => ({
      duplicated: share,
      delayed: share,
      ackLost: share,
    });
    this.#records = new SimulatedSubscription({ ...subscription, faults: faults() }, async (message) => {
      const pushedTo = changed && this.#isChanging && random() < 0.5 ? changed : stagers;
      const isHandled = await deliver(message, pushedTo.pick(), this.#invocationMillis, this.#onUnexpected);
      if (isHandled) this.#witness.acknowledged(identityOfId(PIPELINE, message.attributes.id ?? ''));
      return isHandled;
    });
    this.#work = new SimulatedSubscription({ ...subscription, faults: faults() }, (message) =>
      deliver(message, committers.pick(), this.#invocationMillis, this.#onUnexpected),
    );
  }

  async storm(): Promise<void> {
    this.#stageFormerSegments();
    this.#scheduleCoordinators();
    this.#scheduleChangedCoordinators();
    for (let number = 0; number < this.#schedule.messages; number += 1) {
      // Every fifth is published under the id of the one before: the same effect, which counts once.
      const effect = number % 5 === 4 ? number - 1 : number;
      this.#ids.add(idOf(effect));
      this.#clock.after(Math.floor(this.#random() * STORM_MILLIS * 0.6), () => {
        this.#records.publish(messageOf(number, effect, effect % this.#schedule.rows, this.#clock));
      });
    }
    await this.#clock.advance(STORM_MILLIS);
    if (this.#schedule.isCoordinatorAway) await this.#clock.advance(AWAY_FROM_MILLIS + AWAY_MILLIS - STORM_MILLIS);
  }

  /** Of a stager of the deployment before: they bear a UUID, and no number. */
  #stageFormerSegments(): void {
    for (let one = 0; one < this.#schedule.formerSegments; one += 1) {
      const id = `former-${one}`;
      this.#ids.add(id);
      const { data } = messageOf(one, one, one % this.#schedule.rows, this.#clock);
      const identity = identityOfId(PIPELINE, id);
      const envelope = envelopeOf(900 + one, decodeEntry(data), { identity, table: TABLE, markerFamily: 'markers' });
      const payload = encodeSegment([envelope]);
      const segment = `${'0123456789abcdef'[(5 * one + this.#schedule.seed) % 16] ?? '0'}b8e4d0a-93d5-4c4e-8d0f-5a5b1d0c7a1${one}`;
      this.#witness.stored(segment, payload);
      this.#store.putFormer(segment, payload);
    }
  }

  async calm(): Promise<void> {
    this.#isStorm = false;
    for (const { faults } of [this.#records, this.#work]) {
      Object.assign(faults, { duplicated: 0, delayed: 0, ackLost: 0 });
    }
    const latest = this.#clock.now() + PATIENCE_MILLIS;
    const isOver = (): boolean => this.#clock.now() > this.#latestEffectAt && this.#isOver();
    const settle = async (): Promise<void> => {
      while (!isOver() && this.#clock.now() < latest) await this.#clock.advance(10_000);
    };
    await settle();
    // Pushes of the storm that were forgotten may still be held, and zombies come back: they must change nothing that counts.
    await this.#clock.advance(this.#invocationMillis + 60_000);
    await settle();
    this.#stop.abort(new Error('the simulation is over'));
    await this.#clock.advance(0);
  }

  ending(): Ending {
    const rows = [...this.#table.rows.values()];
    const isMarked = (id: string): boolean => rows.some(({ markers }) => markers.has(identityOfId(PIPELINE, id)));
    const other = this.#clusters.c2.sum;
    const apart = this.#table.sum === other ? [] : [`one cluster counts ${this.#table.sum}, and the other ${other}`];
    const missing = [...this.#ids].filter((id) => !isMarked(id)).map((id) => `${id} has no marker`);
    return {
      distinct: this.#ids.size,
      sum: this.#table.sum,
      markers: rows.reduce((sum, { markers }) => sum + markers.size, 0),
      unacknowledged: this.#records.unacknowledged + this.#work.unacknowledged,
      segmentsLeft: this.#store.segments.length,
      restsLeft: this.#store.rests.length,
      uncommitted: (this.#store.pipeline?.completed ?? 0) - (this.#store.pipeline?.committed ?? 0),
      checkpoints: this.#store.checkpoints.length,
      deaths: this.#pools.reduce((sum, { deaths }) => sum + deaths, this.#coordinatorDeaths),
      violations: [...this.#witness.violations, ...missing, ...apart],
    };
  }

  #isOver(): boolean {
    const { unacknowledged, segmentsLeft, restsLeft, uncommitted } = this.ending();
    return unacknowledged + segmentsLeft + restsLeft + uncommitted === 0;
  }

  #happens(share: number): boolean {
    return this.#isStorm && this.#random() < share;
  }

  #mishap(request: CheckAndMutateRowRequest): Mishap | undefined {
    this.#witness.sees(request);
    const noted = this.#store.clusterOf(INSTANCE);
    if (noted !== undefined && noted !== this.#clusters.current) {
      this.#witness.violations.push(`a write went to ${this.#clusters.current}, and the markers are in ${noted}`);
    }
    if (this.#isStorm && this.#schedule.isRowRefused && request.rowKey.toString() === 'row-0') {
      return { when: 'before', code: 'PERMISSION_DENIED' };
    }
    return this.#happens(this.#schedule.tableFailures) ? tableMishap(this.#random) : undefined;
  }

  #storeFault(method: string): StoreFault | undefined {
    const { storeFailures, repeatedCommits, lateStages } = this.#schedule;
    const later = (): number => {
      const millis = Math.floor(this.#random() * LATEST_MILLIS);
      this.#latestEffectAt = Math.max(this.#latestEffectAt, this.#clock.now() + millis);
      return millis;
    };
    if (method === 'stage' && this.#happens(lateStages)) return { lateMillis: later() };
    if (REPEATED.has(method) && this.#happens(repeatedCommits)) return { againAfterMillis: later() };
    return this.#happens(storeFailures) ? storeFault(this.#random) : undefined;
  }

  /** Somebody who may publish work asks for what is not complete. */
  #sendEarlyWork(): void {
    if (!this.#happens(this.#schedule.earlyWork)) return;
    const number = (this.#store.pipeline?.completed ?? 0) + 1;
    for (const work of workOfNumber(PIPELINE, number, EVERY_LANE, NO_AMOUNT)) this.#work.publish(work);
  }

  readonly #onUnexpected = (error: unknown): void => {
    this.#witness.violations.push(`a function failed as it should not: ${String(error)}`);
  };

  #scheduleCoordinators(): void {
    if (this.#stop.signal.aborted) return;
    const since = this.#clock.now() - this.#startedAt;
    const isAway =
      this.#schedule.isCoordinatorAway && since >= AWAY_FROM_MILLIS && since < AWAY_FROM_MILLIS + AWAY_MILLIS;
    for (let one = 0; one < (isAway ? 0 : this.#schedule.coordinators); one += 1) {
      this.#clock.after(one * Math.floor(this.#random() * 8000), () => {
        this.#startCoordinator();
      });
    }
    this.#clock.after(60_000, () => {
      this.#scheduleCoordinators();
    });
  }

  /** A revision of other values runs beside, once the pipeline has some. */
  get #isChanging(): boolean {
    const since = this.#clock.now() - this.#startedAt;
    return since >= CHANGED_FROM && since < CHANGED_UNTIL && this.#store.pipeline?.fingerprint !== undefined;
  }

  #scheduleChangedCoordinators(): void {
    if (this.#schedule.changedIdentities === false) return;
    for (let at = CHANGED_FROM; at < CHANGED_UNTIL; at += 15_000) {
      this.#clock.after(at, () => {
        if (this.#isChanging) this.#startCoordinator(otherIdentities(this.#schedule));
      });
    }
  }

  #startCoordinator(identities: Identities = IDENTITIES): void {
    const { skewMillis, deathShare, lostWork, maxStagedEntries } = this.#schedule;
    const skew = Math.round((this.#random() * 2 - 1) * skewMillis);
    const process = new SimulatedProcess(this.#clock, this.#random, skew, (one) => {
      if (!one.isAlive || !this.#happens(deathShare)) return;
      one.kill();
      this.#coordinatorDeaths += 1;
    });
    const topic = workTopic((work) => {
      if (!this.#happens(lostWork)) this.#work.publish(work);
      this.#sendEarlyWork();
    });
    const { clock } = process;
    const runtime = testRuntime({ clock, random: this.#random });
    const store = remote(process, this.#witness.coordinator);
    const decider = checkpointDecider(
      PIPELINE,
      {
        checkpointIntervalMillis: CHECKPOINT_MILLIS,
        maxStagedEntries,
        maxStagedBytes: 1e9,
        patienceMillis: this.#invocationMillis + GRACE_MILLIS,
        fingerprint: fingerprintFor(identities),
      },
      { store, topic: remote(process, topic), runtime },
    );
    const ticks = createTicks(decider, { store, clock, owner: String(this.#random()) });
    runTicks(ticks, runtime, this.#stop.signal).catch(this.#onUnexpected);
  }
}

const otherIdentities = ({ changedIdentities }: Schedule): Identities =>
  OTHER_IDENTITIES[changedIdentities === 'id attribute' ? 0 : 1];

/** Commits without preconditions that nothing else would stop. */
const REPEATED = new Set(['stage', 'finish', 'markSent']);

const EVERY_LANE = new Array<number>(LANES).fill(0);

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
