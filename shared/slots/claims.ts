import { within } from '../base/deadline.ts';
import { DeadlineError } from '../base/errors.ts';
import { describeError } from '../base/logging.ts';
import { StoreError } from '../model/store.ts';
import { chooseClaims, type Holding, shareOf } from './choose-claims.ts';
import { hasRunOut, takeOver } from './lease.ts';
import { CALL_MILLIS, type SlotDependencies } from './leased-slot.ts';
import type { SlotSession } from './session.ts';

/** A unit that nobody has. */
export interface WaitingUnit<Held, Change> {
  readonly id: string;
  /** The time from which it may be taken. */
  readonly since: number;
  readonly held: Held;
  /** The write to its own document with which a slot has it, under the version that was read. */
  take(slot: number, epoch: number): Change;
}

/** Where units wait: what a capability knows of it. */
export interface ClaimSource<Held, Change> {
  /** Units that may be taken now, in their turn. */
  readWaiting(limit: number, signal: AbortSignal): Promise<readonly WaitingUnit<Held, Change>[]>;
  /** Units that are waiting or held, by any slot. */
  countOpen(signal: AbortSignal): Promise<number>;
}

export interface ClaimOptions<Held> {
  /** Slots that share the units. */
  readonly parallelism: number;
  /** Of a unit in the slot's document. */
  readonly bytesOf: (id: string, held: Held) => number;
}

type Want = Pick<Holding, 'wanted' | 'concurrent'>;

export interface Look {
  /** Units that this slot has now and had not before. */
  readonly taken: number;
  /** Another look at once may find more: the queue was longer than what was asked for, or another slot was faster. */
  readonly hasMore: boolean;
}

const NOTHING: Look = { taken: 0, hasMore: false };

/** Between two looks at the other slots. */
const LOOK_AT_SLOTS_MILLIS = 10_000;

/** How one slot comes by its units. */
export class Claims<Held, Change> {
  readonly #options: ClaimOptions<Held>;
  readonly #session: SlotSession<Held, Change>;
  readonly #dependencies: SlotDependencies<Held, Change>;
  #lookedAtSlotsAt = -Infinity;
  #others: readonly number[] = [];

  constructor(
    options: ClaimOptions<Held>,
    session: SlotSession<Held, Change>,
    dependencies: SlotDependencies<Held, Change>,
  ) {
    this.#options = options;
    this.#session = session;
    this.#dependencies = dependencies;
  }

  /**
   * Looks at what waits and takes what the slot may have, in one commit. Where nothing waits, and not more often than every
   * 10 s, takes what other slots had whose leases ran out: their units wait after that. A look that fails for a while is
   * told, and finds nothing.
   *
   * @param want units that the slot wants to have in all, and how many of them it works at at the same time.
   */
  look(source: ClaimSource<Held, Change>, want: Want, signal: AbortSignal): Promise<Look> {
    return this.#passing((until) => this.#look(source, want, until), NOTHING, signal);
  }

  /** How many units each other slot has whose owner is at work, by the last look at the slots. */
  get others(): readonly number[] {
    return this.#others;
  }

  /**
   * Looks at the other slots, where that is 10 s ago, and takes what they had from owners that fell silent. For a slot that
   * has no room too. True: their units wait now. A look that fails for a while is told, and finds nothing.
   */
  lookAtSlots(signal: AbortSignal): Promise<boolean> {
    return this.#passing((until) => this.#lookAtSlots(until), false, signal);
  }

  async #passing<Result>(
    work: (until: AbortSignal) => Promise<Result>,
    nothing: Result,
    signal: AbortSignal,
  ): Promise<Result> {
    const { clock, logger } = this.#dependencies.runtime;
    try {
      return await within(clock, CALL_MILLIS, 'a look', work, signal);
    } catch (error) {
      const isPassing = error instanceof DeadlineError || (error instanceof StoreError && error.isTransient);
      if (signal.aborted || !isPassing) throw error;
      logger.log('WARNING', 'a look at what waits failed; the next one is soon', { cause: describeError(error) });
      return nothing;
    }
  }

  async #look(source: ClaimSource<Held, Change>, want: Want, signal: AbortSignal): Promise<Look> {
    const { clock } = this.#dependencies.runtime;
    const ids = Object.keys(this.#session.units);
    const room = want.wanted - ids.length;
    if (room <= 0) return NOTHING;
    const waiting = await source.readWaiting(room, signal);
    if (waiting.length === 0) return { taken: 0, hasMore: await this.#lookAtSlots(signal) };
    const share = shareOf(await source.countOpen(signal), this.#options.parallelism);
    const { bytesOf } = this.#options;
    const candidates = waiting.map((unit) => ({ ...unit, unit, bytes: bytesOf(unit.id, unit.held) }));
    const bytes = Object.entries(this.#session.units).reduce((sum, [id, held]) => sum + bytesOf(id, held), 0);
    const chosen = chooseClaims(candidates, { ...want, units: ids.length, bytes, share }, clock.now());
    if (chosen.length === 0) return NOTHING;
    const outcome = await this.#claim(chosen.map(({ unit }) => unit));
    if (outcome === 'conflict') return { taken: 0, hasMore: true };
    return { taken: chosen.length, hasMore: waiting.length === room && chosen.length === room };
  }

  #claim(chosen: readonly WaitingUnit<Held, Change>[]) {
    const { slot, epoch } = this.#session;
    return this.#session.update({
      isClaim: true,
      edit(units) {
        const others = chosen.filter(({ id }) => !(id in units));
        if (others.length === 0) return undefined;
        return {
          units: { ...units, ...Object.fromEntries(others.map(({ id, held }) => [id, held])) },
          changes: others.map((unit) => unit.take(slot, epoch)),
        };
      },
    });
  }

  async #lookAtSlots(signal: AbortSignal): Promise<boolean> {
    const { store, giveBack, runtime } = this.#dependencies;
    if (runtime.clock.now() - this.#lookedAtSlotsAt < LOOK_AT_SLOTS_MILLIS) return false;
    this.#lookedAtSlotsAt = runtime.clock.now();
    const others: number[] = [];
    let isFreed = false;
    for (const [slot, read] of await store.readSlots(signal)) {
      if (slot === this.#session.slot) continue;
      const units = Object.keys(read.value.units).length;
      if (!hasRunOut(read)) {
        if (read.value.owner !== '') others.push(units);
      } else if (units > 0) {
        const commit = takeOver(slot, read, '', runtime.clock.now(), giveBack);
        if ((await store.commit(commit, signal)).kind === 'committed') isFreed = true;
      }
    }
    this.#others = others;
    return isFreed;
  }
}
