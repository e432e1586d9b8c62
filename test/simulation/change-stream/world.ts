import type { Random } from '../../../shared/base/random.ts';
import { Semaphore } from '../../../shared/base/semaphore.ts';
import { changeStreamDecider } from '../../../shared/change-stream/coordination/change-stream-decider.ts';
import { SourceWatch } from '../../../shared/change-stream/coordination/source-watch.ts';
import { changeMessages } from '../../../shared/change-stream/forms/change-messages.ts';
import { envelopeForm } from '../../../shared/change-stream/forms/envelope-form.ts';
import type { HeldPartition } from '../../../shared/change-stream/ledger/partition.ts';
import { readSlot, type SlotReport } from '../../../shared/change-stream/read-slot.ts';
import { createOpenPartition } from '../../../shared/change-stream/reading/read-partition-stream.ts';
import type { StreamWork } from '../../../shared/change-stream/stream-work.ts';
import { createTicks } from '../../../shared/coordinator/tick.ts';
import { runTicks } from '../../../shared/coordinator/tick-loop.ts';
import { createEmission } from '../../../shared/emission/emission.ts';
import type { SendPublish } from '../../../shared/emission/ports.ts';
import type { UnitEmission } from '../../../shared/emission/unit.ts';
import type { Nanos } from '../../../shared/model/change.ts';
import { formatRange } from '../../../shared/model/row-range.ts';
import { LEASE_MILLIS } from '../../../shared/slots/lease.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { MemoryChangeStreamStore } from '../../support/memory-change-stream-store.ts';
import { testRuntime } from '../../support/runtime.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import type { StoreFault } from '../../support/store-faults.ts';
import { type Published, type PublishFault, SimulatedTopics } from '../scan/simulated-topic.ts';
import { remote } from '../support/pool.ts';
import { SimulatedProcess } from '../support/process.ts';
import { gapsAndOverlaps } from './coverage.ts';
import type { Schedule } from './schedule.ts';
import { type Logged, SimulatedService, type StreamFault } from './simulated-service.ts';

const OUTPUT = 'projects/p/topics/changes';
const TABLE = { project: 'p', instance: 'i', table: 't' };
const KEYS = Array.from({ length: 12 }, (_, index) => `row-${String(index).padStart(2, '0')}`);

const STORM_MILLIS = 240_000;
const PATIENCE_MILLIS = 4 * 3_600_000;
const SESSION_MILLIS = 50_000;
/** From the end of reading to the end of everything. */
const DRAIN_MILLIS = 15_000;
const LATEST_MILLIS = 600_000;
const RETENTION_MILLIS = 7 * 24 * 3_600_000;

/** What can be said of a source at its end. */
export interface Ending {
  /** Changes that it was to hand on, and how many of them the topic holds at least once. */
  readonly wanted: number;
  readonly published: number;
  readonly repeated: number;
  readonly deaths: number;
  readonly takenOver: number;
  readonly closes: number;
  readonly violations: readonly string[];
}

/** A fault in the production code, to see that it is found. */
export interface Mutant {
  /** In place of the way of a partition to its topic. */
  readonly unit?: <Position>(unit: UnitEmission<Position>) => UnitEmission<Position>;
  /** In place of how long the lease lasts. */
  readonly remainingMillis?: () => number;
  /** In place of a session that is lost. */
  readonly lost?: AbortSignal;
  /** In place of what slots are told by their store. */
  readonly store?: (store: MemoryChangeStreamStore['slots']) => Partial<MemoryChangeStreamStore['slots']>;
}

/** A source under faults, from its start to its end. After the storm nobody dies any more, and all must come right. */
export async function runSchedule(schedule: Schedule, mutant: Mutant = {}): Promise<Ending> {
  const world = new World(schedule, mutant);
  await world.storm();
  await world.calm();
  return world.ending();
}

