import { parseAcknowledgementId, type Entry } from './entry.ts';

/** The entries of a subscription that are not settled, in the order of publishing, and what their acknowledgement ids mean. */
export class Backlog {
  readonly #entries = new Map<number, Entry>();

  get size(): number {
    return this.#entries.size;
  }

  entries(): Iterable<Entry> {
    return this.#entries.values();
  }

  add(entry: Entry): void {
    this.#entries.set(entry.message.sequence, entry);
  }

  remove({ message }: Entry): void {
    this.#entries.delete(message.sequence);
  }

  clear(): void {
    this.#entries.clear();
  }

  /**
   * The entry that an acknowledgement of this id settles: one of a delivery that was made since the last seek, and with
   * exactly-once delivery that of the current lease.
   */
  delivered(ackId: string, isExactlyOnce: boolean): Entry | undefined {
    if (isExactlyOnce) return this.leased(ackId);
    const reference = parseAcknowledgementId(ackId);
    const entry = reference && this.#entries.get(reference.sequence);
    if (!entry || reference.attempt > entry.attempts || reference.attempt <= entry.ignoredAttempts) return undefined;
    return entry;
  }

  /** The entry whose current lease has this id. */
  leased(ackId: string): Entry | undefined {
    const entry = this.delivered(ackId, false);
    if (entry?.state !== 'leased') return undefined;
    return parseAcknowledgementId(ackId)?.attempt === entry.attempts ? entry : undefined;
  }
}
