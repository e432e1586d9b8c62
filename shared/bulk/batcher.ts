import { abortable } from '../base/abortable.ts';
import { backoffDelay } from '../base/backoff.ts';
import { abortReason, type Clock } from '../base/clock.ts';
import { toError } from '../base/errors.ts';
import type { Random } from '../base/ids.ts';
import type { Logger } from '../base/logging.ts';
import { describeError } from '../base/logging.ts';
import type { Metrics } from '../base/metrics.ts';
import type { RowEntry } from '../model/mutation.ts';
import { formatTableName, type TableName } from '../model/table-name.ts';
import { Admission } from './admission.ts';
import type { EntryAnswer } from './answer.ts';
import type { BatchActions, Repair, Retry } from './batch-actions.ts';
import { deliverBatch } from './deliver.ts';
import { mergeEntries, type RowWrite } from './lane.ts';
import type { BatcherOptions } from './options.ts';
import type { MutateRows, MutateRowsReply } from './ports.ts';
import { RateLimiter } from './rate-limiter.ts';
import { deadlineOutcome, type Trouble, uncheckedOutcome, transientTrouble, type Outcome } from './outcome.ts';
import { Settlement } from './settlement.ts';
import { StallWatch } from './stall-watch.ts';
import type { TableKeeper } from './table-keeper.ts';
import { TableLane, type WaitingEntry } from './table-lane.ts';

/** Takes what became of an entry. */
export type OnOutcome = (outcome: Outcome) => void;

export interface BatcherDependencies {
  readonly mutateRows: MutateRows;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Creates what is missing; absent under create-never. */
  readonly tables?: TableKeeper;
}

/**
 * Group commit for one instance: the entries of all concurrent invocations, per table, in as few requests as their
 * arrival allows. While fewer than `maxConcurrentBatches` requests of a table are in flight, what waits goes out at
 * once; otherwise it gathers until one returns. A lone record is written immediately and a busy instance fills its
 * batches, without a timer between the two.
 *
 * What must stay true: every admitted entry is settled exactly once and releases its admission exactly once; nothing
 * is thrown from a timer; a row is held by at most one request.
 */
export class Batcher {
  readonly #options: BatcherOptions;
  readonly #with: BatcherDependencies;
  readonly #admission: Admission;
  readonly #lanes = new Map<string, TableLane>();
  #lastLane: TableLane | undefined;
  readonly #rates: RateLimiter;
  readonly #stall: StallWatch;
  readonly #settlement: Settlement;
  #isDraining = false;

