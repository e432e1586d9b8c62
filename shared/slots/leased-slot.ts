import { abortReason, nextTurn, sleep } from '../base/clock.ts';
import { onAbort } from '../base/abort.ts';
import { type BackoffSchedule, backoffDelay } from '../base/backoff.ts';
import { within } from '../base/deadline.ts';
import { toError } from '../base/errors.ts';
import { describeError } from '../base/logging.ts';
import type { Runtime } from '../base/runtime.ts';
import type { Versioned } from '../model/store.ts';
import { type Attempt, compose, type Wanted } from './compose.ts';
import { type Moment, momentOf, remainingOf } from './lease-time.ts';
import { WritePace } from './write-pace.ts';
import { type GiveBack, RENEW_MILLIS } from './lease.ts';
import type { SlotCommitResult, SlotRead, SlotState, SlotStore, Units } from './ports.ts';
import { SlotLostError, type SlotSession, type SlotUpdate, type UpdateOutcome } from './session.ts';

export interface SlotDependencies<Held, Change> {
  readonly store: SlotStore<Held, Change>;
  readonly giveBack: GiveBack<Held, Change>;
  readonly runtime: Runtime;
}

/** A call that hangs is not answered: the client itself goes on for up to ten minutes, and so may the commit land late. */
export const CALL_MILLIS = 10_000;

export const STORE_BACKOFF: BackoffSchedule = { initialMillis: 200, maxMillis: 5_000, jitter: 0.5 };

/** What was written by an attempt whose answer may be lost. */
interface Try<Held, Change> extends Attempt<Held, Change> {
  readonly sentAt: Moment;
}

/**
 * A slot whose lease this invocation has taken.
 *
 * What must stay true: writes follow one another, each under the version that the last one made or that was read back;
 * so of all attempts on one version one can land at most, whenever it does, and the number in the document tells which.
 */
export class LeasedSlot<Held, Change> implements SlotSession<Held, Change> {
  readonly slot: number;
  readonly owner: string;
  readonly epoch: number;
  readonly #dependencies: SlotDependencies<Held, Change>;
  /** Ends every wait. */
  readonly #signal: AbortSignal;
  readonly #lost = new AbortController();
  readonly #ended = Promise.withResolvers<undefined>();
  /** The document as it is known. */
  #base: Versioned<SlotState<Held>>;
  /** Before the last confirmed write was sent. */
  #confirmedAt: Moment;
  /** The highest number that an attempt had. */
  #attempt: number;
  /** On the version that is known, without an answer or refused. */
  #tries: Try<Held, Change>[] = [];
  /** In the order in which they came; those that are written are taken out. */
  #wanted: Wanted<Held, Change>[] = [];
  #isRenewalDue = false;
  #isReleasing = false;
  #isOver = false;
  #isWriting = false;
  readonly #pace = new WritePace();
  #cancelRenewal: () => void = () => undefined;

  /**
   * @param base the document with this owner in it.
   * @param sentAt before the write that made it was sent.
   */
  constructor(
    slot: number,
    base: Versioned<SlotState<Held>>,
    sentAt: Moment,
    dependencies: SlotDependencies<Held, Change>,
    signal: AbortSignal,
  ) {
    this.slot = slot;
    this.owner = base.value.owner;
    this.epoch = base.value.epoch;
    this.#base = base;
    this.#attempt = base.value.attempt;
    this.#confirmedAt = sentAt;
    this.#dependencies = dependencies;
    this.#signal = signal;
    // Nobody may be waiting for the end.
    this.#ended.promise.catch(() => undefined);
    onAbort(signal, () => {
      this.#end(abortReason(signal));
    });
    this.#armRenewal();
  }

  get units(): Units<Held> {
    return this.#base.value.units;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  remainingMillis(): number {
    return this.#isOver ? 0 : remainingOf(this.#confirmedAt, momentOf(this.#dependencies.runtime.clock));
  }

