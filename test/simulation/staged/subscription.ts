import type { Clock } from '../../../shared/base/clock.ts';
import type { Random } from '../../../shared/base/random.ts';

/** The faults of deliveries, each a share from 0 to 1. */
export interface DeliveryFaults {
  /** Delivered again although it was acknowledged, or while it is still being worked on. */
  duplicated: number;
  /** Delivered long after it could have been. */
  delayed: number;
  /** The acknowledgement is lost on its way. */
  ackLost: number;
}

/**
 * A push subscription: at least once, in no order, again after a refusal or when no answer comes in time. Nothing that
 * was not acknowledged is ever forgotten.
 */
export class SimulatedSubscription<Message> {
  readonly faults: DeliveryFaults;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #deliver: (message: Message) => Promise<boolean>;
  readonly #ackDeadlineMillis: number;
  readonly #open = new Set<Message>();
  /** Deliveries of each message that are under way or due. */
  readonly #chains = new Map<Message, number>();

  constructor(
    options: {
      readonly clock: Clock;
      readonly random: Random;
      readonly ackDeadlineMillis: number;
      readonly faults: DeliveryFaults;
    },
    /** Hands one delivery to some process; true acknowledges. Never settles when that process dies. */
    deliver: (message: Message) => Promise<boolean>,
  ) {
    this.faults = options.faults;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#ackDeadlineMillis = options.ackDeadlineMillis;
    this.#deliver = deliver;
  }

  /** Messages that nobody has acknowledged. */
  get unacknowledged(): number {
    return this.#open.size;
  }

  publish(message: Message): void {
    this.#open.add(message);
    this.#begin(message, this.#random() < this.faults.delayed ? 20_000 : 5);
  }

  /** One more chain of deliveries, each following the refusal of the one before; never many for one message. */
  #begin(message: Message, mostMillis: number): void {
    const chains = this.#chains.get(message) ?? 0;
    if (chains === MOST_CHAINS) return;
    this.#chains.set(message, chains + 1);
    this.#schedule(message, mostMillis);
  }

  #schedule(message: Message, mostMillis: number): void {
    this.#clock.after(1 + Math.floor(this.#random() * mostMillis), () => {
      this.#attempt(message);
    });
  }

  #attempt(message: Message): void {
    if (this.#random() < this.faults.duplicated) this.#begin(message, this.#ackDeadlineMillis);
    let isOver = false;
    const end = (isAcknowledged: boolean): void => {
      if (isOver) return;
      isOver = true;
      cancel();
      if (isAcknowledged && this.#random() >= this.faults.ackLost) this.#open.delete(message);
      if (this.#open.has(message)) this.#schedule(message, 10_000);
      else this.#chains.set(message, (this.#chains.get(message) ?? 1) - 1);
    };
    const cancel = this.#clock.after(this.#ackDeadlineMillis, () => {
      end(false);
    });
    this.#deliver(message).then(end, () => {
      end(false);
    });
  }
}

/** Of one message at a time: a push subscription delivers twice now and then, not without end. */
const MOST_CHAINS = 3;
