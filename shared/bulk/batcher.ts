import { abortable } from '../base/abort.ts';
import { abortReason } from '../base/clock.ts';
import { toError } from '../base/errors.ts';
import type { Runtime } from '../base/runtime.ts';
import type { ResolvedWriterOptions } from '../config/resolved.ts';
import type { RowEntry } from '../model/mutation.ts';
import { formatTableName, type TableName } from '../model/table-name.ts';
import { type Delivery, startBatch } from './deliver.ts';
import { deadlineOutcome, type Outcome, uncheckedOutcome } from './outcome.ts';
import type { MutateRows } from './ports.ts';
import type { FamilyTypes } from './repair/family-types.ts';
import type { TableKeeper } from './repair/table-keeper.ts';
import type { BatchSurroundings } from './sending/batch.ts';
import { RateLimiter } from './sending/rate-limiter.ts';
import { Requests } from './sending/requests.ts';
import { type LaneOptions, type LaneSurroundings, TableLane } from './sending/table-lane.ts';
import { Admission, type AdmissionLimits } from './waiting/admission.ts';
import { Settlement } from './waiting/settlement.ts';
import { StallWatch } from './waiting/stall-watch.ts';

/** What the batcher is told: the pipeline's `writerOptions`, where they are declared with defaults and bounds. */
export type BatcherOptions = AdmissionLimits &
  LaneOptions &
  BatchSurroundings['options'] &
  Pick<ResolvedWriterOptions, 'requestTimeoutMillis'>;

export interface BatcherDependencies {
  readonly mutateRows: MutateRows;
  readonly runtime: Runtime;
  /** Creates what is missing; absent under create-never. */
  readonly tables?: TableKeeper;
  /** Looks at the types of families before the first write; absent where nothing declares any. */
  readonly types?: Pick<FamilyTypes, 'check'>;
}

/** Takes what became of an entry. */
export type OnOutcome = (outcome: Outcome) => void;

/**
 * Group commit for one instance: the entries of all concurrent invocations, per table, in as few requests as their
 * arrival allows. A lone record is written immediately and a busy instance fills its batches, without a timer between
 * the two (`sending/table-lane.ts`).
 *
 * What must stay true: every admitted entry is settled exactly once and releases its admission exactly once; nothing
 * is thrown from a timer; a row is held by at most one request.
 */
export class Batcher {
  readonly #mutateRows: MutateRows;
  readonly #runtime: Runtime;
  readonly #types: BatcherDependencies['types'];
  readonly #lingers: boolean;
  readonly #admission: Admission;
  readonly #settlement: Settlement;
  readonly #stall: StallWatch;
  readonly #lanes = new Map<string, TableLane>();
  readonly #laneSurroundings: LaneSurroundings;
  #lastLane: TableLane | undefined;
  #isDraining = false;

  constructor(options: BatcherOptions, { mutateRows, runtime, tables, types }: BatcherDependencies) {
    this.#mutateRows = mutateRows;
    this.#runtime = runtime;
    this.#types = types;
    this.#lingers = options.lingerMillis > 0;
    this.#admission = new Admission(options);
    this.#stall = new StallWatch(runtime, () => ({ entries: this.#admission.entries, tables: this.#lanes.size }));
    this.#settlement = new Settlement(this.#admission, runtime, () => {
      this.#afterOneFinished();
    });
    const rates = new RateLimiter(runtime.clock);
    const { requestTimeoutMillis } = options;
    const requests = new Requests({ mutateRows, runtime, rates, stall: this.#stall, requestTimeoutMillis });
    const delivery: Delivery = {
      options,
      runtime,
      requests,
      settlement: this.#settlement,
      ...(tables && { tables }),
    };
    this.#laneSurroundings = {
      options,
      runtime,
      rates,
      // Entries count as in flight while they gather, so at a full cap waiting would only keep others out.
      isPressed: () => this.#isDraining || this.#admission.isFull,
      start: (writes, lane) => {
        startBatch(writes, lane, delivery);
      },
      onEmpty: (lane) => {
        if (this.#lanes.get(lane.key) === lane) this.#lanes.delete(lane.key);
      },
    };
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
    const checking = this.#types?.check(table);
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
    try {
      await abortable(checking, signal);
    } catch (error) {
      const isLate = signal.aborted;
      onOutcome(isLate ? deadlineOutcome(abortReason(signal), undefined) : uncheckedOutcome(toError(error), table));
      return;
    }
    await this.#admit(table, entry, signal, onOutcome);
  }

  #admit(table: TableName, entry: RowEntry, signal: AbortSignal, onOutcome: OnOutcome): Promise<void> | undefined {
    const bytes = this.#mutateRows.sizeOf(entry);
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
    const { metrics } = this.#runtime;
    metrics.count('numRecordsSend');
    metrics.count('numBytesSend', bytes);
    const lane = this.#laneOf(table);
    lane.add(this.#settlement.expect(entry, bytes, signal, onOutcome));
  }

  #laneOf(table: TableName): TableLane {
    // A fixed destination is one object: its name is not written again for every record.
    const last = this.#lastLane;
    if (last?.table === table && this.#lanes.get(last.key) === last) return last;
    const key = formatTableName(table);
    let lane = this.#lanes.get(key);
    if (!lane) this.#lanes.set(key, (lane = new TableLane(key, table, this.#laneSurroundings)));
    this.#lastLane = lane;
    return lane;
  }

  #afterOneFinished(): void {
    if (this.#admission.entries === 0) this.#stall.rest();
    if (this.#lingers && this.#admission.isFull) for (const lane of this.#lanes.values()) lane.pumpSoon();
  }

  /** From now on nothing lingers: what is held goes out as fast as it can. */
  drain(): void {
    this.#isDraining = true;
    for (const lane of this.#lanes.values()) lane.pump();
  }
}
