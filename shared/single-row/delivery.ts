import type { Clock } from '../base/clock.ts';
import type { RedeliverError } from '../base/errors.ts';
import type { Metrics } from '../base/metrics.ts';
import type { FailurePolicy } from '../letters/policy.ts';
import type { RowRequestDocument } from '../model/row-request.ts';
import type { TableName } from '../model/table-name.ts';
import type { IdentityRules } from '../records/identity.ts';
import type { Reading } from '../records/prepare.ts';
import type { RequestGroup, RowExecutor, WrittenForms } from './ports.ts';
import type { ResultPublisher } from './results.ts';
import type { RowTurns } from './row-turns.ts';

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
  readonly clock: Clock;
  readonly metrics: Metrics;
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
