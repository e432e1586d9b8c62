import type { Random } from '../../../shared/base/random.ts';
import { Semaphore } from '../../../shared/base/semaphore.ts';
import { within } from '../../../shared/base/deadline.ts';
import { createTicks } from '../../../shared/coordinator/tick.ts';
import { runTicks } from '../../../shared/coordinator/tick-loop.ts';
import { createEmission } from '../../../shared/emission/emission.ts';
import { orderingKeyOf } from '../../../shared/emission/messages/ordering-key.ts';
import type { SendPublish } from '../../../shared/emission/ports.ts';
import type { UnitEmission } from '../../../shared/emission/unit.ts';
import { coalesce, cutAt, cuts, prefixRange, type RowRange, WHOLE_TABLE } from '../../../shared/model/row-range.ts';
import { rowForm } from '../../../shared/scan/forms/json-form.ts';
import { letterMessage } from '../../../shared/scan/letter.ts';
import { readRange } from '../../../shared/scan/reading/read-range.ts';
import { readSlot, type SlotReport } from '../../../shared/scan/read-slot.ts';
import type { RunWork } from '../../../shared/scan/run-work.ts';
import type { ScanStore } from '../../../shared/scan/runs/ports.ts';
import { scanDecider } from '../../../shared/scan/runs/scan-decider.ts';
import { bytesOfSplit, waitingSplit } from '../../../shared/scan/runs/split-updates.ts';
import { startRun } from '../../../shared/scan/runs/start-run.ts';
import { sumOfCounts } from '../../../shared/scan/runs/split.ts';
import { LEASE_MILLIS } from '../../../shared/slots/lease.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { MemoryScanStore } from '../../support/memory-scan-store.ts';
import { testRuntime } from '../../support/runtime.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import type { StoreFault } from '../../support/store-faults.ts';
import { remote } from '../support/pool.ts';
import { SimulatedProcess } from '../support/process.ts';
import type { Schedule } from './schedule.ts';
import { SimulatedTable, type StreamFault } from './simulated-table.ts';
import { type Published, type PublishFault, SimulatedTopics } from './simulated-topic.ts';

const PIPELINE = 'export';
const RUN = 'run-1';
const OUTPUT = 'projects/p/topics/rows';
const LETTERS = 'projects/p/topics/letters';
const TABLE = { project: 'p', instance: 'i', table: 't' };

const STORM_MILLIS = 240_000;
const PATIENCE_MILLIS = 4 * 3_600_000;
const SESSION_MILLIS = 50_000;
/** From the end of reading to the end of everything. */
const DRAIN_MILLIS = 15_000;
const LATEST_MILLIS = 600_000;

/** What can be said of a run at its end. */
export interface Ending {
  readonly state: string | undefined;
  /** Rows of the selection, and how many of them the topics hold at least once. */
  readonly wanted: number;
  readonly published: number;
  /** Rows that the topics hold more than once. */
  readonly repeated: number;
  readonly totals: number | undefined;
  readonly told: number;
  readonly deaths: number;
  readonly takenOver: number;
  readonly violations: readonly string[];
}

/** A fault in the production code, to see that it is found. */
export interface Mutant {
  /** In place of the way of a split to its topic. */
  readonly unit?: <Position>(unit: UnitEmission<Position>) => UnitEmission<Position>;
  /** In place of how long the lease lasts. */
  readonly remainingMillis?: () => number;
  /** In place of what is written of a split that is given back. */
  readonly giveBack?: typeof waitingSplit;
  /** In place of a session that is lost. */
  readonly lost?: AbortSignal;
  /** In place of what slots are told by their store. */
  readonly store?: (store: ScanStore) => Partial<ScanStore>;
}

