import { backoffDelay, type BackoffSchedule } from '../../base/backoff.ts';
import { abortReason, sleep } from '../../base/clock.ts';
import { toError } from '../../base/errors.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { Status } from '../../model/status.ts';
import { type TableName, tablePath } from '../../model/table-name.ts';
import { SampleRowKeysRequest, SampleRowKeysResponse } from '../../proto/google/bigtable/v2/bigtable.ts';
import { ReadFailedError, type RowKeySample, type SampleRowKeys } from '../../scan/ports.ts';
import { CallError } from '../grpc/message-stream.ts';
import { dataMethod, TableMetadata } from './call.ts';
import type { ClientPool } from './clients.ts';

const METHOD = dataMethod('SampleRowKeys');

const TOTAL_MILLIS = 600_000;
const ATTEMPT_MILLIS = 300_000;
const BACKOFF: BackoffSchedule = { initialMillis: 100, maxMillis: 60_000, jitter: 0.5 };

/** `SampleRowKeys` over a raw gRPC channel: repeated while the service cannot be reached, for ten minutes in all. */
export function createSampleRowKeys(
  pool: ClientPool,
  { clock, random }: Pick<Runtime, 'clock' | 'random'>,
): SampleRowKeys {
  const metadata = new TableMetadata();

  const sampleOnce = async (table: TableName, appProfileId: string, signal: AbortSignal): Promise<RowKeySample[]> => {
    const request = SampleRowKeysRequest.encode({
      ...SampleRowKeysRequest.decode(Buffer.alloc(0)),
      tableName: tablePath(table),
      appProfileId,
    }).finish();
    const call = {
      method: METHOD,
      request: Buffer.from(request),
      metadata: metadata.of(table, appProfileId),
      deadline: Date.now() + ATTEMPT_MILLIS,
    };
    return pool.use(table, signal, async (channels) => {
      const samples: RowKeySample[] = [];
      for await (const message of channels.stream(call, [signal])) {
        const { rowKey, offsetBytes } = SampleRowKeysResponse.decode(message);
        samples.push({ key: rowKey, offsetBytes });
      }
      return samples;
    });
  };

  return async (table, appProfileId, signal) => {
    const endAt = clock.now() + TOTAL_MILLIS;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await sampleOnce(table, appProfileId, signal);
      } catch (error) {
        if (signal.aborted) throw abortReason(signal);
        const status = statusOf(error);
        const delay = backoffDelay(BACKOFF, attempt, random);
        if (!mayPass(status) || clock.now() + delay >= endAt) {
          throw new ReadFailedError('SampleRowKeys', table, status, { cause: error });
        }
        await sleep(clock, delay, signal);
      }
    }
  };
}

const mayPass = ({ code }: Status): boolean =>
  code === 'UNAVAILABLE' || code === 'DEADLINE_EXCEEDED' || code === 'ABORTED';

/** What is no status of the service is about the way to it: no client was free, or no call could be made. */
const statusOf = (error: unknown): Status =>
  error instanceof CallError ? error.status : { code: 'UNAVAILABLE', message: toError(error).message };
