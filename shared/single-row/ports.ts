import type { RowRequest } from '../model/row-request.ts';
import type { TableName } from '../model/table-name.ts';
import type { Marker } from './marker.ts';
import type { RowOutcome } from './outcome.ts';

export type { SendRowCall } from '../model/row-call.ts';

/** Makes the one attempt of a request. Shared by all invocations of an instance. */
export interface RowExecutor {
  /** Waits for room (`maxInFlightRequests`) unless `wait` is false, then makes the one attempt. Always resolves. */
  execute(table: TableName, request: RowRequest, options: ExecuteOptions): Promise<RowOutcome>;
}

export interface ExecuteOptions {
  /** Ends the wait for room; cancels the RPC once it is out, whose effect is then unknown. */
  readonly signal: AbortSignal;
  /** False: full is answered as `busy` at once. */
  readonly wait: boolean;
  /** Guards the request against its own replays. Absent: a replay is a second request. */
  readonly marker?: Marker;
}