  constructor(options: BatcherOptions, dependencies: BatcherDependencies) {
    this.#options = options;
    this.#with = dependencies;
    this.#admission = new Admission(options);
    this.#rates = new RateLimiter(dependencies.clock);
    this.#stall = new StallWatch(dependencies, () => ({ entries: this.#admission.entries, tables: this.#lanes.size }));
    this.#settlement = new Settlement(this.#admission, dependencies.metrics, () => {
      this.#afterOneFinished();
    });
  }

  /**
   * Waits for admission, if it must, and hands the entry over: undefined where there was nothing to wait for. So a
   * message admits its records in order, a bounded number at a time. The signal ends either wait; an entry that is on
   * the wire by then may still land, which is what at-least-once means.
   *
   * @param onOutcome called exactly once, whatever happens. It must not throw. Not a promise: the framework's
   * request domain turns on tracking of every promise to its collection, which a profile of full messages showed first.
   */
  submit(table: TableName, entry: RowEntry, signal: AbortSignal, onOutcome: OnOutcome): Promise<void> | undefined {
    const checking = this.#with.tables?.check(table);
    return checking
      ? this.#submitChecked(checking, table, entry, signal, onOutcome)
      : this.#admit(table, entry, signal, onOutcome);
  }

  /** Nothing is sent to a table whose types may not fit what is declared. */
  async #submitChecked(
    checking: Promise<void>,
    table: TableName,
    entry: RowEntry,
    signal: AbortSignal,
    onOutcome: OnOutcome,
  ): Promise<void> {
    const unchecked = await this.#unchecked(checking, table, signal);
    if (unchecked) onOutcome(unchecked);
    else await this.#admit(table, entry, signal, onOutcome);
  }

  #admit(table: TableName, entry: RowEntry, signal: AbortSignal, onOutcome: OnOutcome): Promise<void> | undefined {
    const bytes = this.#with.mutateRows.sizeOf(entry);
    if (!signal.aborted && this.#admission.tryAdmit(bytes)) {
      this.#take(table, entry, bytes, signal, onOutcome);
      return undefined;
    }
    return this.#admission.admit(bytes, signal).then(
      () => {
        this.#take(table, entry, bytes, signal, onOutcome);
      },
      (error: unknown) => {
        onOutcome(deadlineOutcome(toError(error), undefined));
      },
    );
  }

  #take(table: TableName, entry: RowEntry, bytes: number, signal: AbortSignal, onOutcome: OnOutcome): void {
    this.#stall.watch();
    this.#with.metrics.count('numRecordsSend');
    this.#with.metrics.count('numBytesSend', bytes);
    const lane = this.#laneOf(table);
    lane.queue.add(this.#settlement.expect(entry, bytes, signal, onOutcome));
    this.#pumpSoon(lane);
  }

  /** Why an entry may not be sent to the table; before anything else is done with it. */
  async #unchecked(checking: Promise<void>, table: TableName, signal: AbortSignal): Promise<Outcome | undefined> {
    try {
      await abortable(checking, signal);
      return undefined;
    } catch (error) {
      return signal.aborted ? deadlineOutcome(abortReason(signal), undefined) : uncheckedOutcome(toError(error), table);
    }
  }

  /** From now on nothing lingers: what is held goes out as fast as it can. */
  drain(): void {
    this.#isDraining = true;
    for (const lane of this.#lanes.values()) this.#pump(lane);
  }

  #laneOf(table: TableName): TableLane {
    // A fixed destination is one object: its name is not written again for every record.
    const last = this.#lastLane;
    if (last?.table === table && this.#lanes.get(last.key) === last) return last;
    const key = formatTableName(table);
    let lane = this.#lanes.get(key);
    if (!lane) this.#lanes.set(key, (lane = new TableLane(key, table)));
    this.#lastLane = lane;
    return lane;
  }

  #pumpSoon(lane: TableLane): void {
    if (lane.isPumpDue) return;
    lane.isPumpDue = true;
    this.#with.clock.soon(() => {
      lane.isPumpDue = false;
      this.#pump(lane);
    });
  }

  /** Sends whatever may leave now; arms the lane's one timer for what may leave later. */
  #pump(lane: TableLane): void {
    lane.cancelWake();
    const { clock, metrics } = this.#with;
    while (lane.resuming.length > 0 && lane.requests < this.#options.maxConcurrentBatches) {
      lane.requests += 1;
      lane.resuming.shift()?.();
    }
    while (lane.queue.readyWrites > 0 && lane.requests < this.#options.maxConcurrentBatches) {
      const lingerMillis = this.#lingerMillis(lane);
      const throttleMillis = lingerMillis > 0 ? 0 : this.#rates.waitMillis(lane.table);
      if (throttleMillis > 0) lane.throttledSince ??= clock.now();
      const waitMillis = Math.max(lingerMillis, throttleMillis);
      if (waitMillis > 0) {
        lane.wake = clock.after(waitMillis, () => {
          lane.wake = undefined;
          this.#pump(lane);
        });
        return;
      }
      if (lane.throttledSince !== undefined) {
        metrics.count('throttledTime', clock.now() - lane.throttledSince);
        lane.throttledSince = undefined;
      }
      const batch = lane.queue.take({
        maxEntries: this.#options.batchElementCountThreshold,
        maxBytes: this.#options.batchRequestByteThreshold,
      });
      lane.gatheringSince = lane.queue.readyWrites > 0 ? clock.now() : undefined;
      if (batch.length > 0) this.#start(lane, batch);
    }
    const isDone = lane.queue.isEmpty && lane.requests === 0;
    if (isDone && this.#lanes.get(lane.key) === lane) this.#lanes.delete(lane.key);
  }

  #lingerMillis(lane: TableLane): number {
    const { lingerMillis, batchElementCountThreshold, batchRequestByteThreshold } = this.#options;
    const isSealed =
      this.#isDraining ||
      // Entries count as in flight while they gather, so at a full cap waiting would only keep others out.
      this.#admission.isFull ||
      lane.queue.readyWrites >= batchElementCountThreshold ||
      lane.queue.readyBytes >= batchRequestByteThreshold;
    if (lingerMillis === 0 || isSealed) return 0;
    lane.gatheringSince ??= this.#with.clock.now();
    return Math.max(0, lane.gatheringSince + lingerMillis - this.#with.clock.now());
  }

  /** Runs one batch to its end. The promise is not awaited by anyone, so nothing may reject: every path settles. */
  #start(lane: TableLane, batch: readonly RowWrite<WaitingEntry>[]): void {
    lane.requests += 1;
    for (const { parts } of batch) for (const part of parts) part.isHeld = true;
    deliverBatch(batch, this.#actions(lane))
      .catch((error: unknown) => {
        this.#giveBack(lane, batch, toError(error));
      })
      .finally(() => {
        lane.requests -= 1;
        this.#pump(lane);
      })
      .catch((error: unknown) => {
        this.#with.logger.log('ERROR', 'the batcher failed', { error: describeError(error) });
      });
  }

  #actions(lane: TableLane): BatchActions<WaitingEntry> {
    return {
      send: (groups, purpose) => this.#send(lane.table, groups, purpose),
      settle: (entry, verdict) => {
        this.#settlement.settle(entry, verdict, lane.table);
      },
      retry: (again) => {
        this.#retry(lane, again);
      },
      discard: (entry) => {
        this.#settlement.unhold(entry);
      },
      release: (write) => {
        lane.queue.release(write);
        this.#pumpSoon(lane);
      },
      ...(this.#with.tables && { repair: this.#repair(lane, this.#with.tables) }),
    };
  }

  #repair(lane: TableLane, tables: TableKeeper): Repair<WaitingEntry> {
    return {
      maxAttempts: tables.maxAttempts,
      known: () => tables.known(lane.table),
      ensure: (before) => tables.ensure(lane.table, before),
      retryAt: (attempt) => tables.retryAt(attempt),
      sleepUntil: (millis) => tables.sleepUntil(millis),
      park: (entries, trouble, wait) => this.#park(lane, entries, trouble, wait),
      counted: (entries) => {
        this.#with.metrics.count('errorClass.errors', entries.length, 'NOT_FOUND');
      },
    };
  }

  /** The rows stay held; the slot and the abandoned are free at once, and a slot is taken again before it goes on. */
  async #park<Result>(
    lane: TableLane,
    entries: readonly WaitingEntry[],
    trouble: Trouble,
    wait: () => Promise<Result>,
  ): Promise<Result> {
    this.#settlement.park(entries, trouble);
    lane.requests -= 1;
    this.#pumpSoon(lane);
    try {
      return await wait();
    } finally {
      await new Promise<void>((resolve) => {
        lane.resuming.push(resolve);
        this.#pumpSoon(lane);
      });
      this.#settlement.unpark(entries);
      for (const entry of entries) entry.isHeld = true;
    }
  }

  async #send(
    table: TableName,
    groups: readonly (readonly WaitingEntry[])[],
    purpose: 'write' | 'isolate',
  ): Promise<readonly EntryAnswer[]> {
    const { clock, metrics, mutateRows } = this.#with;
    const entries = groups.map((parts) => {
      const [only] = parts;
      if (only && parts.length === 1) return only;
      const entry = mergeEntries(parts);
      return { entry, bytes: mutateRows.sizeOf(entry) };
    });
    metrics.count('requestsSent');
    if (purpose === 'isolate') metrics.count('requestsForIsolation');
    metrics.record('batchEntries', entries.length);
    this.#rates.sent(table, entries.length);
    const startedAt = clock.now();
    const reply = await mutateRows.send({ table, entries, timeoutMillis: this.#options.requestTimeoutMillis });
    metrics.record('requestLatency', clock.now() - startedAt);
    this.#learn(table, reply);
    return reply.answers;
  }

  #learn(table: TableName, reply: MutateRowsReply): void {
    if (reply.isHeard) this.#stall.heard();
    const isExhausted = reply.answers.some(
      (answer) => answer.kind !== 'applied' && answer.status?.code === 'RESOURCE_EXHAUSTED',
    );
    this.#rates.answered(table, reply.rateLimit, isExhausted);
  }

  #afterOneFinished(): void {
    if (this.#admission.entries === 0) this.#stall.rest();
    if (this.#options.lingerMillis > 0 && this.#admission.isFull) {
      for (const lane of this.#lanes.values()) this.#pumpSoon(lane);
    }
  }

  /**
   * One timer for all that one answer left undecided, so that it goes again in as few requests as it went before: in an
   * outage, a timer for each entry would turn every batch into as many requests as it has entries.
   */
  #retry(lane: TableLane, again: readonly Retry<WaitingEntry>[]): void {
    const { clock, random } = this.#with;
    for (const { write, undecided, status } of again) {
      write.attempts += 1;
      this.#settlement.park(undecided, transientTrouble(status));
    }
    const schedule = {
      initialMillis: this.#options.retryInitialBackoffMillis,
      maxMillis: this.#options.retryMaxBackoffMillis,
      jitter: RETRY_JITTER,
    };
    for (const [attempts, together] of Map.groupBy(again, ({ write }) => write.attempts)) {
      clock.after(backoffDelay(schedule, attempts, random), () => {
        // Each goes to the head of the queue, so the last goes first.
        for (const one of together.toReversed()) this.#sendAgain(lane, one);
        this.#pump(lane);
      });
    }
  }

  #sendAgain(lane: TableLane, { write, undecided }: Retry<WaitingEntry>): void {
    this.#settlement.unpark(undecided);
    const wanted = undecided.filter(({ isAbandoned }) => !isAbandoned);
    if (wanted.length === 0) {
      lane.queue.release(write);
    } else {
      this.#with.metrics.count('entriesRetried', wanted.length);
      lane.queue.retry(write, wanted);
    }
  }

  /** No request could be made, or the code is wrong: everything undecided goes back to Pub/Sub, and the rows are free. */
  #giveBack(lane: TableLane, batch: readonly RowWrite<WaitingEntry>[], error: Error): void {
    this.#with.logger.log('ERROR', 'a batch could not be sent', { table: lane.key, error: describeError(error) });
    for (const write of batch) {
      const undecided = write.parts.filter(({ isHeld, isSettled }) => isHeld && !isSettled);
      for (const entry of undecided) {
        this.#settlement.finish(entry, {
          kind: 'redeliver',
          reason: 'client',
          message: `MutateRows on ${lane.key} could not be sent: ${error.message}`,
        });
      }
      if (undecided.length > 0) lane.queue.release(write);
    }
  }
}

/** Concurrent instances must not retry in step; a quarter either way keeps the mean. */
const RETRY_JITTER = 0.25;
