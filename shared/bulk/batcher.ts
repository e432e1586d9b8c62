import { backoffDelay } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { toError } from '../base/errors.ts';
import type { Random } from '../base/ids.ts';
import type { Logger } from '../base/logging.ts';
import { describeError } from '../base/logging.ts';
import type { Metrics } from '../base/metrics.ts';
import type { RowEntry } from '../model/mutation.ts';
import { formatTableName, type TableName } from '../model/table-name.ts';
import { Admission } from './admission.ts';
import type { EntryAnswer } from './answer.ts';
import { type BatchActions, deliverBatch, type FinalVerdict, type Retry } from './deliver.ts';
import { mergeEntries, type RowWrite } from './lane.ts';
import type { BatcherOptions } from './options.ts';
import type { MutateRows, MutateRowsReply } from './ports.ts';
import { RateLimiter } from './rate-limiter.ts';
import { deadlineOutcome, outcomeOf, type WriteOutcome } from './outcome.ts';
import { StallWatch } from './stall-watch.ts';
import { TableLane, WaitingEntry } from './table-lane.ts';

/** Takes what became of an entry. */
export type OnOutcome = (outcome: WriteOutcome) => void;

export interface BatcherDependencies {
  readonly mutateRows: MutateRows;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  readonly logger: Logger;
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
  readonly #waiting = new WeakMap<AbortSignal, Set<WaitingEntry>>();
  readonly #rates: RateLimiter;
  readonly #stall: StallWatch;
  #parked = 0;
  #isDraining = false;

  constructor(options: BatcherOptions, dependencies: BatcherDependencies) {
    this.#options = options;
    this.#with = dependencies;
    this.#admission = new Admission(options);
    this.#rates = new RateLimiter(dependencies.clock);
    this.#stall = new StallWatch(dependencies, () => ({ entries: this.#admission.entries, tables: this.#lanes.size }));
    const { metrics } = dependencies;
    metrics.observe('inFlightEntries', () => this.#admission.entries);
    metrics.observe('inFlightBytes', () => this.#admission.bytes);
    metrics.observe('parkedEntries', () => this.#parked);
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
    lane.queue.add(new WaitingEntry(entry, bytes, this.#waitingFor(signal), onOutcome));
    this.#pumpSoon(lane);
  }

  /**
   * The unsettled entries of one invocation, all abandoned when its signal aborts. One listener for all of them: an
   * event target compares a new listener with every one it has, which would cost a message of n records n² steps.
   */
  #waitingFor(signal: AbortSignal): Set<WaitingEntry> {
    const known = this.#waiting.get(signal);
    if (known) return known;
    const waiting = new Set<WaitingEntry>();
    this.#waiting.set(signal, waiting);
    const onAbort = (): void => {
      for (const entry of waiting) this.#abandon(entry, toError(signal.reason));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    return waiting;
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
        this.#settle(lane, entry, verdict);
      },
      retry: (again) => {
        this.#retry(lane, again);
      },
      discard: (entry) => {
        this.#unhold(entry);
      },
      release: (write) => {
        lane.queue.release(write);
        this.#pumpSoon(lane);
      },
    };
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

  #settle(lane: TableLane, entry: WaitingEntry, verdict: FinalVerdict): void {
    const { metrics } = this.#with;
    if (verdict.kind === 'applied') metrics.count('recordsApplied');
    else metrics.count('errorClass.errors', 1, verdict.status.code);
    this.#finish(entry, outcomeOf(verdict, lane.table));
  }

  #finish(entry: WaitingEntry, outcome: WriteOutcome): void {
    if (entry.isSettled) return;
    entry.isSettled = true;
    this.#admission.release(entry.bytes);
    entry.resolve(outcome);
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
      this.#parked += undecided.length;
      for (const entry of undecided) {
        entry.lastStatus = status;
        this.#unhold(entry);
      }
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
    this.#parked -= undecided.length;
    const wanted = undecided.filter(({ isAbandoned }) => !isAbandoned);
    if (wanted.length === 0) {
      lane.queue.release(write);
    } else {
      this.#with.metrics.count('entriesRetried', wanted.length);
      lane.queue.retry(write, wanted);
    }
  }

  /** The invocation that waited has run out of time. On the wire, the entry keeps its admission until it is answered. */
  #abandon(entry: WaitingEntry, reason: Error): void {
    entry.isAbandoned = true;
    const outcome = deadlineOutcome(reason, entry.lastStatus);
    if (entry.lastStatus) this.#with.metrics.count('errorClass.errors', 1, entry.lastStatus.code);
    if (entry.isHeld) entry.resolve(outcome);
    else this.#finish(entry, outcome);
  }

  /** An entry that leaves the wire undecided: if its invocation is gone, it is done with. */
  #unhold(entry: WaitingEntry): void {
    entry.isHeld = false;
    if (entry.isAbandoned) this.#finish(entry, deadlineOutcome(new Error('abandoned'), entry.lastStatus));
  }

  /** No request could be made, or the code is wrong: everything undecided goes back to Pub/Sub, and the rows are free. */
  #giveBack(lane: TableLane, batch: readonly RowWrite<WaitingEntry>[], error: Error): void {
    this.#with.logger.log('ERROR', 'a batch could not be sent', { table: lane.key, error: describeError(error) });
    for (const write of batch) {
      const undecided = write.parts.filter(({ isHeld, isSettled }) => isHeld && !isSettled);
      for (const entry of undecided) {
        this.#finish(entry, {
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
