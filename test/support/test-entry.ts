import { MutateRowsRequest_Entry as WireEntry } from '../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { Mutation } from '../../shared/proto/google/bigtable/v2/data.ts';

/** Entries as the service's own generated code writes them, so that nothing under test makes its own input. */
export const entryBytes = (rowKey: string, ...mutations: Mutation[]): Buffer =>
  Buffer.from(WireEntry.encode({ rowKey: Buffer.from(rowKey), mutations, idempotency: undefined }).finish());

export const setCell = (value: string | Buffer, timestampMicros = 1000n, family = 'f', qualifier = 'q'): Mutation => ({
  mutation: {
    $case: 'setCell',
    value: { familyName: family, columnQualifier: Buffer.from(qualifier), timestampMicros, value: Buffer.from(value) },
  },
});

/** One cell `f:q` at 1 ms. */
export const goodEntry = (rowKey: string, value: string | Buffer = 'v'): Buffer => entryBytes(rowKey, setCell(value));

/** A range from no whole millisecond: the service, and nobody before it, refuses the whole request with INVALID_ARGUMENT. */
export const badEntry = (rowKey: string): Buffer =>
  entryBytes(rowKey, {
    mutation: {
      $case: 'deleteFromColumn',
      value: {
        familyName: 'f',
        columnQualifier: Buffer.from('q'),
        timeRange: { startTimestampMicros: 1001n, endTimestampMicros: 0n },
      },
    },
  });

/** Proto JSON of an entry with one cell: a line of NDJSON. */
export function entryLine(rowKey: string, value: string, { timestampMicros = '1000', family = 'f' } = {}): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return JSON.stringify({
    rowKey: base64(rowKey),
    mutations: [
      { setCell: { familyName: family, columnQualifier: base64('q'), timestampMicros, value: base64(value) } },
    ],
  });
}

export const badLine = (rowKey: string): string => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const timeRange = { startTimestampMicros: '1001' };
  return JSON.stringify({
    rowKey: base64(rowKey),
    mutations: [{ deleteFromColumn: { familyName: 'f', columnQualifier: base64('q'), timeRange } }],
  });
};
