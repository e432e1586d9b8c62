import type { ServerHttp2Stream } from 'node:http2';
import {
  ReadRowsRequest,
  ReadRowsResponse,
  type ReadRowsResponse_CellChunk,
} from '../../../shared/proto/google/bigtable/v2/bigtable.ts';

/** How a table of the null server is named, so that its name says what a scan of it gives. */
export const scanTable = (rows: number, valueBytes: number): string => `scan-${rows}-${valueBytes}`;

const TABLE = /\/scan-(\d+)-(\d+)$/;

/** Messages of about 30 KiB, as many rows as fit: what the service was seen to send of small rows. */
const MESSAGE_BYTES = 32 * 1024;

const KEY_DIGITS = 12;
const keyOf = (row: number): string => `row-${String(row).padStart(KEY_DIGITS, '0')}`;

/** Answers `ReadRows` with rows of one cell, at the pace of the reader. The request is its gRPC frame. */
export function answerScan(stream: ServerHttp2Stream, framedRequest: Buffer): void {
  const { tableName } = ReadRowsRequest.decode(framedRequest.subarray(5));
  const [, rows = '0', valueBytes = '0'] = TABLE.exec(tableName) ?? [];
  stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => {
    stream.sendTrailers({ 'grpc-status': '0' });
  });
  const messages = messagesOf(Number(rows), Number(valueBytes));
  const write = (): void => {
    for (;;) {
      if (stream.destroyed) return;
      const { done, value } = messages.next();
      if (done) {
        stream.end();
        return;
      }
      if (stream.write(value)) continue;
      stream.once('drain', write);
      return;
    }
  };
  write();
}

function* messagesOf(rows: number, valueBytes: number): Generator<Buffer, undefined> {
  const perMessage = Math.max(1, Math.floor(MESSAGE_BYTES / (valueBytes + 60)));
  let template = templateOf(Math.min(perMessage, rows), valueBytes);
  for (let row = 0; row < rows;) {
    const count = Math.min(perMessage, rows - row);
    if (count < template.places.length) template = templateOf(count, valueBytes);
    const framed = Buffer.from(template.framed);
    for (const place of template.places) {
      framed.write(keyOf(row), place, 'latin1');
      row += 1;
    }
    yield framed;
  }
  return undefined;
}

/** A message, encoded once, and where the keys of its rows lie in it. */
function templateOf(rows: number, valueBytes: number): { readonly framed: Buffer; readonly places: readonly number[] } {
  const value = Buffer.alloc(valueBytes, 'v');
  const chunks = Array.from({ length: rows }, (_, row): ReadRowsResponse_CellChunk => ({
    rowKey: Buffer.from(keyOf(row)),
    familyName: 'cf',
    qualifier: Buffer.from('column'),
    timestampMicros: 1_700_000_000_000_000n,
    labels: [],
    value,
    valueSize: 0,
    rowStatus: { $case: 'commitRow', value: true },
  }));
  const message = ReadRowsResponse.encode({ chunks, lastScannedRowKey: Buffer.alloc(0), requestStats: undefined });
  const encoded = message.finish();
  const framed = Buffer.alloc(5 + encoded.length);
  framed.writeUInt32BE(encoded.length, 1);
  framed.set(encoded, 5);
  let from = 0;
  const places = chunks.map(({ rowKey }) => {
    const place = framed.indexOf(rowKey, from);
    from = place + rowKey.length;
    return place;
  });
  return { framed, places };
}
