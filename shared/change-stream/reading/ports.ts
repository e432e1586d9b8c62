import { ConnectorError } from '../../base/errors.ts';
import type { Change, Nanos } from '../../model/change.ts';
import { formatRange, type RowRange } from '../../model/row-range.ts';
import type { Status } from '../../model/status.ts';
import { formatTableName, type TableName } from '../../model/table-name.ts';
import type { Position, Token } from '../ledger/partition.ts';

/** One `ReadChangeStream` of one partition. It asks for a heartbeat every 5 seconds. */
export interface ReadChangeStreamCall {
  readonly table: TableName;
  /** Empty is the instance's default profile. It has to route to a single cluster. */
  readonly appProfileId: string;
  /** The partition. */
  readonly range: RowRange;
  /** All of its tokens are sent if it has any; otherwise its low watermark is where the stream starts. */
  readonly position: Position;
  /** The service ends the stream with OK when everything before it was told. Absent: it goes on. */
  readonly endTime?: Nanos;
  /** Each cancels the call, and the wait for a client. */
  readonly signals: readonly AbortSignal[];
}

/** The messages of one `ReadChangeStream`, sent once and never retried. */
export interface ChangeMessages {
  /**
   * The next message, or how the call ended. The service is asked for a message when this is called and not before.
   * Always resolves; an end stays the end. Not to be called again before it resolved.
   */
  next(): Promise<ChangeMessage>;
  /**
   * Cancels the call unless it has ended, and resolves when it has; a `next` that waits fails as CANCELLED.
   *
   * @param isSilent the service said nothing for too long: its connection may be dead, and takes no further call.
   */
  close(isSilent?: boolean): Promise<void>;
}

export type ChangeMessage =
  /** An encoded `google.bigtable.v2.ReadChangeStreamResponse`. */
  | { readonly kind: 'message'; readonly message: Buffer }
  /** The service said OK. That alone says nothing of the partition: only a close does. */
  | { readonly kind: 'finished' }
  | {
      readonly kind: 'failed';
      readonly status: Status;
      /** So long the service asks to be left alone, where it says so. */
      readonly retryAfterMillis?: number;
    };

/** Opens one `ReadChangeStream`. Implemented over a raw gRPC channel in `shared/google/bigtable`. */
export type ReadChangeStream = (call: ReadChangeStreamCall) => ChangeMessages;

/**
 * The partitions that the service has at the moment, by `GenerateInitialChangeStreamPartitions`, with its own retries
 * inside: an hour in all. Rejects with a {@link StreamFailedError} when they are used up or of no use, and with the
 * signal's reason when that aborts.
 */
export type ListPartitions = (
  table: TableName,
  appProfileId: string,
  signal: AbortSignal,
) => Promise<readonly RowRange[]>;

/** What a partition's stream tells, in its order. */
export type StreamEvent =
  | { readonly kind: 'change'; readonly change: Change }
  /** Nothing changed, or not lately: how far the stream is. */
  | { readonly kind: 'heartbeat'; readonly token: string; readonly lowWatermark: Nanos }
  /** The partition is read to its end; nothing follows. */
  | {
      readonly kind: 'close';
      /** The end time was reached: there are no successors. */
      readonly isEnd: boolean;
      /** OK at the end time; otherwise why the service closed the partition, which is no failure. */
      readonly status: Status;
      /** Which partitions go on, and at which tokens; empty where the service names none. */
      readonly successors: readonly StreamSuccessor[];
    };

export interface StreamSuccessor {
  /** The partition that goes on. */
  readonly target: RowRange;
  /** Where it goes on in the part of it that was read here: of a merge that part is less than the target. */
  readonly token: Token;
}

/** The stream of one partition with every retry inside. */
export interface PartitionStream {
  /**
   * The next event; undefined when it was stopped by its signal or by `close`, and behind the close of the partition.
   * The service is asked for more when this is called and not before. Not to be called again before it resolved.
   * Rejects with a {@link StreamFailedError}.
   */
  next(): Promise<StreamEvent | undefined>;
  /** Cancels what is open and resolves when it is down. Safe to call more than once, and while `next` waits. */
  close(): Promise<void>;
}

