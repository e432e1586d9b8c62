/** A cell as a read gives it. */
export interface Cell {
  readonly family: string;
  readonly qualifier: Buffer;
  readonly timestampMicros: bigint;
  readonly value: Buffer;
  /** Of a label transformer of the filter; nearly always none. */
  readonly labels: readonly string[];
}

/** A row as a read gives it. Its buffers may be slices of what came from the service: a copy outlives it more cheaply. */
export interface Row {
  readonly key: Buffer;
  /** At least one, in the service's order: family, qualifier, newest first. */
  readonly cells: readonly Cell[];
  /** An estimate of its size that is the same at every reading, and not the billed one; at least 1. */
  readonly bytes: number;
}

/** Rows above it are held once, and one at a time. Any form of such a row is larger than a message. */
export const LARGE_ROW_BYTES = 16 * 1024 * 1024;

/** What a length and that many bytes take in the estimate of {@link Row.bytes}. */
export const textBytes = (length: number): number => varintBytes(length) + length;

/** The estimate of one cell, without its labels. @param familyBytes of its family, in UTF-8. */
export const cellBytes = (
  familyBytes: number,
  qualifierBytes: number,
  timestampMicros: bigint | number,
  valueBytes: number,
): number => textBytes(familyBytes) + textBytes(qualifierBytes) + varintBytes(timestampMicros) + textBytes(valueBytes);

/** Bytes of a 64-bit varint, in which a negative number is a very great one. */
function varintBytes(value: bigint | number): number {
  if (value < 0) return 10;
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  if (value < 0x1000_0000) return 4;
  if (value < 2 ** 35) return 5;
  if (value < 2 ** 42) return 6;
  if (value < 2 ** 49) return 7;
  return value < 2 ** 56 ? 8 : 9;
}