  update(update: SlotUpdate<Held, Change>): Promise<UpdateOutcome> {
    if (this.#isOver || this.#isReleasing) return Promise.reject(this.#reason());
    const { promise, resolve, reject } = Promise.withResolvers<UpdateOutcome>();
    this.#wanted.push({ update, resolve, reject });
    this.#start();
    return promise;
  }

  async release(): Promise<void> {
    this.#isReleasing = true;
    this.#start();
    await this.#ended.promise;
  }

  #start(): void {
    if (this.#isWriting || this.#isOver) return;
    this.#isWriting = true;
    this.#write()
      .catch((error: unknown) => {
        this.#end(toError(error));
      })
      .finally(() => {
        this.#isWriting = false;
        if (this.#wanted.length > 0 || this.#isReleasing || this.#isRenewalDue) this.#start();
      });
  }

  /** Until nothing is left to be written. What arrives meanwhile goes with the next commit. */
  async #write(): Promise<void> {
    const { clock, random, logger } = this.#dependencies.runtime;
    await nextTurn(clock);
    for (let failures = 0; !this.#isOver;) {
      // What is given back is given back at once.
      const pause = this.#isReleasing ? 0 : this.#pace.pauseMillis(clock.monotonic());
      if (pause > 0) await sleep(clock, pause, this.#signal);
      const next = compose(this.#base.value, this.#wanted, {
        attempt: this.#attempt + 1,
        isRenewal: this.#isRenewalDue,
        isReleasing: this.#isReleasing,
        now: clock.now(),
        giveBack: this.#dependencies.giveBack,
      });
      this.#wanted = this.#wanted.filter((wanted) => !next.settled.includes(wanted));
      if (!next.attempt) return;
      const tried = { ...next.attempt, sentAt: momentOf(clock) };
      this.#attempt = tried.value.attempt;
      this.#tries.push(tried);
      this.#pace.wrote(clock.monotonic());
      const result = await this.#commit(tried).catch((error: unknown) => {
        if (this.#signal.aborted) throw error;
        const fields = { slot: this.slot, cause: describeError(error) };
        logger.log('WARNING', 'a write of a slot was not confirmed; its document tells whether it happened', fields);
        return undefined;
      });
      if (result?.kind === 'committed') this.#landed(tried, { value: tried.value, version: result.version });
      else if (!(await this.#readBack(tried, result))) {
        failures += 1;
        await sleep(clock, backoffDelay(STORE_BACKOFF, failures, random), this.#signal);
        continue;
      }
      failures = 0;
    }
  }

  #commit({ value, changes }: Try<Held, Change>): Promise<SlotCommitResult> {
    const { store, runtime } = this.#dependencies;
    const commit = { slot: this.slot, version: this.#base.version, value, changes };
    return within(runtime.clock, CALL_MILLIS, 'a commit', (signal) => store.commit(commit, signal), this.#signal);
  }

  /** Looks at what became of the attempts. False: nothing is known to be different the next time. */
  async #readBack(last: Try<Held, Change>, result: SlotCommitResult | undefined): Promise<boolean> {
    const read = await this.#read();
    if (this.#isOver) return true;
    const landed = this.#tries.find(({ value }) => value.attempt === read?.value.attempt);
    const isOurs = read?.value.epoch === this.epoch && read.value.owner === (landed?.value.owner ?? this.owner);
    if (!isOurs) {
      this.#lose();
      return true;
    }
    if (read.version === this.#base.version) {
      // Where a document of another slot's was in the way, the positions go without the claim.
      return result?.kind === 'conflict' && this.#giveUpClaims(last);
    }
    if (landed) this.#landed(landed, read);
    else {
      this.#base = read;
      this.#tries = [];
    }
    return true;
  }

  async #read(): Promise<SlotRead<Held> | undefined> {
    const { store, runtime } = this.#dependencies;
    for (let failures = 1; ; failures += 1) {
      try {
        const read = (signal: AbortSignal) => store.readSlot(this.slot, signal);
        return await within(runtime.clock, CALL_MILLIS, 'a read', read, this.#signal);
      } catch (error) {
        if (this.#signal.aborted) throw error;
        await sleep(runtime.clock, backoffDelay(STORE_BACKOFF, failures, runtime.random), this.#signal);
      }
    }
  }

  #landed(tried: Try<Held, Change>, base: Versioned<SlotState<Held>>): void {
    this.#base = base;
    this.#tries = [];
    this.#confirmedAt = tried.sentAt;
    this.#isRenewalDue = false;
    this.#wanted = this.#wanted.filter((wanted) => !tried.included.includes(wanted));
    for (const { resolve } of tried.included) resolve('written');
    if (base.value.owner === '') this.#end(undefined);
    else this.#armRenewal();
  }

  #giveUpClaims({ included }: Try<Held, Change>): boolean {
    const claims = included.filter(({ update }) => update.isClaim === true);
    this.#wanted = this.#wanted.filter((wanted) => !claims.includes(wanted));
    for (const { resolve } of claims) resolve('conflict');
    return claims.length > 0;
  }

  #armRenewal(): void {
    this.#cancelRenewal();
    this.#cancelRenewal = this.#dependencies.runtime.clock.after(RENEW_MILLIS, () => {
      this.#isRenewalDue = true;
      this.#start();
    });
  }

  #lose(): void {
    this.#lost.abort(this.#reason());
    this.#end(undefined);
  }

  /** @param error where neither was the slot given back nor is it another's. */
  #end(error: Error | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelRenewal();
    for (const { reject } of this.#wanted.splice(0)) reject(error ?? this.#reason());
    if (error) this.#ended.reject(error);
    else this.#ended.resolve(undefined);
  }

  #reason(): Error {
    return this.#signal.aborted ? abortReason(this.#signal) : new SlotLostError(this.slot);
  }
}