export interface PartitionStreamOptions {
  readonly table: TableName;
  /** Empty is the instance's default profile. */
  readonly appProfileId: string;
  /** Absent: the stream goes on. */
  readonly endTime?: Nanos;
  /** A change above so many bytes fails the partition by name before memory does. */
  readonly maxMutationBytes: number;
}

/** @param signal stops the stream; `next` then resolves with undefined. */
export type OpenPartition = (
  range: RowRange,
  position: Position,
  options: PartitionStreamOptions,
  signal: AbortSignal,
) => PartitionStream;

/** Whether a table has a change stream. `denied`: we may not ask. */
export type StreamReading =
  | { readonly kind: 'on'; readonly retentionMillis: number }
  | { readonly kind: 'off' | 'missing' }
  | { readonly kind: 'denied'; readonly problem: string };

/** Where an app profile sends its calls. `unknown`: in a way that is not known here, or an emulator has no profiles. */
export type RoutingReading =
  | { readonly kind: 'single-cluster'; readonly cluster: string }
  | { readonly kind: 'multi-cluster' | 'unknown' | 'missing' }
  | { readonly kind: 'denied'; readonly problem: string };

/** What a stream stands on. Each call is sent once, and rejects with a `TableAdminError` where it says nothing. */
export interface ChangeStreamAdmin {
  readStream(table: TableName, signal: AbortSignal): Promise<StreamReading>;
  /** @param appProfileId empty for the instance's default profile. */
  readRouting(table: TableName, appProfileId: string, signal: AbortSignal): Promise<RoutingReading>;
}

/** Why a stream cannot go on. */
export type StreamFailure =
  /** The service refused it, or could not be reached in any attempt. */
  | 'status'
  /** It was over without a close: nobody knows where it goes on. */
  | 'no-close'
  /** The service said what the protocol forbids. */
  | 'protocol'
  /** One change is larger than the option allows. */
  | 'too-large';

/**
 * A partition's stream failed, or the partitions were not told, and another attempt right away would end alike. Nothing
 * is lost by it: the partition is read again from its committed position.
 */
export class StreamFailedError extends ConnectorError {
  override readonly name = 'StreamFailedError';
  readonly failure: StreamFailure;
  readonly status: Status;

  constructor(
    failure: StreamFailure,
    { table, range }: { readonly table: TableName; readonly range?: RowRange },
    status: Status,
    options?: ErrorOptions,
  ) {
    const call = range ? `ReadChangeStream of ${formatRange(range)}` : 'GenerateInitialChangeStreamPartitions';
    const words = `${call} of ${formatTableName(table)} ended with ${status.code}: ${status.message}`;
    const advice = adviceOf(failure, status, table);
    super(advice ? `${words}; ${advice}` : words, options);
    this.failure = failure;
    this.status = status;
  }
}

/** What to do, where somebody has to do something. */
function adviceOf(failure: StreamFailure, { code }: Status, { instance, table }: TableName): string | undefined {
  if (failure === 'too-large') return 'raise maxMutationBytes, and the memory of the function with it';
  if (failure !== 'status') return undefined;
  switch (code) {
    case 'FAILED_PRECONDITION':
      return (
        'the table needs a change stream, and the app profile has to route to a single cluster: ' +
        `gcloud bigtable instances tables update ${table} --instance=${instance} --change-stream-retention-period=7d`
      );
    case 'INVALID_ARGUMENT':
    case 'OUT_OF_RANGE':
      return 'its position may be older than the retention of the stream';
    case 'PERMISSION_DENIED':
      return 'the service account of the function needs a role that lets it read the table and its app profile';
    case 'NOT_FOUND':
      return 'the table or the app profile is not there';
    default:
      return undefined;
  }
}