/** A scan under faults, from its start to its end. After the storm nobody dies any more, and all must come right. */
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
  readonly #store = new MemoryScanStore(this.#clock);
  readonly #table: SimulatedTable;
  readonly #topics: SimulatedTopics;
  readonly #violations: string[] = [];
  readonly #keys: readonly string[];
  readonly #stop = new AbortController();
  /** Slots of which an invocation is at work, as the scheduler knows. */
  readonly #busy = new Set<number>();
  readonly #positions = new Map<string, Buffer>();
  /** By the store's own clock, and by slot. */
  readonly #leases = new Map<number, { readonly owner: string; readonly endsAt: number }>();
  #isStorm = true;
  #deaths = 0;
  #takenOver = 0;
  #latestEffectAt = 0;

  constructor(schedule: Schedule, mutant: Mutant) {
    this.#schedule = schedule;
    this.#mutant = mutant;
    const random = (this.#random = seededRandom(schedule.seed));
    this.#keys = keysOf(schedule.rows, random);
    const violation = (text: string): void => {
      this.#violations.push(text);
    };
    const oversized = new Set(schedule.hasBadRows ? this.#keys.filter((_, index) => index % 17 === 3) : []);
    this.#table = new SimulatedTable({
      keys: this.#keys,
      random,
      oversized,
      fault: () => this.#streamFault(),
      onViolation: violation,
    });
    this.#topics = new SimulatedTopics({
      clock: this.#clock,
      random,
      fault: () => this.#publishFault(),
      isPoison: (message) => schedule.hasBadRows && message.data.includes('poison') && !message.attributes['dlq-run'],
      onPublished: (message) => {
        this.#onPublished(message);
      },
    });
    this.#store.fault = ({ method }) => this.#storeFault(method);
    this.#store.onSlotCommit = (commit, before) => {
      if (before && before.epoch !== commit.value.epoch && Object.keys(before.units).length > 0) this.#takenOver += 1;
      this.#leases.set(commit.slot, { owner: commit.value.owner, endsAt: this.#clock.now() + LEASE_MILLIS });
      for (const [id, { range }] of Object.entries(commit.value.units)) this.#sees(id, range);
    };
  }

  async storm(): Promise<void> {
    const { parallelism, coordinators } = this.#schedule;
    const started = this.#start();
    for (let slot = 0; slot < parallelism; slot += 1) this.#schedulePosts(slot);
    if (coordinators > 0) this.#scheduleCoordinators();
    for (let at = 0; at < STORM_MILLIS; at += 20_000) {
      this.#clock.after(at, () => {
        this.#table.moveTablets();
      });
    }
    await this.#clock.advance(STORM_MILLIS);
    await started;
  }

  /** Somebody who wants the run tries until it is there. */
  async #start(): Promise<void> {
    const access = { store: this.#store.runs, clock: this.#clock };
    const request = { id: RUN, options: () => '{}', concurrentRuns: 'refuse' } as const;
    for (;;) {
      const outcome = await startRun(request, access, this.#stop.signal).catch(() => undefined);
      if (outcome) return;
    }
  }

  async calm(): Promise<void> {
    this.#isStorm = false;
    const latest = this.#clock.now() + PATIENCE_MILLIS;
    const isOver = (): boolean => {
      const run = this.#store.run(RUN);
      const isEnded = run?.state === 'done' && run.isTold;
      return isEnded && this.#clock.now() > Math.max(this.#latestEffectAt, this.#topics.latestAt);
    };
    while (!isOver() && this.#clock.now() < latest) await this.#clock.advance(10_000);
    // Zombies wake, and what was sent long ago lands: it must change nothing that counts.
    await this.#clock.advance(120_000);
    this.#stop.abort(new Error('the simulation is over'));
    await this.#clock.advance(0);
  }

  ending(): Ending {
    const run = this.#store.run(RUN);
    const wanted = this.#wanted();
    const counted = this.#countPublished();
    const outside = [...counted.keys()].filter((key) => !wanted.has(key));
    const missing = [...wanted].filter((key) => !counted.has(key));
    const totals = run?.totals;
    const splits = this.#store.splitsOf(RUN).filter(({ state }) => state.kind === 'done');
    const summed = sumOfCounts(splits.map(({ counts }) => counts));
    if (totals && summed.rows !== totals.rows) {
      this.#violations.push(`totals say ${totals.rows} rows, and the splits ${summed.rows}`);
    }
    return {
      state: run?.state,
      wanted: wanted.size,
      published: [...wanted].filter((key) => counted.has(key)).length,
      repeated: [...counted.values()].filter((times) => times > 1).length,
      totals: totals && totals.rows + this.#oversizedIn(wanted),
      told: this.#topics.of(OUTPUT).filter(({ attributes }) => attributes.kind === 'run-completed').length,
      deaths: this.#deaths,
      takenOver: this.#takenOver,
      violations: [
        ...this.#violations,
        ...outside.map((key) => `${key} was published, and is not of the run`),
        ...missing.map((key) => `${key} was never published`),
      ],
    };
  }

  #oversizedIn(wanted: ReadonlySet<string>): number {
    return this.#schedule.hasBadRows ? [...wanted].filter((key) => this.#keys.indexOf(key) % 17 === 3).length : 0;
  }

  #selection(): RowRange[] {
    const { selection, rows } = this.#schedule;
    switch (rows === 0 ? 'table' : selection) {
      case 'table':
        return [WHOLE_TABLE];
      case 'overlapping':
        return coalesce([
          prefixRange(Buffer.from('row-1')),
          prefixRange(Buffer.from('row-1')),
          prefixRange(Buffer.from('row-')),
        ]);
      case 'tiny':
        return coalesce(this.#keys.filter((_, index) => index % 2 === 0).map((key) => prefixRange(Buffer.from(key))));
    }
  }

  #wanted(): ReadonlySet<string> {
    return new Set(this.#selection().flatMap((range) => this.#table.rowsIn(range)));
  }

  #countPublished(): ReadonlyMap<string, number> {
    const counted = new Map<string, number>();
    const add = (key: string): void => {
      counted.set(key, (counted.get(key) ?? 0) + 1);
    };
    for (const { data, attributes } of this.#topics.of(OUTPUT)) {
      if (attributes.kind !== 'run-completed') for (const key of keysIn(data)) add(key);
    }
    for (const { data, attributes } of this.#topics.of(LETTERS)) {
      const named = attributes['row-key'];
      for (const key of named === undefined ? keysIn(data) : [named]) add(key);
    }
    return counted;
  }

  #happens(share: number): boolean {
    return this.#isStorm && this.#random() < share;
  }

  #streamFault(): StreamFault | undefined {
    if (!this.#happens(this.#schedule.streamFaults)) return this.#random() < 0.1 ? 'scanned' : undefined;
    return pick(['cut', 'scanned', 'reset'] as const, this.#random);
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

  #onPublished({ attributes, data }: Published): void {
    if (this.#store.run(RUN)?.state !== 'done' || attributes.kind === 'run-completed') return;
    // A repeat of what was published long ago may land after the end; what is new may not.
    const seen = this.#countPublished();
    for (const key of keysIn(data)) {
      if (seen.get(key) === 1) this.#violations.push(`${key} was published for the first time after the run was done`);
    }
  }

  /** Positions never go back. */
  #sees(id: string, { start }: RowRange): void {
    if (start.kind === 'unbounded') {
      if (this.#positions.has(id)) this.#violations.push(`the position of ${id} went back to its beginning`);
      return;
    }
    const before = this.#positions.get(id);
    if (before && Buffer.compare(start.key, before) < 0) this.#violations.push(`the position of ${id} went back`);
    this.#positions.set(id, start.key);
  }

  /** The scheduler posts at every full minute, and right after an attempt that outlasted one. */
  #schedulePosts(slot: number): void {
    if (this.#stop.signal.aborted) return;
    const toMinute = 60_000 - (this.#clock.now() % 60_000);
    this.#clock.after(toMinute, () => {
      const isFree = !this.#busy.has(slot);
      if (isFree || this.#happens(this.#schedule.overlaps)) this.#invoke(slot);
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
    const { parallelism, maxConcurrentSplits } = this.#schedule;
    const { unit = <Position>(one: UnitEmission<Position>) => one, remainingMillis, lost } = this.#mutant;
    const owner = `owner-${Math.floor(random() * 1e12)}`;
    return readSlot(
      {
        slot,
        owner,
        store: remote(process, { ...this.#store.slots, ...this.#mutant.store?.(this.#store.slots) }),
        giveBack: this.#mutant.giveBack ?? waitingSplit,
        bytesOf: bytesOfSplit,
        advance: (signal) => this.#tick(process, signal),
        workOf: () => Promise.resolve(this.#workOf(process)),
        toolsFor: (session) => {
          const emission = createEmission({
            send: this.#send(process, slot, owner),
            runtime,
            remainingMillis: remainingMillis ?? (() => session.remainingMillis()),
            signal: AbortSignal.any([ending.end, lost ?? session.lost]),
            maxOutstandingBytes: 4096,
          });
          return {
            openUnit: (options) => unit(emission.open(options)),
            fileLetter: (letter, signal) =>
              emission.publisher(LETTERS).publish(letterMessage(PIPELINE, letter), signal),
            close: () => {
              emission.close();
            },
          };
        },
        parallelism,
        maxConcurrentSplits,
        commitIntervalMillis: 5_000,
        runtime,
      },
      ending,
    );
  }

  #workOf(process: SimulatedProcess): RunWork {
    const { maxRecordsPerMessage, orderingKeys } = this.#schedule;
    const { clock } = process;
    const reader = {
      readRows: this.#table.readRowsAs((effect) => process.call(effect)),
      largeRows: new Semaphore(1),
      clock,
      random: this.#random,
    };
    return {
      run: RUN,
      form: rowForm('utf8'),
      unit: {
        topic: OUTPUT,
        maxRecordsPerMessage,
        oversizedMessage: 'quarantine',
        failurePolicy: 'dead-letter',
      },
      orderingKeyOf: orderingKeyOf(orderingKeys),
      oversizedRow: 'quarantine',
      open: (range, signal) =>
        readRange(
          {
            table: TABLE,
            appProfileId: '',
            range,
            idleTimeoutMillis: 300_000,
            maxRowsPerFetch: 3,
            maxBytesPerFetch: 1e6,
          },
          reader,
          signal,
        ),
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

  async #tick(process: SimulatedProcess, signal: AbortSignal): Promise<void> {
    const ticks = this.#ticksOf(process);
    try {
      await within(process.clock, 8_000, 'a tick', (until) => ticks.tick(until), signal);
    } finally {
      await within(process.clock, 3_000, 'a release', (until) => ticks.release(until), signal).catch(() => undefined);
    }
  }

  #ticksOf(process: SimulatedProcess) {
    const { clock } = process;
    const random = this.#random;
    const store = remote(process, this.#store.coordinator);
    const decider = scanDecider(PIPELINE, {
      store,
      runtime: testRuntime({ clock, random }),
      newPlanId: () =>
        Math.floor(random() * 2 ** 48)
          .toString(16)
          .padStart(16, '0'),
      planRanges: () => process.call(() => this.#planned()),
      announce: (run) =>
        process.call(async () => {
          const reply = await this.#topics.tell(OUTPUT, { kind: 'run-completed', run: run.id });
          if (reply.kind !== 'confirmed') throw new Error('the end of the run was not confirmed');
        }),
    });
    return createTicks(decider, { store, clock, owner: String(random()) });
  }

  #planned(): RowRange[] {
    const samples = this.#table.sample().filter(({ key }) => key.length > 0);
    return this.#selection().flatMap((range) => {
      const pieces: RowRange[] = [];
      let rest = range;
      for (const { key } of samples) {
        if (!cuts(rest, key)) continue;
        const [left, right] = cutAt(rest, key);
        pieces.push(left);
        rest = right;
      }
      return [...pieces, rest];
    });
  }

  #scheduleCoordinators(): void {
    if (this.#stop.signal.aborted) return;
    this.#clock.after(60_000 - (this.#clock.now() % 60_000), () => {
      const process = this.#process();
      const runtime = testRuntime({ clock: process.clock, random: this.#random });
      runTicks(this.#ticksOf(process), runtime, this.#stop.signal).catch((error: unknown) => {
        this.#violations.push(`a coordinator failed as it should not: ${String(error)}`);
      });
      this.#scheduleCoordinators();
    });
  }
}

/** What a slot may end with: its time, its lease, a store that is away. */
const isExpected = (error: unknown): boolean =>
  (error instanceof Error && ['SlotLostError', 'StoreError', 'DeadlineError'].includes(error.name)) ||
  /session ends|time is used up/.test(String(error));

const pick = <Value>(values: readonly Value[], random: Random): Value =>
  values[Math.floor(random() * values.length)] as Value;

function keysOf(rows: number, random: Random): string[] {
  const keys = Array.from({ length: rows }, (_, index) => {
    const suffix = random() < 0.1 ? '-poison' : '';
    return `row-${String(index).padStart(3, '0')}${suffix}`;
  });
  return keys.toSorted();
}

/** The rows of a message of the form `row`, packed or not. */
const keysIn = (data: string): string[] =>
  data
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .flatMap((line) => {
      const { rowKey } = JSON.parse(line) as { readonly rowKey?: string };
      return rowKey === undefined ? [] : [rowKey];
    });
