import type { Row } from '@google-cloud/bigtable';

/** One version of one cell, as it is stored. */
export interface StoredCell {
  readonly family: string;
  readonly qualifier: string;
  readonly timestampMicros: string;
  readonly value: Buffer;
}

/** What the official client makes of a row with `decode: false`. */
type ClientRow = Readonly<Record<string, Readonly<Record<string, readonly ClientCell[]>>>>;

interface ClientCell {
  readonly value: Buffer | number;
  readonly timestamp: string | number;
}

/**
 * The row key of a row that the official client read. With `decode: false` it is a Buffer, whatever its type says
 * (client 7.2.0).
 */
export const storedKey = ({ id }: Pick<Row, 'id'>): Buffer => Buffer.from(id);

/**
 * The cells of a row that the official client read with `decode: false`. Even then it turns a value of eight bytes
 * into a number where that is exact (client 7.2.0); this turns it back.
 */
export function storedCells({ data }: Pick<Row, 'data'>): StoredCell[] {
  return Object.entries(data as ClientRow).flatMap(([family, columns]) =>
    Object.entries(columns).flatMap(([qualifier, versions]) =>
      versions.map(({ value, timestamp }) => ({
        family,
        qualifier,
        timestampMicros: String(timestamp),
        value: typeof value === 'number' ? int64Bytes(value) : value,
      })),
    ),
  );
}

function int64Bytes(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
}
