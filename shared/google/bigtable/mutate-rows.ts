import { toError } from '../../base/errors.ts';
import {
  completeAnswers,
  type EntryAnswer,
  type MutateRows,
  type MutateRowsCall,
  type MutateRowsReply,
  type RateLimit,
} from '../../bulk/ports.ts';
import { type Status, statusName } from '../../model/status.ts';
import { tablePath } from '../../model/table-name.ts';
import { MutateRowsResponse } from '../../proto/google/bigtable/v2/bigtable.ts';
import type { ChannelSet } from '../grpc/channel.ts';
import type { CallRequest } from '../grpc/connection.ts';
import { CallError } from '../grpc/message-stream.ts';
import { BufferPool } from '../grpc/buffers.ts';
import { dataMethod, TableMetadata } from './call.ts';
import type { ClientPool } from './clients.ts';
import { encodeMutateRows, entrySize, requestSize } from './encode.ts';

const METHOD = dataMethod('MutateRows');

export interface MutateRowsOptions {
  /** The instance's default profile when empty. */
  readonly appProfileId: string;
  /** Announce and obey the service's batch-write flow control. */
  readonly flowControl: boolean;
}

/** `MutateRows` over a raw gRPC channel: one request, one answer per entry by index, nothing retried and nothing guessed. */
export function createMutateRows(pool: ClientPool, { appProfileId, flowControl }: MutateRowsOptions): MutateRows {
  const buffers = new BufferPool();
  const metadata = new TableMetadata(flowControl ? 'flow-control' : undefined);
  return {
    sizeOf: entrySize,
    async send({ table, entries, timeoutMillis }: MutateRowsCall): Promise<MutateRowsReply> {
      const patience = AbortSignal.timeout(timeoutMillis);
      const deadline = Date.now() + timeoutMillis;
      return pool.use(table, patience, async (channels) => {
        const path = tablePath(table);
        const size = requestSize(path, appProfileId, entries);
        const buffer = buffers.take(size);
        const request = encodeMutateRows(buffer, size, path, appProfileId, entries);
        const call = { method: METHOD, request, metadata: metadata.of(table, appProfileId), deadline };
        const reply = await replyTo(channels, call, entries.length);
        buffers.give(buffer);
        return reply;
      });
    },
  };
}

/** The call has ended when this resolves. Rejects where none could be made. */
async function replyTo(channels: ChannelSet, call: CallRequest, entries: number): Promise<MutateRowsReply> {
  const reply = new Reply(entries);
  try {
    for await (const message of channels.stream(call, [])) {
      const problem = reply.read(message);
      if (problem !== undefined) return reply.complete({ code: 'INTERNAL', message: problem }, true);
    }
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return reply.complete(error.status, error.isHeard);
  }
  return reply.complete(undefined, true);
}

/** What has been told so far. An entry without a status, an unknown index and a second answer change nothing. */
class Reply {
  readonly #told: (EntryAnswer | undefined)[];
  #rateLimit: RateLimit | undefined;

  constructor(entries: number) {
    this.#told = new Array<EntryAnswer | undefined>(entries).fill(undefined);
  }

  /** Takes in one message; tells why it could not be read. */
  read(message: Buffer): string | undefined {
    let response: MutateRowsResponse;
    try {
      response = MutateRowsResponse.decode(message);
    } catch (error) {
      return `an answer could not be read: ${toError(error).message}`;
    }
    const { entries, rateLimitInfo } = response;
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
    return undefined;
  }

  complete(ending: Status | undefined, isHeard: boolean): MutateRowsReply {
    return {
      answers: completeAnswers(this.#told, ending),
      isHeard,
      ...(this.#rateLimit && { rateLimit: this.#rateLimit }),
    };
  }
}

const APPLIED: EntryAnswer = { kind: 'applied' };
