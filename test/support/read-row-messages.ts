import { ReadRowsRequest, ReadRowsResponse } from '../../shared/proto/google/bigtable/v2/bigtable.ts';
import { dataMethod, TableMetadata } from '../../shared/google/bigtable/call.ts';
import type { ClientPool } from '../../shared/google/bigtable/clients.ts';
import { type TableName, tablePath } from '../../shared/model/table-name.ts';
import { readRequest } from './bigtable-raw-client.ts';

export interface Reading {
  readonly table: TableName;
  readonly signal: AbortSignal;
  readonly timeoutMillis?: number;
}

const metadata = new TableMetadata();

/** `ReadRows` of a whole table over the streamed call, as an adapter that reads makes it: a client is held for its time. */
export async function* readRowMessages(
  pool: ClientPool,
  { table, signal, timeoutMillis = 20_000 }: Reading,
): AsyncGenerator<ReadRowsResponse> {
  const client = pool.hold(table) ?? (await pool.wait(table, signal));
  try {
    const call = {
      method: dataMethod('ReadRows'),
      request: Buffer.from(ReadRowsRequest.encode(readRequest(tablePath(table))).finish()),
      metadata: metadata.of(table, ''),
      deadline: Date.now() + timeoutMillis,
    };
    for await (const message of client.channels.stream(call, [signal])) yield ReadRowsResponse.decode(message);
  } finally {
    pool.release(client);
  }
}
