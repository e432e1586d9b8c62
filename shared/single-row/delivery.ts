import type { RedeliverError } from '../base/errors.ts';
import type { Runtime } from '../base/runtime.ts';
import type { FailurePolicy } from '../letters/policy.ts';
import type { RowRequest, RowRequestDocument } from '../model/row-request.ts';
import { formatTableName, type TableName } from '../model/table-name.ts';
import type { IdentityRules } from '../records/identity.ts';
import type { Reading } from '../records/prepare.ts';
import type { RequestGroup, RowExecutor, WrittenForms } from './ports.ts';
import type { ResultPublisher } from './results.ts';

/** Everything a message needs; made once per instance by the wiring. */
export interface RequestSink extends Reading<RowRequestDocument> {
  /** By what its records, and so their markers, are told apart. */
  readonly identities: IdentityRules;
  readonly executor: RowExecutor;
  readonly policy: FailurePolicy;
  readonly emptyBranchPolicy: 'ignore' | 'fail';
  /** Absent: a replay is a second request. */
  readonly protection?: ReplayProtection;
  /** Absent: nobody asked for results. */
  readonly results?: ResultPublisher;
  readonly forms: () => Promise<WrittenForms>;
  readonly perDestinationMetrics: boolean;
  readonly runtime: Runtime;
}

/** Every request carries a marker. */
export interface ReplayProtection {
  readonly markerFamily: string;
  /**
   * Why a table cannot hold markers, or not these families beside them; undefined when it can. Asked before every
   * request, and answered from memory once it was found sound.
   */
  readonly check: (
    table: TableName,
    families: readonly string[],
    signal: AbortSignal,
  ) => Promise<RedeliverError | undefined>;
}

/** What the records of one delivery share. */
export interface Delivery {
  readonly sink: RequestSink;
  readonly signal: AbortSignal;
  readonly turns: RowTurns;
  readonly again: Redelivery;
}

/** Whether and why the message must be redelivered: the first reason in time. */
export class Redelivery implements RequestGroup {
  isOver = false;
  error: RedeliverError | undefined;

  add(error: RedeliverError): void {
    this.isOver = true;
    this.error ??= error;
  }
}

/** Requests of one message for the same row, one after the other in the order of their records; other rows go at once. */
export class RowTurns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `work` when the row's work before it has settled, however that ended. */
  take<Result>(table: TableName, { request }: RowRequest, work: () => Promise<Result>): Promise<Result> {
    const row = `${formatTableName(table)}/${request.rowKey.toString('latin1')}`;
    const before = this.#last.get(row);
    const turn = before ? before.then(work, work) : work();
    this.#last.set(row, turn);
    const forget = (): void => {
      if (this.#last.get(row) === turn) this.#last.delete(row);
    };
    // A turn keeps its answer, so it is held no longer than another one may follow it.
    turn.then(forget, forget);
    return turn;
  }
}
