import type { Status } from '../../../../../shared/model/status.ts';
import type { Nanos } from './span.ts';

/**
 * Why a stream is not read, or not read on. The statuses of a start or a token whose retention is over, and of a start in the
 * future, are published nowhere: this is the one place that chooses them.
 */

const invalid = (message: string): Status => ({ code: 'INVALID_ARGUMENT', message });

export const WRONG_PARTITION = invalid(
  'partition must be set in the form [start_key_closed, end_key_open); an unbounded end is an empty key',
);

export const foreignToken = (index: number): Status =>
  invalid(`Continuation token ${index} is not one that this stream issued for its partition`);

export const NO_TILES = invalid(
  'The partitions of the continuation tokens do not cover the requested partition exactly',
);

export const WRONG_TOKEN = invalid('The partition of the continuation token is not the requested partition');

export const NO_TOKENS = invalid('continuation_tokens must hold at least one token');

export const WRONG_HEARTBEAT = invalid('heartbeat_duration must be positive');

export const inTheFuture = (start: Nanos, now: Nanos): Status =>
  invalid(`start_time ${start} ns is later than the current time, ${now} ns`);

export const expired = (what: 'start_time' | 'continuation token'): Status => ({
  code: 'OUT_OF_RANGE',
  message: `The ${what} is older than the change stream's retention period`,
});

export const STREAM_DISABLED: Status = {
  code: 'FAILED_PRECONDITION',
  message: 'The change stream is not enabled on this table: set change_stream_config.retention_period',
};

export const MULTI_CLUSTER: Status = {
  code: 'FAILED_PRECONDITION',
  message: 'Change streams are read through an app profile with single-cluster routing only',
};
