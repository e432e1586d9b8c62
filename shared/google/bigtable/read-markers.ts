import { toError } from '../../base/errors.ts';
import type { MarkerQuestion, MarkerReply, ReadMarkers } from '../../markers/ports.ts';
import { familyPattern } from '../../model/filter/exact-pattern.ts';
import type { Status } from '../../model/status.ts';
import { tablePath } from '../../model/table-name.ts';
import { ReadRowsRequest, ReadRowsResponse } from '../../proto/google/bigtable/v2/bigtable.ts';
import type { RowFilter } from '../../proto/google/bigtable/v2/data.ts';
import type { ChannelSet } from '../grpc/channel.ts';
import type { CallRequest } from '../grpc/connection.ts';
import { CallError } from '../grpc/message-stream.ts';
import { dataMethod, TableMetadata } from './call.ts';
import type { ClientPool } from './clients.ts';

const METHOD = dataMethod('ReadRows');

/** `ReadRows` of the markers of one row over a raw gRPC channel: one request, one answer, nothing retried. */
export function createReadMarkers(pool: ClientPool): ReadMarkers {
  const metadata = new TableMetadata();
  return async (question) => {
    const { table, appProfileId, timeoutMillis } = question;
    const deadline = Date.now() + timeoutMillis;
    try {
      return await pool.use(table, AbortSignal.timeout(timeoutMillis), (channels) =>
        readOver(channels, {
          method: METHOD,
          request: encode(question),
          metadata: metadata.of(table, appProfileId),
          deadline,
        }),
      );
    } catch (error) {
      // No client was free in time, or no call could be made: the row was not asked.
      return failed({ code: 'UNAVAILABLE', message: toError(error).message });
    }
  };
}

function encode({ table, appProfileId, rowKey, family, identities }: MarkerQuestion): Buffer {
  const request = ReadRowsRequest.encode({
    ...ReadRowsRequest.decode(Buffer.alloc(0)),
    tableName: tablePath(table),
    appProfileId,
    rows: { rowKeys: [rowKey], rowRanges: [] },
    filter: namesOf(family, identities),
    rowsLimit: 1n,
  }).finish();
  return Buffer.from(request.buffer, request.byteOffset, request.byteLength);
}

/** Passes those columns, without their values: what is asked is which are there. Hexadecimal digits need no quoting. */
const namesOf = (family: string, identities: readonly string[]): RowFilter => ({
  filter: {
    $case: 'chain',
    value: {
      filters: [
        { filter: { $case: 'familyNameRegexFilter', value: familyPattern(family) } },
        { filter: { $case: 'columnQualifierRegexFilter', value: Buffer.from(identities.join('|'), 'latin1') } },
        { filter: { $case: 'stripValueTransformer', value: true } },
      ],
    },
  },
});

async function readOver(channels: ChannelSet, call: CallRequest): Promise<MarkerReply> {
  const row = new ColumnNames();
  try {
    for await (const message of channels.stream(call, [])) row.read(message);
  } catch (error) {
    if (error instanceof CallError) return failed(error.status);
    // A message that cannot be read, or no call: either way there is no answer.
    return failed({ code: 'INTERNAL', message: `the markers could not be read: ${toError(error).message}` });
  }
  if (row.isOpen) return failed({ code: 'INTERNAL', message: 'the row of the markers ended without its end' });
  return { kind: 'answered', present: row.committed };
}

/**
 * The names of the columns of one row, from the chunks of `ReadRows`. A column is named by the first chunk of its first
 * cell, and by no later one; what a reset takes back never was; only a commit makes the row one.
 */
class ColumnNames {
  readonly committed = new Set<string>();
  #pending: string[] = [];
  #hasChunks = false;

  /** Whether chunks came that nothing has committed. */
  get isOpen(): boolean {
    return this.#hasChunks;
  }

  /** Throws where the message is none. */
  read(message: Buffer): void {
    for (const { qualifier, rowStatus } of ReadRowsResponse.decode(message).chunks) {
      if (rowStatus?.$case === 'resetRow' && rowStatus.value) {
        this.#forget();
        continue;
      }
      this.#hasChunks = true;
      if (qualifier) this.#pending.push(qualifier.toString('latin1'));
      if (rowStatus?.$case !== 'commitRow' || !rowStatus.value) continue;
      for (const name of this.#pending) this.committed.add(name);
      this.#forget();
    }
  }

  #forget(): void {
    this.#pending = [];
    this.#hasChunks = false;
  }
}

const failed = (status: Status): MarkerReply => ({ kind: 'failed', status });