class World {
  readonly #schedule: Schedule;
  readonly #mutant: Mutant;
  readonly #clock = new ManualClock(1_000_020_000);
  readonly #random: Random;
  readonly #store = new MemoryChangeStreamStore(this.#clock);
  readonly #service: SimulatedService;
  readonly #topics: SimulatedTopics;
  readonly #violations: string[] = [];
  readonly #stop = new AbortController();
  /** Slots of which an invocation is at work, as the scheduler knows. */
  readonly #busy = new Set<number>();
  /** The least low watermark that each partition may be at. */
  readonly #positions = new Map<string, Nanos>();
  /** By the store's own clock, and by slot. */
  readonly #leases = new Map<number, { readonly owner: string; readonly endsAt: number }>();
  readonly #startTime: Nanos;
  readonly #endTime: Nanos | undefined;
  #isStorm = true;
  #deaths = 0;
  #takenOver = 0;
  #latestEffectAt = 0;

  constructor(schedule: Schedule, mutant: Mutant) {
    this.#schedule = schedule;
    this.#mutant = mutant;
    const random = (this.#random = seededRandom(schedule.seed));
    const now = this.#clock.now();
    // A coordinator whose clock is behind would take it for the future.
    this.#startTime = BigInt(now - 60_000) * 1_000_000n;
    this.#endTime = schedule.isBounded ? BigInt(now + STORM_MILLIS / 2) * 1_000_000n : undefined;
    this.#service = new SimulatedService({
      clock: this.#clock,
      random,
      boundaries: KEYS.filter((_, index) => index > 0 && index % (KEYS.length / schedule.partitions) === 0),
      fault: () => this.#streamFault(),
    });
    this.#topics = new SimulatedTopics({
      clock: this.#clock,
      random,
      fault: () => this.#publishFault(),
      isPoison: () => false,
      onPublished: () => undefined,
    });
    this.#store.fault = ({ method }) => this.#storeFault(method);
    this.#store.onSlotCommit = (commit, before) => {
      if (this.#store.source?.status === 'reading') this.#checkCoverage();
      if (before && before.epoch !== commit.value.epoch && Object.keys(before.units).length > 0) this.#takenOver += 1;
      this.#leases.set(commit.slot, { owner: commit.value.owner, endsAt: this.#clock.now() + LEASE_MILLIS });
      for (const [id, held] of Object.entries(commit.value.units)) this.#sees(id, held);
    };
    this.#store.onTickCommit = ({ pipeline }) => {
      const { status } = this.#store.source ?? {};
      if (status === 'reading') this.#checkCoverage();
      if (status === 'done' && pipeline.value.status !== 'done')
        this.#violations.push('a source that was done went on');
    };
  }

  async storm(): Promise<void> {
    const { parallelism, changes, topologyChanges } = this.#schedule;
    await this.#start();
    for (let slot = 0; slot < parallelism; slot += 1) this.#schedulePosts(slot);
    for (let change = 0; change < changes; change += 1) {
      this.#clock.after(this.#random() * STORM_MILLIS, () => {
        this.#service.write(pick(KEYS, this.#random));
      });
    }
    for (let change = 0; change < topologyChanges; change += 1) {
      this.#clock.after(this.#random() * STORM_MILLIS, () => {
        this.#changeTopology();
      });
    }
    await this.#clock.advance(STORM_MILLIS);
  }

  async calm(): Promise<void> {
    this.#isStorm = false;
    const latest = this.#clock.now() + PATIENCE_MILLIS;
    const isOver = (): boolean => {
      const isEnded =
        this.#endTime === undefined ? this.#missing().length === 0 : this.#store.source?.status === 'done';
      return isEnded && this.#clock.now() > Math.max(this.#latestEffectAt, this.#topics.latestAt);
    };
    while (!isOver() && this.#clock.now() < latest) await this.#clock.advance(10_000);
    // Zombies wake, and what was sent long ago lands: it must change nothing that counts.
    await this.#clock.advance(120_000);
    if (this.#store.source?.status === 'reading') this.#checkCoverage();
    this.#stop.abort(new Error('the simulation is over'));
    await this.#clock.advance(0);
  }

  ending(): Ending {
    const wanted = this.#wanted();
    const first = this.#firstPublished();
    const beyond = [...first.keys()].filter((sequence) => !wanted.some((one) => one.sequence === sequence));
    const disordered = this.#schedule.orderingKeys === 'none' ? [] : this.#disordered(first);
    const missing = this.#missing();
    if (this.#endTime !== undefined && this.#store.source?.status !== 'done')
      this.#violations.push('the source did not end');
    return {
      wanted: wanted.length,
      published: wanted.length - missing.length,
      repeated: this.#published().length - first.size,
      deaths: this.#deaths,
      takenOver: this.#takenOver,
      closes: this.#store.partitions.filter(({ state }) => state.kind === 'done').length,
      violations: [
        ...this.#violations,
        ...beyond.map((sequence) => `change ${sequence} was published, and lies behind the end`),
        ...missing.map(({ sequence, key }) => `change ${sequence} of ${key} was never published`),
        ...disordered,
      ],
    };
  }

  /** The first coordinator is there before anything is written; others are away for as long as the schedule says. */
  async #start(): Promise<void> {
    this.#isStorm = false;
    this.#coordinate();
    while (this.#store.source?.status !== 'reading') await this.#clock.advance(1_000);
    this.#isStorm = true;
    this.#scheduleCoordinators();
  }

  #scheduleCoordinators(): void {
    this.#clock.after(60_000 - (this.#clock.now() % 60_000), () => {
      if (this.#stop.signal.aborted) return;
      const isAway = this.#isStorm && this.#schedule.isCoordinatorAway;
      if (!isAway) this.#coordinate();
      this.#scheduleCoordinators();
    });
  }

  #coordinate(): void {
    const process = this.#process();
    const { clock } = process;
    const runtime = testRuntime({ clock, random: this.#random });
    const store = remote(process, this.#store.coordinator);
    const decider = changeStreamDecider('changes', {
      ...{ store, runtime },
      asked: { options: '{}', ...(this.#endTime !== undefined && { endTime: this.#endTime }) },
      start: { kind: 'at', time: this.#startTime },
      lookAtTable: () => process.call(() => ({ problems: [], warnings: [], retentionMillis: RETENTION_MILLIS })),
      listPartitions: () => process.call(() => this.#service.partitions),
      watch: new SourceWatch(runtime.metrics),
    });
    const ticks = createTicks(decider, { store, clock, owner: String(this.#random()) });
    runTicks(ticks, runtime, this.#stop.signal).catch((error: unknown) => {
      this.#violations.push(`a coordinator failed as it should not: ${String(error)}`);
    });
  }

  #ledger() {
    return this.#store.ledger(this.#store.source?.generation ?? 0);
  }

  /** Each key is somebody's, and of one alone. */
  #checkCoverage(): void {
    for (const problem of gapsAndOverlaps(this.#ledger())) {
      if (!this.#violations.includes(problem)) this.#violations.push(problem);
    }
  }

  /** Positions never go back. */
  #sees(id: string, { position, range }: HeldPartition): void {
    const before = this.#positions.get(id);
    if (before !== undefined && position.lowWatermark < before) {
      this.#violations.push(`the position of ${formatRange(range)} went back`);
    }
    this.#positions.set(id, position.lowWatermark);
  }

  #wanted(): readonly Logged[] {
    const end = this.#endTime;
    return end === undefined ? this.#service.log : this.#service.log.filter(({ commitTime }) => commitTime < end);
  }

  #missing(): readonly Logged[] {
    const first = this.#firstPublished();
    return this.#wanted().filter(({ sequence }) => !first.has(sequence));
  }

  /** The sequences of all messages, as they were published. */
  #published(): readonly number[] {
    return this.#topics.of(OUTPUT).flatMap((message) => sequencesIn(message));
  }

  /** Sequence → its place among all that was published. */
  #firstPublished(): ReadonlyMap<number, number> {
    const first = new Map<number, number>();
    for (const [place, sequence] of this.#published().entries()) if (!first.has(sequence)) first.set(sequence, place);
    return first;
  }

  #disordered(first: ReadonlyMap<number, number>): string[] {
    return KEYS.flatMap((key) => {
      const places = this.#wanted()
        .filter((one) => one.key === key)
        .flatMap(({ sequence }) => first.get(sequence) ?? []);
      const isInOrder = places.every((place, index) => index === 0 || place > (places[index - 1] as number));
      return isInOrder ? [] : [`the changes of ${key} were published in another order: ${places.join(' ')}`];
    });
  }

  #happens(share: number): boolean {
    return this.#isStorm && this.#random() < share;
  }

  #changeTopology(): void {
    const { closeFaults } = this.#schedule;
    const place = Math.floor(this.#random() * this.#service.partitions.length);
    const key = pick(KEYS, this.#random);
    const change = pick(['split', 'split', 'merge', 'shift', 'move'] as const, this.#random);
    switch (change) {
      case 'split':
      case 'shift':
        this.#service[change](place, key);
        break;
      case 'merge':
      case 'move':
        this.#service[change](place);
        break;
    }
    if (this.#happens(closeFaults))
      this.#service.spoilClose(pick(['no-successors', 'lost', 'partial'] as const, this.#random));
  }

  #streamFault(): StreamFault | undefined {
    if (!this.#happens(this.#schedule.streamFaults)) return undefined;
    return pick(['cut', 'cut', 'cut-inside', 'refused', 'silence', 'early-ok'] as const, this.#random);
  }

  #publishFault(): PublishFault | undefined {
    if (this.#happens(this.#schedule.latePublishes)) {
      return { kind: 'late', millis: 10_000 + Math.floor(this.#random() * 120_000) };
    }
    if (!this.#happens(this.#schedule.publishFaults)) return undefined;
    return { kind: pick(['refused-before', 'answer-lost'] as const, this.#random) };
  }

  #storeFault(method: string): StoreFault | undefined {
    const later = (): number => {
      const millis = Math.floor(this.#random() * LATEST_MILLIS);
      this.#latestEffectAt = Math.max(this.#latestEffectAt, this.#clock.now() + millis);
      return millis;
    };
    if (method.startsWith('commit') && this.#happens(this.#schedule.lateCommits)) {
      return this.#random() < 0.5 ? { lateMillis: later() } : { againAfterMillis: later() };
    }
    if (!this.#happens(this.#schedule.storeFailures)) return undefined;
    const faults: readonly StoreFault[] = [
      'error-before',
      'error-after',
      'conflict',
      { delayMillis: 5000 * this.#random() },
    ];
    return pick(faults, this.#random);
  }

  /** The scheduler posts at every full minute, and right after an attempt that outlasted one. */
  #schedulePosts(slot: number): void {
    if (this.#stop.signal.aborted) return;
    this.#clock.after(60_000 - (this.#clock.now() % 60_000), () => {
      if (!this.#busy.has(slot) || this.#happens(this.#schedule.overlaps)) this.#invoke(slot);
      this.#schedulePosts(slot);
    });
  }

  #process(): SimulatedProcess {
    const { skewMillis, deathShare, freezeShare } = this.#schedule;
    const skew = Math.round((this.#random() * 2 - 1) * skewMillis);
    return new SimulatedProcess(this.#clock, this.#random, skew, (one) => {
      if (!one.isAlive) return;
      if (this.#happens(deathShare)) {
        one.kill();
        this.#deaths += 1;
      } else if (this.#happens(freezeShare)) {
        one.freeze(Math.floor(this.#random() * 120_000));
      }
    });
  }

  #invoke(slot: number): void {
    const process = this.#process();
    this.#busy.add(slot);
    const done = (): void => {
      this.#busy.delete(slot);
    };
    // The scheduler learns of a death by the connection.
    process.onDeath = done;
    const stop = new AbortController();
    const end = new AbortController();
    const { clock } = process;
    const length = this.#happens(this.#schedule.stops) ? this.#random() * SESSION_MILLIS : SESSION_MILLIS;
    clock.after(length, () => {
      stop.abort(new Error('the session ends'));
    });
    clock.after(length + DRAIN_MILLIS, () => {
      end.abort(new Error('the time is used up'));
    });
    this.#read(slot, process, { stop: stop.signal, end: end.signal })
      .catch((error: unknown) => {
        if (!isExpected(error))
          this.#violations.push(`a slot failed as it should not: ${String((error as Error).stack)}`);
      })
      .finally(done);
  }

  #read(slot: number, process: SimulatedProcess, ending: { stop: AbortSignal; end: AbortSignal }): Promise<SlotReport> {
    const { clock } = process;
    const random = this.#random;
    const runtime = testRuntime({ clock, random });
    const { parallelism, maxConcurrentStreams } = this.#schedule;
    const { unit = <Position>(one: UnitEmission<Position>) => one, remainingMillis, lost, store } = this.#mutant;
    const owner = `owner-${Math.floor(random() * 1e12)}`;
    return readSlot(
      {
        ...{ slot, owner, parallelism, maxConcurrentStreams, runtime },
        store: remote(process, { ...this.#store.slots, ...store?.(this.#store.slots) }),
        workOf: ({ endTime }) => Promise.resolve(this.#workOf(process, endTime)),
        toolsFor: (session) => {
          const emission = createEmission({
            send: this.#send(process, slot, owner),
            runtime,
            remainingMillis: remainingMillis ?? (() => session.remainingMillis()),
            signal: AbortSignal.any([ending.end, lost ?? session.lost]),
            maxOutstandingBytes: 4096,
          });
          return {
            openUnit: (options, onConfirmed) => unit(emission.open(options, onConfirmed)),
            close: () => {
              emission.close();
            },
          };
        },
        commitIntervalMillis: 5_000,
      },
      ending,
    );
  }

  #workOf(process: SimulatedProcess, endTime: Nanos | undefined): StreamWork {
    const { maxRecordsPerMessage, orderingKeys } = this.#schedule;
    const runtime = testRuntime({ clock: process.clock, random: this.#random });
    const open = createOpenPartition({
      readChangeStream: this.#service.readAs((effect) => process.call(effect)),
      largeChanges: new Semaphore(1),
      runtime,
    });
    const options = {
      ...{ table: TABLE, appProfileId: 'cdc', maxMutationBytes: 2 ** 20 },
      ...(endTime !== undefined && { endTime }),
    };
    return {
      open: (range, position, signal) => open(range, position, options, signal),
      messagesOf: changeMessages({
        ...{ table: TABLE, form: envelopeForm(TABLE), orderingKeys },
        isPacked: maxRecordsPerMessage > 1,
      }),
      unit: {
        ...{ topic: OUTPUT, attributes: {}, maxRecordsPerMessage },
        ...{ oversizedMessage: 'fail', failurePolicy: 'fail' },
        setApart: () => Promise.reject(new Error('a change is never set apart')),
      },
    };
  }

  /** No attempt begins that may outlast the lease of its slot, by the store's own clock. */
  #send(process: SimulatedProcess, slot: number, owner: string): SendPublish {
    return (attempt) => {
      const lease = this.#leases.get(slot);
      const endsAt = lease?.owner === owner ? lease.endsAt : -Infinity;
      if (this.#clock.now() + attempt.timeoutMillis > endsAt) {
        this.#violations.push(`an attempt of slot ${slot} began that may outlast its lease`);
      }
      return process.call(() => this.#topics.send(attempt));
    };
  }
}

/** What a slot may end with: its time, its lease, a store that is away. */
const isExpected = (error: unknown): boolean =>
  (error instanceof Error && ['SlotLostError', 'StoreError', 'DeadlineError'].includes(error.name)) ||
  /session ends|time is used up/.test(String(error));

const pick = <Value>(values: readonly Value[], random: Random): Value =>
  values[Math.floor(random() * values.length)] as Value;

/** Of the changes in a message: their value says it. */
const sequencesIn = ({ data }: Published): number[] =>
  data
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { entries } = JSON.parse(line) as { readonly entries: readonly { readonly value: string }[] };
      return Number(
        Buffer.from(entries[0]?.value ?? '', 'base64')
          .toString()
          .split('@')[1],
      );
    });
