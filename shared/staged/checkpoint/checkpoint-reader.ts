import type { Turn } from '../../coordinator/decider.ts';
import { type IdRange, laneBelow, LANES, numbersOfLane, OUTSIDE_LANES } from '../segment-id.ts';
import type { CoordinatorStore } from '../ports.ts';
import {
  type CheckpointOptions,
  isCheckpointDue,
  isNearCaps,
  type NumberView,
  type TickView,
} from './decide-checkpoint.ts';
import { dueByAge, type LaneLook, startOfLook, type Unsent, unsentOf } from './look.ts';
import { type CheckpointState, NO_AMOUNT, type Progress, type SegmentHead, amountOf, scaled } from '../state.ts';

/** What was read for one decision, and by the clock of the store since when it may be missing something. */
export type TickRead = TickView & { readonly readAt: number };

/** Heads of a lane that one tick looks at from the start, and as many further on. */
const LOOK_LIMIT = 100;

/** Heads of a lane by which the weight of a number is reckoned. */
const SAMPLE_LIMIT = 4;

/** Numbers that one tick sends as a whole. */
const MAX_WHOLE = 20;

/** Rests that one tick sends, and how long it waits until it sends one again. */
const MAX_RESTS = 100;
const REST_MILLIS = 60_000;

/** Every id is looked at once in so long. */
const FULL_LOOK_MILLIS = 60_000;

const EVERY_LANE = Array.from({ length: LANES }, (_, lane) => lane);

/**
 * Reads for a tick as little as it takes, because reads are billed: two counts where nothing is staged or set apart; else
 * what is left of completed checkpoints, lane by lane, which is little while committers keep up. Where they do not, each
 * lane is read from its start and a further page of it, in turn, so that no number starves behind others.
 *
 * What it remembers is for thrift and fairness alone: a new one is as right.
 */
export class CheckpointReader {
  readonly #name: string;
  readonly #options: CheckpointOptions;
  readonly #store: CoordinatorStore;
  /** Where the further page of each lane begins. */
  readonly #cursors = new Map<number, string>();
  /** Rests that were sent, with the time. */
  readonly #sentRests = new Map<string, number>();
  #fullLookAt = -Infinity;
  #hasOldFormat: boolean | undefined;

  constructor(name: string, options: CheckpointOptions, store: CoordinatorStore) {
    this.#name = name;
    this.#options = options;
    this.#store = store;
  }

