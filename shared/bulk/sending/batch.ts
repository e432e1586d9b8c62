import { backoffDelay } from '../../base/backoff.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { ResolvedWriterOptions } from '../../config/resolved.ts';
import type { Status } from '../../model/status.ts';
import type { TableName } from '../../model/table-name.ts';
import type { EntryAnswer } from '../answer.ts';
import { type Trouble, transientTrouble } from '../outcome.ts';
import type { FinalVerdict } from '../verdict.ts';
import type { Settlement } from '../waiting/settlement.ts';
import type { WaitingEntry } from '../waiting/waiting-entry.ts';
import type { Requests } from './requests.ts';
import type { TableLane } from './table-lane.ts';
import type { RowWrite } from './write-queue.ts';

/** A write that met a transient failure: those of its entries that are undecided, and what was answered. */
export interface Retry {
  readonly write: RowWrite;
  readonly undecided: readonly WaitingEntry[];
  readonly status: Status;
}

/** What the batches of an instance share. */
export interface BatchSurroundings {
  readonly options: Pick<ResolvedWriterOptions, 'retryInitialBackoffMillis' | 'retryMaxBackoffMillis'>;
  readonly runtime: Runtime;
  readonly requests: Requests;
  readonly settlement: Settlement;
}

/** Concurrent instances must not retry in step; a quarter either way keeps the mean. */
const RETRY_JITTER = 0.25;

/** One batch of a lane: what may be done to its entries, from their request to a decision on each. */
export class Batch {
  readonly #lane: TableLane;
  readonly #with: BatchSurroundings;

  constructor(lane: TableLane, surroundings: BatchSurroundings) {
    this.#lane = lane;
    this.#with = surroundings;
  }

  get table(): TableName {
    return this.#lane.table;
  }

  /** One request with one wire entry for each group of parts; one answer each, by index. */
  send(groups: readonly (readonly WaitingEntry[])[], purpose: 'write' | 'isolate'): Promise<readonly EntryAnswer[]> {
    return this.#with.requests.send(this.#lane.table, groups, purpose);
  }

  settle(entry: WaitingEntry, verdict: FinalVerdict): void {
    this.#with.settlement.settle(entry, verdict, this.#lane.table);
  }

  /** The entry's invocation is gone: it is done with, unsent. */
  discard(entry: WaitingEntry): void {
    this.#with.settlement.unhold(entry);
  }

  /** These entries were answered NOT_FOUND and are not done with. */
  countMissing(entries: readonly WaitingEntry[]): void {
    this.#with.runtime.metrics.count('errorClass.errors', entries.length, 'NOT_FOUND');
  }

  /** Frees the row of a write that is decided. */
  release(write: RowWrite): void {
    this.#lane.queue.release(write);
    this.#lane.pumpSoon();
  }

  /**
   * Sends what one answer left undecided again later, with the rows still held. One timer for all of it, so that it goes
   * again in as few requests as it went before: in an outage, a timer for each entry would turn every batch into as many
   * requests as it has entries.
   */
  retry(again: readonly Retry[]): void {
    const { options, runtime, settlement } = this.#with;
    for (const { write, undecided, status } of again) {
      write.attempts += 1;
      settlement.park(undecided, transientTrouble(status));
    }
    const schedule = {
      initialMillis: options.retryInitialBackoffMillis,
      maxMillis: options.retryMaxBackoffMillis,
      jitter: RETRY_JITTER,
    };
    for (const [attempts, together] of Map.groupBy(again, ({ write }) => write.attempts)) {
      runtime.clock.after(backoffDelay(schedule, attempts, runtime.random), () => {
        // Each goes to the head of the queue, so the last goes first.
        for (const one of together.toReversed()) this.#sendAgain(one);
        this.#lane.pump();
      });
    }
  }

  #sendAgain({ write, undecided }: Retry): void {
    const { settlement, runtime } = this.#with;
    settlement.unpark(undecided);
    const wanted = undecided.filter(({ isAbandoned }) => !isAbandoned);
    if (wanted.length === 0) {
      this.#lane.queue.release(write);
    } else {
      runtime.metrics.count('entriesRetried', wanted.length);
      this.#lane.queue.retry(write, wanted);
    }
  }

  /** Waits with the entries parked: their rows stay held, the slot and the abandoned are free at once. */
  async park<Result>(entries: readonly WaitingEntry[], trouble: Trouble, wait: () => Promise<Result>): Promise<Result> {
    const { settlement } = this.#with;
    settlement.park(entries, trouble);
    try {
      return await this.#lane.withoutSlot(wait);
    } finally {
      settlement.unpark(entries);
      for (const entry of entries) entry.isHeld = true;
    }
  }
}
