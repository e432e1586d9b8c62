import { Backlog } from './backlog.ts';
import { retryDelay } from './backoff.ts';
import { DueHeap } from './due-heap.ts';
import { acknowledgementId, giveTo, newEntry, type Delivery, type Entry, type Holder } from './entry.ts';
import type { MessageStore, StoredMessage } from './message-store.ts';
import { DeliveryOrder } from './ordering.ts';
import { RetainedEntries } from './retained-entries.ts';
import type { SubscriptionSettings } from './settings.ts';

/** How much a consumer may take. */
export interface Allowance {
  readonly messages: number;
  /** Taking stops once this many bytes were taken; the message that reaches it still goes out. */
  readonly bytes: number;
}

/**
 * The state of one subscription: what is undelivered, leased, waiting for its retry, retained. No clock and no timer:
 * every method that needs the time takes `now`, in milliseconds since the epoch. See `entry.ts` for the states.
 */
export class SubscriptionState {
  readonly #store: MessageStore;
  #settings: SubscriptionSettings;
  /** Everything that is not settled, in the order of publishing. */
  readonly #backlog = new Backlog();
  readonly #retained: RetainedEntries;
  #order = new DeliveryOrder<Entry>();
  /** Leases and retry delays that end. */
  readonly #due = new DueHeap<Entry>();
  /** Entries whose attempts are used up and that nobody took to the dead-letter topic yet. */
  #exhausted: Entry[] = [];

  constructor(settings: SubscriptionSettings, store: MessageStore) {
    this.#settings = settings;
    this.#store = store;
    this.#retained = new RetainedEntries(store);
  }

  get backlogSize(): number {
    return this.#backlog.size;
  }

  get readyCount(): number {
    return this.#order.readyCount;
  }

  get retainedSize(): number {
    return this.#retained.size;
  }

  /** When a lease or a retry delay ends next; undefined while nothing is due. */
  get nextDueAt(): number | undefined {
    return this.#due.nextDueAt;
  }

  /** New settings apply from the next delivery and the next failure on. */
  configure(settings: SubscriptionSettings): void {
    this.#settings = settings;
    if (!settings.retainsAcknowledged) this.dropRetained();
  }