  /** The counts come after the pipeline's document was read, and everything else after the counts: see `look.ts`. */
  async read({ pipeline, now }: Turn<Progress>, signal: AbortSignal): Promise<TickRead> {
    const { count: segments, readAt } = await this.#store.countSegments(undefined, signal);
    const [restCount, highest] = await Promise.all([
      this.#store.countRests(signal),
      pipeline ? 0 : this.#store.readHighestNumber(signal),
    ]);
    const [rests, dueRests] = restCount > 0 ? await this.#readRests(restCount, now, signal) : [NO_AMOUNT, []];
    const completed = pipeline?.completed ?? highest;
    const isDue = isCheckpointDue(pipeline, this.#options, now);
    const frame = { name: this.#name, progress: pipeline, highest, segments, rests, isDue, dueRests, readAt };
    const open = numbersAfter(pipeline?.committed ?? completed, completed);
    if (segments === 0) return { ...frame, ...NOTHING_STAGED, checkpoints: await this.#readCheckpoints(open, signal) };

    const start = startOfLook(pipeline ?? { marks: [] }, now);
    const isCompleting = isDue || this.#mayBeNearCaps(pipeline, segments);
    const [lanes, further, aged, next] = await Promise.all([
      Promise.all(EVERY_LANE.map((lane) => this.#lookAt(lane, start, completed, signal))),
      Promise.all(EVERY_LANE.map((lane) => this.#lookFurther(lane, completed, signal))),
      this.#fullLook(start, now, signal),
      isCompleting ? this.#viewOf(completed + 1, signal) : undefined,
    ]);
    this.#turn(lanes, further);
    const left = distinct([...lanes.flatMap(({ heads }) => heads), ...further.flat()]);
    const checkpoints = await this.#readCheckpoints([...open, ...left.map(({ number }) => number)], signal);
    const unsent = unsentOf(left, checkpoints, now, this.#options.patienceMillis);
    const whole = await Promise.all(unsent.numbers.slice(0, MAX_WHOLE).map((number) => this.#viewOf(number, signal)));
    return {
      ...frame,
      ...(next && { next }),
      lanes,
      hasOldFormat: this.#hasOldFormat,
      checkpoints,
      unsent,
      whole,
      aged,
    };
  }

  async #lookAt(lane: number, start: number, completed: number, signal: AbortSignal): Promise<LaneLook> {
    if (completed < start) return NOTHING_LEFT;
    const heads = await this.#store.readHeads(numbersOfLane(lane, start, completed), LOOK_LIMIT, signal);
    return { heads, isWhole: heads.length < LOOK_LIMIT };
  }

  async #lookFurther(lane: number, completed: number, signal: AbortSignal): Promise<readonly SegmentHead[]> {
    const from = this.#cursors.get(lane);
    const { to } = numbersOfLane(lane, 0, completed);
    return from === undefined || from >= to ? [] : this.#store.readHeads({ from, to }, LOOK_LIMIT, signal);
  }

  /** The next tick goes on where this one stopped; at the end of a lane from its start again. */
  #turn(lanes: readonly LaneLook[], further: readonly (readonly SegmentHead[])[]): void {
    for (const lane of EVERY_LANE) {
      const first = lanes[lane] ?? NOTHING_LEFT;
      const beyond = further[lane] ?? [];
      const last = beyond.length === LOOK_LIMIT ? beyond.at(-1) : first.heads.at(-1);
      if (first.isWhole || !last) this.#cursors.delete(lane);
      else this.#cursors.set(lane, `${last.id}!`);
    }
  }

  /** Late repeats, below the start of every look, and segments of the format before this one. */
  async #fullLook(start: number, now: number, signal: AbortSignal): Promise<readonly SegmentHead[]> {
    if (now - this.#fullLookAt < FULL_LOOK_MILLIS) return [];
    const read = (ranges: readonly IdRange[]) =>
      Promise.all(ranges.map((range) => this.#store.readHeads(range, LOOK_LIMIT, signal)));
    const [old, below] = await Promise.all([
      read(OUTSIDE_LANES),
      read(EVERY_LANE.map((lane) => laneBelow(lane, start))),
    ]);
    this.#hasOldFormat = old.some((heads) => heads.length > 0);
    // Twice as long, because looks come a little late.
    return dueByAge([...old.flat(), ...below.flat()], now, 2 * FULL_LOOK_MILLIS, this.#options.patienceMillis);
  }

  async #viewOf(number: number, signal: AbortSignal): Promise<NumberView> {
    const read = await Promise.all(
      EVERY_LANE.map(async (lane) => {
        const range = numbersOfLane(lane, number, number);
        const sample = await this.#store.readHeads(range, SAMPLE_LIMIT, signal);
        const count =
          sample.length < SAMPLE_LIMIT ? sample.length : (await this.#store.countSegments(range, signal)).count;
        return { sample, count };
      }),
    );
    return { number, counts: read.map(({ count }) => count), sample: read.flatMap(({ sample }) => sample) };
  }

  async #readCheckpoints(
    numbers: readonly number[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<number, CheckpointState>> {
    const read = numbers.length === 0 ? [] : await this.#store.readCheckpoints([...new Set(numbers)], signal);
    return new Map(read.map((checkpoint) => [checkpoint.number, checkpoint]));
  }

  async #readRests(count: number, now: number, signal: AbortSignal) {
    const due = await this.#store.readDueRests(now, MAX_RESTS, signal);
    const sample = due.length > 0 ? due : await this.#store.sampleRests(SAMPLE_LIMIT, signal);
    for (const [id, at] of this.#sentRests) if (now - at >= REST_MILLIS) this.#sentRests.delete(id);
    const ids = due.map(({ id }) => id).filter((id) => !this.#sentRests.has(id));
    return [scaled(amountOf(sample), count), ids] as const;
  }

  /** What was decided on a reading has happened. */
  committed({ dueRests, segments }: TickRead, now: number): void {
    if (segments > 0 && now - this.#fullLookAt >= FULL_LOOK_MILLIS) this.#fullLookAt = now;
    for (const id of dueRests) this.#sentRests.set(id, now);
  }

  #mayBeNearCaps(progress: Progress | undefined, segments: number): boolean {
    return isNearCaps(scaled(progress?.backlog ?? NO_AMOUNT, segments), this.#options);
  }
}

const NOTHING_LEFT: LaneLook = { heads: [], isWhole: true };

const NOTHING_UNSENT: Unsent = { numbers: [], late: [] };

const NOTHING_STAGED = {
  lanes: [],
  hasOldFormat: false,
  unsent: NOTHING_UNSENT,
  whole: [],
  aged: [],
};

/** The next numbers after one, up to another: of them it is told how long they took. */
const numbersAfter = (after: number, through: number): number[] =>
  Array.from({ length: Math.min(MAX_WHOLE, through - after) }, (_, index) => after + index + 1);

const distinct = (heads: readonly SegmentHead[]): readonly SegmentHead[] => [
  ...new Map(heads.map((head) => [head.id, head])).values(),
];
