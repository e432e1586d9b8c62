import { abortReason } from '../../base/clock.ts';
import { describeError } from '../../base/logging.ts';
import type { Runtime } from '../../base/runtime.ts';
import { hasRunOut } from '../../model/lease.ts';
import type { CommittingStore, StoredSegment } from '../ports.ts';
import type { SegmentHead, SegmentLease } from '../state.ts';
import type { Version } from '../../model/store.ts';

/** How long a claim lasts without being renewed: what a killed committer holds is anybody's after it. */
export const SEGMENT_LEASE_MILLIS = 30_000;

/** A segment that this invocation holds. `signal` aborts when it is held no more, or the invocation ends. */
export interface HeldSegment {
  readonly head: SegmentHead;
  readonly payload: Buffer;
  readonly signal: AbortSignal;
  /** Aborts when somebody else has claimed it. */
  readonly lost: AbortSignal;
}

/** A segment to give back, and why. */
export interface GivenBack {
  readonly segment: HeldSegment;
  /** For people: names no row key and no value. */
  readonly message: string;
}

interface Hold extends HeldSegment {
  version: Version;
  readonly lose: (reason: Error) => void;
}

export interface HoldingDependencies {
  readonly store: CommittingStore;
  /** A name of this invocation, of no other. */
  readonly holder: string;
  readonly runtime: Runtime;
}

/**
 * The claims of one invocation on its segments, renewed at half of their life until they are ended. A claim keeps others
 * from doing the same work; it is not what makes an effect count once. So what is lost is left to whoever has it.
 *
 * What must stay true: a claim never outlives its invocation by more than its life; the timer ends with `end`.
 */
export class HeldSegments {
  readonly #with: HoldingDependencies;
  readonly #signal: AbortSignal;
  #held: Hold[] = [];
  #cancelRenewal: (() => void) | undefined;
  /** Renewals follow each other: a version is known only once the write that made it was answered. */
  #renewal: Promise<void> = Promise.resolve();
  #isEnded = false;

  private constructor(dependencies: HoldingDependencies, signal: AbortSignal) {
    this.#with = dependencies;
    this.#signal = signal;
  }

  /** Claims those of the segments that are free. Another holder's, valid still, are left to it. */
  static async claim(
    stored: readonly StoredSegment[],
    dependencies: HoldingDependencies,
    signal: AbortSignal,
  ): Promise<HeldSegments> {
    const held = new HeldSegments(dependencies, signal);
    const now = dependencies.runtime.clock.now();
    await held.#claim(stored.filter(({ head }) => isFree(head, now)));
    held.#renewLater();
    return held;
  }

  /** Held now, in the order they were asked for. */
  get segments(): readonly HeldSegment[] {
    return this.#held;
  }

  /** Ends the renewal; claims stay until they run out or are given back. */
  async end(): Promise<void> {
    this.#isEnded = true;
    this.#cancelRenewal?.();
    await this.#renewal;
  }

  /** Gives segments back with their problems, so that they need not wait for their claims to run out. Never rejects. */
  async giveBack(given: readonly GivenBack[], signal: AbortSignal): Promise<void> {
    const { runtime, store } = this.#with;
    const back = given.flatMap(({ segment, message }) => {
      const hold = this.#held.find(({ head }) => head.id === segment.head.id);
      if (!hold) return [];
      const attempts = (hold.head.lease?.attempts ?? 0) + 1;
      const lease: SegmentLease = { holder: '', expiresAt: runtime.clock.now(), attempts };
      return [{ id: hold.head.id, version: hold.version, lease, problem: message }];
    });
    if (back.length === 0) return;
    try {
      if (await store.lease(back, signal)) return;
      // One of them is somebody else's by now; the others are still given back.
      for (const one of back) await store.lease([one], signal);
    } catch (error) {
      runtime.logger.log('WARNING', 'segments could not be given back; their claims run out', {
        segments: back.map(({ id }) => id),
        error: describeError(error),
      });
    }
  }

  /** All at once; one by one where somebody was faster with any of them. */
  async #claim(free: readonly StoredSegment[]): Promise<void> {
    if (free.length === 0) return;
    const versions = await this.#lease(free.map(({ head, version }) => ({ head, version })));
    if (versions) {
      for (const [index, segment] of free.entries()) this.#hold(segment, versions[index] as Version);
      return;
    }
    if (free.length > 1) for (const one of free) await this.#claim([one]);
  }

  #hold({ head, payload }: StoredSegment, version: Version): void {
    const lost = new AbortController();
    const signal = AbortSignal.any([lost.signal, this.#signal]);
    const lose = (reason: Error): void => {
      lost.abort(reason);
    };
    this.#held.push({ head, payload, version, signal, lost: lost.signal, lose });
  }

  #renewLater(): void {
    if (this.#isEnded || this.#held.length === 0 || this.#signal.aborted) return;
    this.#cancelRenewal = this.#with.runtime.clock.after(SEGMENT_LEASE_MILLIS / 2, () => {
      this.#renewal = this.#renew().finally(() => {
        this.#renewLater();
      });
    });
  }

  async #renew(): Promise<void> {
    try {
      const versions = await this.#lease(this.#held);
      if (versions) {
        for (const [index, hold] of this.#held.entries()) hold.version = versions[index] as Version;
      } else {
        for (const hold of this.#held) await this.#renewOne(hold);
        this.#held = this.#held.filter(({ lost }) => !lost.aborted);
      }
    } catch (error) {
      // The claims are still ours until they run out; the next renewal tries again.
      this.#with.runtime.logger.log('WARNING', 'the claims on segments could not be renewed', {
        error: describeError(error),
      });
    }
  }

  async #renewOne(hold: Hold): Promise<void> {
    const versions = await this.#lease([hold]);
    if (versions) hold.version = versions[0] as Version;
    else hold.lose(new Error(`segment ${hold.head.id} is drained by another invocation`));
  }

  #lease(
    segments: readonly { readonly head: SegmentHead; readonly version: Version }[],
  ): Promise<readonly Version[] | undefined> {
    const expiresAt = this.#with.runtime.clock.now() + SEGMENT_LEASE_MILLIS;
    const claims = segments.map(({ head, version }) => {
      const lease = { holder: this.#with.holder, expiresAt, attempts: head.lease?.attempts ?? 0 };
      return { id: head.id, version, lease };
    });
    if (this.#signal.aborted) return Promise.reject(abortReason(this.#signal));
    return this.#with.store.lease(claims, this.#signal);
  }
}

/** Nobody's: waiting for a committer, or left by one. What is not owned by a checkpoint is nobody's to write. */
const isFree = ({ state, lease }: SegmentHead, now: number): boolean =>
  state === 'owned' && (!lease || lease.holder === '' || hasRunOut(lease.expiresAt, now, SEGMENT_LEASE_MILLIS));
