import type { Bound, RowRange } from '../../model/row-range.ts';
import { tablePath } from '../../model/table-name.ts';
import { ReadRowsRequest } from '../../proto/google/bigtable/v2/bigtable.ts';
import type { RowRange as WireRange } from '../../proto/google/bigtable/v2/data.ts';
import type { ReadRows, ReadRowsCall } from '../../scan/ports.ts';
import { dataMethod, TableMetadata } from './call.ts';
import type { ClientPool } from './clients.ts';
import { PooledMessages } from './pooled-messages.ts';

const METHOD = dataMethod('ReadRows');

/** `ReadRows` of one range over a raw gRPC channel, at the pace of its reader. Nothing is retried. */
export function createReadRows(pool: ClientPool): ReadRows {
  const metadata = new TableMetadata('scan-progress');
  return (call) => new PooledMessages(pool, { method: METHOD, metadata, encode: () => encodeReadRows(call) }, call);
}

/** The field of {@link ReadRowsRequest} that holds the filter, whose bytes are there already. */
const FILTER_FIELD = (3 << 3) | 2;

/** The request for one range, which is always there: one without ranges would be for the whole table. */
export function encodeReadRows({ table, appProfileId, range, filter }: ReadRowsCall): Buffer {
  const writer = ReadRowsRequest.encode({
    ...ReadRowsRequest.decode(Buffer.alloc(0)),
    tableName: tablePath(table),
    appProfileId,
    rows: { rowKeys: [], rowRanges: [wireRange(range)] },
  });
  if (filter) writer.uint32(FILTER_FIELD).bytes(filter);
  const request = writer.finish();
  return Buffer.from(request.buffer, request.byteOffset, request.byteLength);
}

/** No bound is an empty key on the wire, said outright. */
const wireRange = ({ start, end }: RowRange): WireRange => ({
  startKey: { $case: start.kind === 'open' ? 'startKeyOpen' : 'startKeyClosed', value: keyOf(start) },
  endKey: { $case: end.kind === 'closed' ? 'endKeyClosed' : 'endKeyOpen', value: keyOf(end) },
});

const keyOf = (bound: Bound): Buffer => (bound.kind === 'unbounded' ? NO_KEY : bound.key);
const NO_KEY = Buffer.alloc(0);
