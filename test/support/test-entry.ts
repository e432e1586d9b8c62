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

/** A sum for a family that holds none: the service, and nobody before it, refuses the whole request with INVALID_ARGUMENT. */
export const badEntry = (rowKey: string): Buffer =>
  entryBytes(rowKey, {
    mutation: {
      $case: 'addToCell',
      value: {
        familyName: 'f',
        columnQualifier: { type: undefined, kind: { $case: 'rawValue', value: Buffer.from('q') } },
        timestamp: { type: undefined, kind: { $case: 'rawTimestampMicros', value: 0n } },
        input: { type: undefined, kind: { $case: 'intValue', value: 1n } },
      },
    },
  });

/** Versions from no whole millisecond: no table takes it, and so it is refused before it is sent. */
export const unsentEntry = (rowKey: string): Buffer =>
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

/** Proto JSON of {@link badEntry}. */
export const badLine = (rowKey: string): string => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const cell = { columnQualifier: { rawValue: base64('q') }, timestamp: { rawTimestampMicros: '0' } };
  return JSON.stringify({
    rowKey: base64(rowKey),
    mutations: [{ addToCell: { familyName: 'f', ...cell, input: { intValue: '1' } } }],
  });
};
