import type { PushBackoffBounds } from '../delivery/backoff.ts';
import type { Delivery } from '../delivery/entry.ts';
import type { PushSettings } from '../delivery/settings.ts';
import type { Allowance } from '../delivery/subscription-state.ts';
import type { Timing } from '../timing.ts';
import { pushRequest } from './push-body.ts';
import { isAcknowledgement, PushClient } from './push-client.ts';
import { PushPace, type WindowBounds } from './push-pace.ts';

/** What the push loop needs of its subscription. */
export interface PushSource {
  /** How a push is made now: it may change from one to the next. */
  describe(): PushTerms;
  /** Leases deliveries whose end this loop reports. */
  take(allowance: Allowance): Delivery[];
  acknowledge(ackId: string): void;
  refuse(ackId: string): void;
  /** Asks to be pumped again. */
  wake(): void;
  /** Milliseconds that the next push is held back (fault injection). */
  delayMillis(): number;
}

export interface PushTerms {
  /** Full name. */
  readonly subscription: string;
  /** The time that a push may take, in milliseconds. */
  readonly ackDeadlineMillis: number;
  /** Whether the body carries the delivery attempt. */
  readonly showsAttempt: boolean;
}

const ONE: Allowance = { messages: 1, bytes: Infinity };

/** Delivers one subscription's messages to its endpoint: as many at a time as its pace allows, each with the deadline. */
export class PushLoop {
  readonly #source: PushSource;
  readonly #settings: PushSettings;
  readonly #timing: Timing;
  readonly #client: PushClient;
  readonly #pace: PushPace;
  /** What gives up each push that is under way, by its acknowledgement id. */
  readonly #underWay = new Map<string, () => void>();
  #cancelResume: (() => void) | undefined;
  #isStopped = false;

  constructor(
    source: PushSource,
    settings: PushSettings,
    timing: Timing,
    bounds: { readonly window: WindowBounds; readonly backoff: PushBackoffBounds },
  ) {
    this.#source = source;
    this.#settings = settings;
    this.#timing = timing;
    this.#client = new PushClient(settings.endpoint, bounds.window.cap);
    this.#pace = new PushPace(bounds.window, bounds.backoff);
  }

  get outstanding(): number {
    return this.#pace.outstanding;
  }

  get window(): number {
    return this.#pace.window;
  }

  /** Starts one push if it may. @returns whether it did. */
  pump(): boolean {
    // One reading of the clock decides both whether to wait and for how long: a pause that ends between two readings
    // would be waited for by nobody.
    const now = this.#timing.clock.now();
    if (this.#isStopped) return false;
    if (!this.#pace.mayStart(now)) {
      this.#resumeAfterPause(now);
      return false;
    }
    const [delivery] = this.#source.take(ONE);
    if (!delivery) return false;
    this.#push(delivery);
    return true;
  }

  /** Gives up and refuses what is under way, and closes every connection. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelResume?.();
    for (const [ackId, giveUp] of this.#underWay) {
      giveUp();
      this.#source.refuse(ackId);
    }
    this.#underWay.clear();
    this.#client.close();
  }

  #push(delivery: Delivery): void {
    const { ackId } = delivery;
    const { subscription, ackDeadlineMillis, showsAttempt } = this.#source.describe();
    const startedAt = this.#timing.clock.now();
    const requestNumber = this.#pace.start();
    let abort: (() => void) | undefined;
    let cancelDelay: (() => void) | undefined;
    const giveUp = (): void => {
      cancelDelay?.();
      cancelDeadline();
      abort?.();
    };
    const finish = (status: number): void => {
      if (!this.#underWay.delete(ackId)) return;
      cancelDeadline();
      this.#report(ackId, requestNumber, startedAt, status);
    };
    const cancelDeadline = this.#timing.clock.after(ackDeadlineMillis, () => {
      giveUp();
      finish(0);
    });
    const send = (): void => {
      abort = this.#client.post(pushRequest(delivery, subscription, this.#settings.body, showsAttempt), finish);
    };
    this.#underWay.set(ackId, giveUp);
    const delayMillis = this.#source.delayMillis();
    if (delayMillis > 0) cancelDelay = this.#timing.clock.after(delayMillis, send);
    else send();
  }

  #report(ackId: string, requestNumber: number, startedAt: number, status: number): void {
    const now = this.#timing.clock.now();
    if (isAcknowledgement(status)) {
      this.#pace.acknowledged(now - startedAt);
      this.#source.acknowledge(ackId);
    } else {
      this.#pace.refused(requestNumber, now);
      this.#source.refuse(ackId);
    }
    this.#source.wake();
  }

  #resumeAfterPause(now: number): void {
    const pauseMillis = this.#pace.pausedUntil - now;
    if (pauseMillis <= 0 || this.#cancelResume) return;
    this.#cancelResume = this.#timing.clock.after(pauseMillis, () => {
      this.#cancelResume = undefined;
      this.#source.wake();
    });
  }
}
