/** Operations as the service bills them (firebase.google.com/docs/firestore/pricing#operations). */
export interface BilledOperations {
  /** Documents read, there or not; at least one for every query; one for every 1,000 entries that an aggregation counts. */
  readonly reads: number;
  readonly writes: number;
  readonly deletes: number;
}

const ENTRIES_PER_READ = 1000;

/** What a server would have billed since it started or was reset. */
export class BillingCounters {
  #reads = 0;
  #writes = 0;
  #deletes = 0;

  get billed(): BilledOperations {
    return { reads: this.#reads, writes: this.#writes, deletes: this.#deletes };
  }

  reset(): void {
    this.#reads = 0;
    this.#writes = 0;
    this.#deletes = 0;
  }

  documentsRead(documents: number): void {
    this.#reads += documents;
  }

  /** @param documents what was found, what an offset left out included. */
  queryRun(documents: number): void {
    this.#reads += Math.max(1, documents);
  }

  aggregationRun(entries: number): void {
    this.#reads += Math.max(1, Math.ceil(entries / ENTRIES_PER_READ));
  }

  documentWritten(): void {
    this.#writes += 1;
  }

  documentDeleted(): void {
    this.#deletes += 1;
  }
}
