import { backoffDelay, type BackoffSchedule } from '../../base/backoff.ts';
import { abortReason, sleep } from '../../base/clock.ts';
import { toError } from '../../base/errors.ts';
import type { Runtime } from '../../base/runtime.ts';
import { type ListPartitions, StreamFailedError } from '../../change-stream/reading/ports.ts';
import { partitionRange, StreamProtocolError } from '../../change-stream/reading/wire-rules.ts';
import type { RowRange } from '../../model/row-range.ts';
import { isConnectionLoss, type Status } from '../../model/status.ts';
import { type TableName, tablePath } from '../../model/table-name.ts';
import {
  GenerateInitialChangeStreamPartitionsRequest,
  GenerateInitialChangeStreamPartitionsResponse,
} from '../../proto/google/bigtable/v2/bigtable.ts';
import { CallError } from '../grpc/message-stream.ts';
import { dataMethod, TableMetadata } from './call.ts';
import type { ClientPool } from './clients.ts';

const METHOD = dataMethod('GenerateInitialChangeStreamPartitions');

/** As Google's clients have them: an attempt is given twice as long as the one before. */
const TOTAL_MILLIS = 3_600_000;
const FIRST_ATTEMPT_MILLIS = 60_000;
const LONGEST_ATTEMPT_MILLIS = 600_000;
const MAX_ATTEMPTS = 10;
const BACKOFF: BackoffSchedule = { initialMillis: 10, maxMillis: 60_000, jitter: 0.5 };

/** `GenerateInitialChangeStreamPartitions` over a raw gRPC channel: repeated while the service cannot be reached. */
export function createListPartitions(
  pool: ClientPool,
  { clock, random }: Pick<Runtime, 'clock' | 'random'>,
): ListPartitions {
  const metadata = new TableMetadata('asked-delays');

  const listOnce = (
    table: TableName,
    appProfileId: string,
    millis: number,
    signal: AbortSignal,
  ): Promise<RowRange[]> => {
    const request = GenerateInitialChangeStreamPartitionsRequest.encode({ tableName: tablePath(table), appProfileId });
    const call = {
      method: METHOD,
      request: Buffer.from(request.finish()),
      metadata: metadata.of(table, appProfileId),
      deadline: Date.now() + millis,
    };
    return pool.use(table, signal, async (channels) => {
      const partitions: RowRange[] = [];
      for await (const message of channels.stream(call, [signal])) {
        partitions.push(partitionRange(decode(message).partition));
      }
      return partitions;
    });
  };

  return async (table, appProfileId, signal) => {
    const endAt = clock.now() + TOTAL_MILLIS;
    for (let attempt = 1; ; attempt += 1) {
      const millis = Math.min(FIRST_ATTEMPT_MILLIS * 2 ** (attempt - 1), LONGEST_ATTEMPT_MILLIS, endAt - clock.now());
      try {
        return await listOnce(table, appProfileId, millis, signal);
      } catch (error) {
        if (signal.aborted) throw abortReason(signal);
        const delay = backoffDelay(BACKOFF, attempt, random);
        if (!mayPass(error) || attempt === MAX_ATTEMPTS || clock.now() + delay >= endAt) {
          throw failureOf(table, error);
        }
        await sleep(clock, delay, signal);
      }
    }
  };
}

function decode(message: Buffer): GenerateInitialChangeStreamPartitionsResponse {
  try {
    return GenerateInitialChangeStreamPartitionsResponse.decode(message);
  } catch (error) {
    throw new StreamProtocolError('a message cannot be decoded', { cause: error });
  }
}

function mayPass(error: unknown): boolean {
  // What is no status of the service is about the way to it, unless it came over that way.
  if (!(error instanceof CallError)) return !(error instanceof StreamProtocolError);
  const { status } = error;
  const { code } = status;
  return code === 'UNAVAILABLE' || code === 'DEADLINE_EXCEEDED' || code === 'ABORTED' || isConnectionLoss(status);
}

function failureOf(table: TableName, error: unknown): StreamFailedError {
  const { message } = toError(error);
  if (error instanceof StreamProtocolError) {
    return new StreamFailedError('protocol', { table }, { code: 'INTERNAL', message }, { cause: error });
  }
  const status: Status = error instanceof CallError ? error.status : { code: 'UNAVAILABLE', message };
  return new StreamFailedError('status', { table }, status, { cause: error });
}
