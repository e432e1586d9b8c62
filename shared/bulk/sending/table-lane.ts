import { Queue } from '../../base/queue.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { ResolvedWriterOptions } from '../../config/resolved.ts';
import type { TableName } from '../../model/table-name.ts';
import type { WaitingEntry } from '../waiting/waiting-entry.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { type RowWrite, WriteQueue } from './write-queue.ts';

/** When a batch is full, how long it may gather, and how many of a table are out at once. */
export type LaneOptions = Pick<
  ResolvedWriterOptions,
  'batchElementCountThreshold' | 'batchRequestByteThreshold' | 'maxConcurrentBatches' | 'lingerMillis'
>;

/** What the lanes of an instance share. */
export interface LaneSurroundings {
  readonly options: LaneOptions;
  readonly runtime: Runtime;
  readonly rates: RateLimiter;
  /** Nothing may linger: the instance drains, or entries that gather keep others out. */
  readonly isPressed: () => boolean;
  /** Runs a batch to its end; it has a slot of the lane and gives that back by {@link TableLane.leave}. Never throws. */
  readonly start: (writes: readonly RowWrite[], lane: TableLane) => void;
  /** Nothing waits in the lane and nothing of it is in flight. */
  readonly onEmpty: (lane: TableLane) => void;
}

/**
 * A table that is being written: what waits for it, and when that may leave. While fewer than `maxConcurrentBatches`
 * batches are in flight, what is ready goes out at once, at the rate that the service allows, unless it may linger;
 * otherwise it gathers until one returns.
 */
export class TableLane {
  readonly key: string;
  readonly table: TableName;
  readonly queue = new WriteQueue();
  readonly #with: LaneSurroundings;
  /** Slots in use: batches in flight, their isolation included. */
  #batches = 0;
  /** Batches that were parked and wait for a slot, longest first. */
  readonly #returning = new Queue<() => void>();
  #isPumpDue = false;
  #gatheringSince: number | undefined;
  #throttledSince: number | undefined;
  #cancelWake: (() => void) | undefined;

  constructor(key: string, table: TableName, surroundings: LaneSurroundings) {
    this.key = key;
    this.table = table;
    this.#with = surroundings;
  }

  add(entry: WaitingEntry): void {
    this.queue.add(entry);
    this.pumpSoon();
  }

  /** What arrives in one turn leaves in one request. */
  pumpSoon(): void {
    if (this.#isPumpDue) return;
    this.#isPumpDue = true;
    this.#with.runtime.clock.soon(() => {
      this.#isPumpDue = false;
      this.pump();
    });
  }

  /** Sends whatever may leave now; arms the one timer for what may leave later. */
  pump(): void {
    this.#cancelWake?.();
    this.#cancelWake = undefined;
    const { options, runtime, start, onEmpty } = this.#with;
    while (this.#returning.length > 0 && this.#batches < options.maxConcurrentBatches) {
      this.#batches += 1;
      this.#returning.take()?.();
    }
    while (this.queue.readyWrites > 0 && this.#batches < options.maxConcurrentBatches) {
      const waitMillis = this.#waitMillis();
      if (waitMillis > 0) {
        this.#cancelWake = runtime.clock.after(waitMillis, () => {
          this.#cancelWake = undefined;
          this.pump();
        });
        return;
      }
      const writes = this.queue.take({
        maxEntries: options.batchElementCountThreshold,
        maxBytes: options.batchRequestByteThreshold,
      });
      this.#gatheringSince = this.queue.readyWrites > 0 ? runtime.clock.now() : undefined;
      if (writes.length > 0) {
        this.#batches += 1;
        start(writes, this);
      }
    }
    if (this.queue.isEmpty && this.#batches === 0) onEmpty(this);
  }

  /** A batch is over: its slot is free. */
  leave(): void {
    this.#batches -= 1;
    this.pump();
  }

  /** Waits without the batch's slot, which is another's meanwhile; one is taken again before it goes on. */
  async withoutSlot<Result>(wait: () => Promise<Result>): Promise<Result> {
    this.#batches -= 1;
    this.pumpSoon();
    try {
      return await wait();
    } finally {
      await new Promise<void>((resolve) => {
        this.#returning.push(resolve);
        this.pumpSoon();
      });
    }
  }

  /** How long the next batch must wait: for company, or because the service asked for a lower rate. */
  #waitMillis(): number {
    const { runtime, rates } = this.#with;
    const lingerMillis = this.#lingerMillis();
    if (lingerMillis > 0) return lingerMillis;
    const throttleMillis = rates.waitMillis(this.table);
    if (throttleMillis > 0) {
      this.#throttledSince ??= runtime.clock.now();
    } else if (this.#throttledSince !== undefined) {
      runtime.metrics.count('throttledTime', runtime.clock.now() - this.#throttledSince);
      this.#throttledSince = undefined;
    }
    return throttleMillis;
  }

  #lingerMillis(): number {
    const { options, runtime, isPressed } = this.#with;
    const { lingerMillis, batchElementCountThreshold, batchRequestByteThreshold } = options;
    if (lingerMillis === 0) return 0;
    const { readyWrites, readyBytes } = this.queue;
    const isFull = readyWrites >= batchElementCountThreshold || readyBytes >= batchRequestByteThreshold;
    if (isFull || isPressed()) return 0;
    const now = runtime.clock.now();
    this.#gatheringSince ??= now;
    return Math.max(0, this.#gatheringSince + lingerMillis - now);
  }
}
