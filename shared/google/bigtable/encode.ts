import { varintSize } from '../../base/varint.ts';
import { toWireMutation } from '../../mapping/rows/entry-wire.ts';
import type { Mutation, RowEntry, SizedEntry } from '../../model/mutation.ts';
import { Mutation as WireMutation } from '../../proto/google/bigtable/v2/data.ts';

/**
 * `MutateRowsRequest` written straight into one buffer. `setCell`, which is nearly all there is, is written by hand;
 * the rare kinds go through the generated code. A property test holds the result to the generated encoder, byte for byte.
 *
 * A request is written from its end to its start, so that every length is known when its prefix is due and nothing
 * below an entry is measured twice: {@link entrySize} is computed once, at admission, and carried with the entry.
 */

// Tags: (field number << 3) | wire type. All of these are one byte.
const REQUEST_TABLE_NAME = 0x0a;
const REQUEST_ENTRIES = 0x12;
const REQUEST_APP_PROFILE = 0x1a;
const ENTRY_ROW_KEY = 0x0a;
const ENTRY_MUTATIONS = 0x12;
const MUTATION_SET_CELL = 0x0a;
const SET_CELL_FAMILY = 0x0a;
const SET_CELL_QUALIFIER = 0x12;
const SET_CELL_TIMESTAMP = 0x18;
const SET_CELL_VALUE = 0x22;

/** Bytes of the entry as the service reads it: key and mutations, without the request's own framing. */
export function entrySize(entry: RowEntry): number {
  let size = bytesFieldSize(entry.rowKey.length);
  for (const mutation of entry.mutations) size += lengthDelimitedSize(mutationSize(mutation));
  return size;
}

/** Bytes of the whole request for these entries. */
export function requestSize(tablePath: string, appProfileId: string, entries: readonly SizedEntry[]): number {
  let size = bytesFieldSize(Buffer.byteLength(tablePath)) + bytesFieldSize(Buffer.byteLength(appProfileId));
  for (const { bytes } of entries) size += lengthDelimitedSize(bytes);
  return size;
}

/** Writes the request into the front of `target`, which must hold {@link requestSize} bytes, and returns the part written. */
export function encodeMutateRows(
  target: Buffer,
  size: number,
  tablePath: string,
  appProfileId: string,
  entries: readonly SizedEntry[],
): Buffer {
  const writer = new BackwardWriter(target, size);
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const { entry, bytes } = entries[index] as SizedEntry;
    const end = writer.position;
    for (let at = entry.mutations.length - 1; at >= 0; at -= 1) writeMutation(writer, entry.mutations[at] as Mutation);
    writer.bytesField(ENTRY_ROW_KEY, entry.rowKey);
    if (end - writer.position !== bytes) throw new Error('an entry changed between its admission and its request');
    writer.lengthPrefix(REQUEST_ENTRIES, end);
  }
  writer.bytesField(REQUEST_APP_PROFILE, Buffer.from(appProfileId));
  writer.bytesField(REQUEST_TABLE_NAME, Buffer.from(tablePath));
  if (writer.position !== 0) throw new Error('the size of a request was not what it took');
  return target.subarray(0, size);
}

function mutationSize(mutation: Mutation): number {
  if (mutation.kind !== 'setCell') return WireMutation.encode(toWireMutation(mutation)).finish().length;
  const { timestampMicros } = mutation;
  const timestampSize = timestampMicros === 0n ? 0 : 1 + int64Size(timestampMicros);
  return lengthDelimitedSize(
    bytesFieldSize(familyBytes(mutation.family).length) +
      bytesFieldSize(mutation.qualifier.length) +
      timestampSize +
      bytesFieldSize(mutation.value.length),
  );
}

function writeMutation(writer: BackwardWriter, mutation: Mutation): void {
  const end = writer.position;
  if (mutation.kind === 'setCell') {
    writer.bytesField(SET_CELL_VALUE, mutation.value);
    if (mutation.timestampMicros !== 0n) writer.int64Field(SET_CELL_TIMESTAMP, mutation.timestampMicros);
    writer.bytesField(SET_CELL_QUALIFIER, mutation.qualifier);
    writer.bytesField(SET_CELL_FAMILY, familyBytes(mutation.family));
    writer.lengthPrefix(MUTATION_SET_CELL, end);
  } else {
    writer.raw(WireMutation.encode(toWireMutation(mutation)).finish());
  }
  writer.lengthPrefix(ENTRY_MUTATIONS, end);
}

/** A proto3 field of bytes: nothing when empty. */
const bytesFieldSize = (length: number): number => (length === 0 ? 0 : lengthDelimitedSize(length));

/** Tag, length and content. Tags here are one byte. */
const lengthDelimitedSize = (length: number): number => 1 + varintSize(length) + length;

const SAFE_LIMIT = BigInt(Number.MAX_SAFE_INTEGER);

function int64Size(value: bigint): number {
  if (value < 0n) return 10;
  if (value > SAFE_LIMIT) return value >= 1n << 56n ? 9 : 8;
  let size = 1;
  for (let rest = Number(value); rest >= 0x80; rest = Math.floor(rest / 0x80)) size += 1;
  return size;
}

/** Family names repeat forever: their UTF-8 is kept. Bounded, because names may come from records. */
const families = new Map<string, Buffer>();
const MAX_KEPT_FAMILIES = 256;

function familyBytes(family: string): Buffer {
  const kept = families.get(family);
  if (kept) return kept;
  const bytes = Buffer.from(family);
  if (families.size >= MAX_KEPT_FAMILIES) families.clear();
  families.set(family, bytes);
  return bytes;
}

/** Below this many bytes a loop beats the call into native code that `copy` is. */
const SHORT_COPY_BYTES = 24;

class BackwardWriter {
  position: number;
  readonly #target: Buffer;

  constructor(target: Buffer, end: number) {
    this.#target = target;
    this.position = end;
  }

  raw(bytes: Uint8Array): void {
    const { length } = bytes;
    const at = this.position - length;
    this.position = at;
    const target = this.#target;
    if (length <= SHORT_COPY_BYTES) {
      for (let index = 0; index < length; index += 1) target[at + index] = bytes[index] as number;
    } else {
      target.set(bytes, at);
    }
  }

  bytesField(tag: number, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const end = this.position;
    this.raw(bytes);
    this.lengthPrefix(tag, end);
  }

  /** Tag and length in front of what was written since `end`. */
  lengthPrefix(tag: number, end: number): void {
    const target = this.#target;
    let value = end - this.position;
    let at = this.position - varintSize(value) - 1;
    this.position = at;
    target[at++] = tag;
    while (value >= 0x80) {
      target[at++] = (value & 0x7f) | 0x80;
      value >>>= 7;
    }
    target[at] = value;
  }

  int64Field(tag: number, value: bigint): void {
    const target = this.#target;
    let at = this.position - int64Size(value) - 1;
    this.position = at;
    target[at++] = tag;
    if (value >= 0n && value <= SAFE_LIMIT) {
      // Microseconds fit in 53 bits until the year 2255: no bigint arithmetic on the path of every cell.
      let rest = Number(value);
      while (rest >= 0x80) {
        target[at++] = (rest % 0x80) | 0x80;
        rest = Math.floor(rest / 0x80);
      }
      target[at] = rest;
      return;
    }
    let rest = BigInt.asUintN(64, value);
    while (rest >= 0x80n) {
      target[at++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    target[at] = Number(rest);
  }
}
