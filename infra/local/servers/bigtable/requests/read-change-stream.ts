import type { Clock } from '../../../../../shared/base/clock.ts';
import { abortable } from '../../../../../shared/base/abort.ts';
import type {
  GenerateInitialChangeStreamPartitionsRequest,
  GenerateInitialChangeStreamPartitionsResponse,
  ReadChangeStreamRequest,
  ReadChangeStreamResponse,
} from '../../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { StreamedCall } from '../../rpc/calls.ts';
import { refusal } from '../../rpc/grpc.ts';
import type { ChangeStream } from '../change-stream/change-stream.ts';
import { openRequestOf } from '../change-stream/open-request.ts';
import { MULTI_CLUSTER, STREAM_DISABLED } from '../change-stream/refusals.ts';
import { type Nanos, partitionOf } from '../change-stream/span.ts';
import { type Database, routingOf } from '../database.ts';
import { streamTime } from '../streams.ts';

/** GenerateInitialChangeStreamPartitions: the partitions of now, in order of their keys. */
export const initialPartitions = (
  database: Database,
  request: GenerateInitialChangeStreamPartitionsRequest,
): GenerateInitialChangeStreamPartitionsResponse[] =>
  streamOf(database, request)
    .partitions()
    .map((span) => ({ partition: partitionOf(span) }));

/**
 * ReadChangeStream: the responses of a read as they become due, as fast as the reader takes them. How a read goes and ends
 * is told at `StreamRead`.
 */
export async function readChangeStream(
  database: Database,
  request: ReadChangeStreamRequest,
  { send, signal }: StreamedCall<unknown, ReadChangeStreamResponse>,
): Promise<void> {
  const stream = streamOf(database, request);
  const asked = openRequestOf(request);
  if ('code' in asked) throw refusal(asked);
  const { clock } = database;
  const read = stream.open(asked, streamTime(clock));
  const waiting = new Waiting(clock);
  const forget = stream.onChange(waiting.wake);
  try {
    for (;;) {
      const step = read.next(streamTime(clock));
      if (step.kind === 'response') await send(step.response);
      else if (step.kind === 'nothing') await waiting.until(step.dueAt, signal);
      else if (step.status.code === 'OK') return;
      else throw refusal(step.status);
    }
  } finally {
    forget();
  }
}

/** The stream of the table in the cluster of the profile. Throws where either has none. */
function streamOf(
  database: Database,
  request: { readonly tableName: string; readonly appProfileId: string },
): ChangeStream {
  const { singleCluster, cluster } = routingOf(database, request);
  if (!singleCluster) throw refusal(MULTI_CLUSTER);
  const stream = database.streams.of(database.tables.require(request.tableName), cluster);
  if (!stream) throw refusal(STREAM_DISABLED);
  return stream;
}

/** One reader's pauses. What changes while nobody waits needs no waking: the reader looks before each pause. */
class Waiting {
  readonly #clock: Clock;
  #pause: PromiseWithResolvers<undefined> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly wake = (): void => {
    this.#pause?.resolve(undefined);
  };

  async until(dueAt: Nanos | undefined, signal: AbortSignal): Promise<void> {
    const pause = Promise.withResolvers<undefined>();
    this.#pause = pause;
    const delayMillis = dueAt === undefined ? undefined : Number(dueAt - streamTime(this.#clock)) / 1e6;
    const cancel =
      delayMillis === undefined ? undefined : this.#clock.after(Math.max(1, Math.ceil(delayMillis)), this.wake);
    try {
      await abortable(pause.promise, signal);
    } finally {
      cancel?.();
      this.#pause = undefined;
    }
  }
}
