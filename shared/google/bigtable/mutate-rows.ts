import { Metadata } from '@grpc/grpc-js';
import type { EntryAnswer, RateLimit } from '../../bulk/answer.ts';
import { completeAnswers } from '../../bulk/answer.ts';
import type { MutateRows, MutateRowsCall, MutateRowsReply } from '../../bulk/ports.ts';
import { statusName } from '../../model/status.ts';
import { tablePath } from '../../model/table-name.ts';
import { MutateRowsResponse } from '../../proto/google/bigtable/v2/bigtable.ts';
import { FeatureFlags } from '../../proto/google/bigtable/v2/feature_flags.ts';
import { BufferPool } from './buffers.ts';
import type { ClientPool } from './clients.ts';
import { encodeMutateRows, entrySize, requestSize } from './encode.ts';

const METHOD = '/google.bigtable.v2.Bigtable/MutateRows';

/** Who calls, in the form that Google's services count clients by. */
export const API_CLIENT = `gl-node/${process.versions.node} grpc/1 gccl/0.1.0`;

/** Tells the service that we obey its `RateLimitInfo`; it sends none otherwise. */
const FLOW_CONTROL_FEATURES = Buffer.from(
  FeatureFlags.encode({
    ...FeatureFlags.decode(Buffer.alloc(0)),
    mutateRowsRateLimit: true,
    mutateRowsRateLimit2: true,
  }).finish(),
).toString('base64url');

export interface MutateRowsOptions {
  /** The instance's default profile when empty. */
  readonly appProfileId: string;
  /** Announce and obey the service's batch-write flow control. */
  readonly flowControl: boolean;
}

/** `MutateRows` over a raw gRPC channel: one request, one answer per entry by index, nothing retried and nothing guessed. */
export function createMutateRows(pool: ClientPool, options: MutateRowsOptions): MutateRows {
  const buffers = new BufferPool();
  return {
    sizeOf: entrySize,
    async send(call: MutateRowsCall): Promise<MutateRowsReply> {
      const deadline = AbortSignal.timeout(call.timeoutMillis);
      const deadlineAt = Date.now() + call.timeoutMillis;
      return pool.use(call.table, deadline, async (channels) => {
        const path = tablePath(call.table);
        const size = requestSize(path, options.appProfileId, call.entries);
        const buffer = buffers.take(size);
        const reply = new Reply(call.entries.length);
        const request = encodeMutateRows(buffer, size, path, options.appProfileId, call.entries);
        const ending = await channels.call(METHOD, request, metadataFor(path, options), deadlineAt, (message) => {
          reply.read(message);
        });
        buffers.give(buffer);
        const { code, details } = ending.status;
        return reply.complete({ code: statusName(code), message: details }, ending.isHeard);
      });
    },
  };
}

function metadataFor(path: string, { appProfileId, flowControl }: MutateRowsOptions): Metadata {
  const metadata = new Metadata();
  metadata.set('x-goog-api-client', API_CLIENT);
  metadata.set(
    'x-goog-request-params',
    `table_name=${encodeURIComponent(path)}&app_profile_id=${encodeURIComponent(appProfileId)}`,
  );
  if (flowControl) metadata.set('bigtable-features', FLOW_CONTROL_FEATURES);
  return metadata;
}

/** What has been told so far. An entry without a status, an unknown index and a second answer change nothing. */
class Reply {
  readonly #told: (EntryAnswer | undefined)[];
  #rateLimit: RateLimit | undefined;

  constructor(entries: number) {
    this.#told = new Array<EntryAnswer | undefined>(entries).fill(undefined);
  }

  read(message: Buffer): void {
    const { entries, rateLimitInfo } = MutateRowsResponse.decode(message);
    for (const { index, status } of entries) {
      const at = Number(index);
      if (status === undefined || at < 0 || at >= this.#told.length || this.#told[at] !== undefined) continue;
      this.#told[at] =
        status.code === 0
          ? APPLIED
          : { kind: 'refused', status: { code: statusName(status.code), message: status.message } };
    }
    if (rateLimitInfo?.period) {
      const { seconds, nanos } = rateLimitInfo.period;
      this.#rateLimit = { factor: rateLimitInfo.factor, periodMillis: Number(seconds) * 1000 + nanos / 1e6 };
    }
  }

  complete(ending: Parameters<typeof completeAnswers>[1], isHeard: boolean): MutateRowsReply {
    return {
      answers: completeAnswers(this.#told, ending),
      isHeard,
      ...(this.#rateLimit && { rateLimit: this.#rateLimit }),
    };
  }
}

const APPLIED: EntryAnswer = { kind: 'applied' };