  /** Takes in a published message. */
  offer(message: StoredMessage): void {
    const entry = newEntry(message, this.#settings.isOrdered);
    this.#store.hold(message);
    this.#backlog.add(entry);
    this.#order.add(entry);
  }

  /**
   * Leases what may be delivered now.
   * @param leaseMillis how long; Infinity when the holder itself reports every end.
   * @param overtake places that the first one may jump ahead (fault injection).
   */
  take(now: number, allowance: Allowance, leaseMillis: number, holder?: Holder, overtake = 0): Delivery[] {
    const taken: Delivery[] = [];
    let bytes = 0;
    while (taken.length < allowance.messages && bytes < allowance.bytes) {
      const entry = this.#order.next(taken.length === 0 ? overtake : 0);
      if (entry === undefined) break;
      if (entry.state !== 'ready') {
        // Settled while it was queued: its key moves on.
        if (entry.state === 'settled') this.#order.settled(entry);
        continue;
      }
      if (this.#isPastRetention(entry, now)) {
        this.#settle(entry, false);
        continue;
      }
      bytes += entry.message.bytes;
      taken.push(this.#lease(entry, now + leaseMillis, holder));
    }
    return taken;
  }

  /**
   * Settles a delivery. @returns false when the id is unknown, settled already, or (exactly-once only) not that of the
   * current lease. Otherwise a late acknowledgement still counts, as the service does its best to honour it.
   */
  acknowledge(ackId: string, now: number): boolean {
    const entry = this.#backlog.delivered(ackId, this.#settings.isExactlyOnce);
    if (!entry) return false;
    this.#settle(entry, this.#settings.retainsAcknowledged);
    this.#retained.dropBefore(this.#oldestMicros(now));
    return true;
  }

  /** Whether this is the acknowledgement id of a current lease. */
  isLeased(ackId: string): boolean {
    return this.#backlog.leased(ackId) !== undefined;
  }

  /** An acknowledgement that gets lost on its way (fault injection): the message is delivered again, at once. */
  loseAcknowledgement(ackId: string): void {
    const entry = this.#backlog.leased(ackId);
    if (!entry) return;
    this.#release(entry);
    this.#makeReady(entry);
  }

  /** Ends a lease without an acknowledgement. @returns false when that lease is not the current one. */
  refuse(ackId: string, now: number): boolean {
    const entry = this.#backlog.leased(ackId);
    if (!entry) return false;
    this.#fail(entry, now);
    return true;
  }

  /** Moves the end of a lease to `leaseMillis` from now. @returns false when that lease is not the current one. */
  extend(ackId: string, now: number, leaseMillis: number): boolean {
    const entry = this.#backlog.leased(ackId);
    if (!entry) return false;
    this.#due.remove(entry);
    this.#scheduleAt(entry, now + leaseMillis);
    return true;
  }

  /** Lets leases and retry delays end that are due. @returns how many leases ended. */
  advance(now: number): number {
    let ended = 0;
    for (let entry = this.#due.takeDue(now); entry; entry = this.#due.takeDue(now)) {
      if (entry.state === 'leased') {
        ended += 1;
        this.#fail(entry, now);
      } else this.#makeReady(entry);
    }
    return ended;
  }

  /** Hands over what the dead-letter policy takes out. Each must then be {@link bury}ed or {@link revive}d. */
  takeExhausted(): Entry[] {
    const exhausted = this.#exhausted;
    this.#exhausted = [];
    return exhausted;
  }

  /** Its dead letter is published. */
  bury(entry: Entry): void {
    if (entry.state === 'exhausted') this.#settle(entry, this.#settings.retainsAcknowledged);
  }

  /** Its dead letter could not be published: it is delivered again after the retry delay. */
  revive(entry: Entry, now: number): void {
    if (entry.state === 'exhausted') this.#retry(entry, now);
  }

  /**
   * Marks everything published before `micros` as acknowledged, and everything retained from then on as not.
   * Leases end; acknowledgements of deliveries before the seek no longer count.
   */
  seek(micros: bigint): void {
    const kept = [...this.#backlog.entries(), ...this.#retained.entries()]
      .filter((entry) => this.#resetForSeek(entry, micros))
      .toSorted((left, right) => left.message.sequence - right.message.sequence);
    this.#order = new DeliveryOrder();
    this.#exhausted = [];
    for (const entry of kept) {
      this.#backlog.add(entry);
      this.#order.add(entry);
    }
  }

  /** Gives up what is kept only for a seek. */
  dropRetained(): void {
    this.#retained.dropAll();
  }

  /** Gives up everything: the subscription is deleted. */
  clear(): void {
    this.dropRetained();
    for (const entry of this.#backlog.entries()) {
      this.#release(entry);
      entry.state = 'settled';
      this.#store.release(entry.message);
    }
    this.#backlog.clear();
    this.#order = new DeliveryOrder();
    this.#exhausted = [];
  }

  #lease(entry: Entry, until: number, holder: Holder | undefined): Delivery {
    entry.state = 'leased';
    entry.attempts += 1;
    giveTo(entry, holder);
    this.#scheduleAt(entry, until);
    return { ackId: acknowledgementId(entry), message: entry.message, attempt: entry.attempts };
  }

  #scheduleAt(entry: Entry, dueAt: number): void {
    entry.dueAt = dueAt;
    if (dueAt !== Infinity) this.#due.add(entry);
  }

  /** Takes an entry out of its lease or delay. */
  #release(entry: Entry): void {
    this.#due.remove(entry);
    giveTo(entry, undefined);
  }

  #makeReady(entry: Entry): void {
    entry.state = 'ready';
    this.#order.again(entry);
  }

  #fail(entry: Entry, now: number): void {
    this.#release(entry);
    const { deadLetter } = this.#settings;
    if (deadLetter && entry.attempts >= deadLetter.maxAttempts) {
      entry.state = 'exhausted';
      this.#exhausted.push(entry);
    } else this.#retry(entry, now);
  }

  #retry(entry: Entry, now: number): void {
    const delayMillis = retryDelay(this.#settings.retry, entry.attempts);
    if (delayMillis === 0) {
      this.#makeReady(entry);
      return;
    }
    entry.state = 'waiting';
    this.#scheduleAt(entry, now + delayMillis);
  }

  #settle(entry: Entry, retain: boolean): void {
    this.#release(entry);
    entry.state = 'settled';
    this.#backlog.remove(entry);
    this.#order.settled(entry);
    if (retain) this.#retained.keep(entry);
    else this.#store.release(entry.message);
  }

  /** Puts an entry where a seek wants it. @returns whether it is to be delivered (again). */
  #resetForSeek(entry: Entry, micros: bigint): boolean {
    const { message } = entry;
    this.#release(entry);
    entry.ignoredAttempts = entry.attempts;
    this.#backlog.remove(entry);
    const wasRetained = this.#retained.takeOut(entry);
    if (message.publishMicros >= micros) {
      entry.state = 'ready';
      return true;
    }
    entry.state = 'settled';
    if (wasRetained || this.#settings.retainsAcknowledged) this.#retained.keep(entry);
    else this.#store.release(message);
    return false;
  }

  #isPastRetention(entry: Entry, now: number): boolean {
    return entry.message.publishMicros < this.#oldestMicros(now);
  }

  /** What was published before is past retention. */
  #oldestMicros(now: number): bigint {
    return BigInt(Math.trunc(now)) * 1000n - this.#settings.retentionMicros;
  }
}
