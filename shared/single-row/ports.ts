import type { RowRequest, RowRequestDocument } from '../model/row-request.ts';
import type { RowResult } from '../model/row-result.ts';
import type { TableName } from '../model/table-name.ts';
import type { Marker } from '../markers/guarded-request.ts';
import type { Outcome } from './outcome.ts';

export type { SendRowCall } from '../model/row-call.ts';

/** Makes the one attempt of a request. Shared by all invocations of an instance. */
export interface RowExecutor {
  /** Waits for room (`maxInFlightRequests`) unless `wait` is false, then makes the one attempt. Always resolves. */
  execute(table: TableName, request: RowRequest, options: ExecuteOptions): Promise<Outcome>;
}

export interface ExecuteOptions {
  /** Ends the wait for room; cancels the RPC once it is out, whose effect is then unknown. */
  readonly signal: AbortSignal;
  /** False: full is answered as `busy` at once. */
  readonly wait: boolean;
  /** The requests that are redelivered together with this one. */
  readonly group?: RequestGroup;
  /** Guards the request against its own replays. Absent: a replay is a second request. */
  readonly marker?: Marker;
}

/**
 * Requests that are redelivered together. Once one of them has failed so that all must be, what has not been sent is not sent,
 * and not counted: it would be applied twice.
 */
export interface RequestGroup {
  isOver: boolean;
}

/** The written forms of requests and results. Loaded at first need: most instances write or read none of them. */
export interface WrittenForms {
  /** Reads a request from the data of a dead letter. Throws a `RecordError`. */
  readonly readRequest: (data: Buffer) => RowRequestDocument;
  readonly writeRequest: (document: RowRequestDocument) => Buffer;
  readonly writeResult: (result: RowResult) => Buffer;
}
