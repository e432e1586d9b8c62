import type { Entry } from './entry.ts';
import type { MessageStore } from './message-store.ts';

/** Settled entries kept for a seek, in the order of settling. The store holds their messages until they are dropped. */
export class RetainedEntries {
  readonly #entries = new Map<number, Entry>();
  readonly #store: MessageStore;

  constructor(store: MessageStore) {
    this.#store = store;
  }

  get size(): number {
    return this.#entries.size;
  }

  entries(): Iterable<Entry> {
    return this.#entries.values();
  }

  keep(entry: Entry): void {
    this.#entries.set(entry.message.sequence, entry);
  }

  /** The store goes on holding the message. @returns whether the entry was kept. */
  takeOut({ message }: Entry): boolean {
    return this.#entries.delete(message.sequence);
  }

  /** Drops what was published before. The order of settling is near enough that of publishing to stop at the first. */
  dropBefore(micros: bigint): void {
    for (const entry of this.#entries.values()) {
      if (entry.message.publishMicros >= micros) return;
      this.#drop(entry);
    }
  }

  dropAll(): void {
    for (const entry of this.#entries.values()) this.#drop(entry);
  }

  #drop({ message }: Entry): void {
    this.#entries.delete(message.sequence);
    this.#store.release(message);
  }
}
