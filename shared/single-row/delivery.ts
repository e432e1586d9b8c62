import type { Clock } from '../base/clock.ts';
import type { RedeliverError } from '../base/errors.ts';
import type { Metrics } from '../base/metrics.ts';
import type { FailurePolicy } from '../failure/policy.ts';
import type { RowRequestDocument } from '../model/row-request.ts';
import type { Reading } from '../records/prepare.ts';
import type { RequestGroup, RowExecutor, WrittenForms } from './ports.ts';
import type { ResultPublisher } from './results.ts';
import type { RowTurns } from './row-turns.ts';

/** Everything a message needs; made once per instance by the wiring. */
export interface RequestSink extends Reading<RowRequestDocument> {
  /** Its name, which is part of what a marker identifies. */
  readonly pipeline: string;
  readonly executor: RowExecutor;
  readonly policy: FailurePolicy;
  readonly emptyBranchPolicy: 'ignore' | 'fail';
  /** Every request carries a marker in this family. Absent: a replay is a second request. */
  readonly markerFamily?: string;
  /** Absent: nobody asked for results. */
  readonly results?: ResultPublisher;
  readonly forms: () => Promise<WrittenForms>;
  readonly perDestinationMetrics: boolean;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** What the records of one delivery share. */
export interface Delivery {
  readonly sink: RequestSink;
  readonly signal: AbortSignal;
  readonly turns: RowTurns;
  readonly again: Redelivery;
}

/** Whether and why the message must come again: the first reason in time. */
export class Redelivery implements RequestGroup {
  isOver = false;
  error: RedeliverError | undefined;

  add(error: RedeliverError): void {
    this.isOver = true;
    this.error ??= error;
  }
}
