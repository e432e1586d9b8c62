/**
 * What one record becomes: an entry (a row key and ordered mutations). An *entry* is what every count counts;
 * a *mutation* is one change inside it. Bytes are Buffers, timestamps are microseconds as bigint, int64 is bigint.
 */

/** Most mutations that one entry, and also one `MutateRows` request, may carry (service limit). */
export const MAX_MUTATIONS = 100_000;

/** Longest row key in bytes (service limit, 4 KiB). */
export const MAX_ROW_KEY_BYTES = 4096;

/** Longest qualifier in bytes (service limit, 16 KiB). */
export const MAX_QUALIFIER_BYTES = 16 * 1024;

/** Longest value of a cell in bytes (service limit, 100 MB). */
export const MAX_VALUE_BYTES = 100 * 1024 * 1024;

/** Tables count time in milliseconds: there is no other granularity. A time between two of them is refused. */
export const GRANULARITY_MICROS = 1000n;

/** `timestampMicros` that asks the service for its own clock. Only `setCell` understands it; a replay adds a version. */
export const SERVER_TIME_MICROS = -1n;

/** The wire variants of an aggregate's input: a sum takes `int64`; a merge of its accumulator takes `bytes`. */
export type AggregateValue =
  | { readonly kind: 'raw'; readonly value: Buffer }
  | { readonly kind: 'bytes'; readonly value: Buffer }
  | { readonly kind: 'int64'; readonly value: bigint };

export type Mutation =
  | {
      readonly kind: 'setCell';
      readonly family: string;
      readonly qualifier: Buffer;
      /** −1 for server time; otherwise a multiple of {@link GRANULARITY_MICROS}. Never rounded here. */
      readonly timestampMicros: bigint;
      readonly value: Buffer;
    }
  | {
      readonly kind: 'addToCell' | 'mergeToCell';
      readonly family: string;
      readonly qualifier: Buffer;
      /** At least 0: aggregate cells take no server time. */
      readonly timestampMicros: bigint;
      readonly input: AggregateValue;
    }
  | {
      readonly kind: 'deleteFromColumn';
      readonly family: string;
      readonly qualifier: Buffer;
      /** Inclusive; absent = from the first version. */
      readonly startTimestampMicros?: bigint;
      /** Exclusive; absent = to the last version. */
      readonly endTimestampMicros?: bigint;
    }
  | { readonly kind: 'deleteFromFamily'; readonly family: string }
  | { readonly kind: 'deleteFromRow' };

/** One record's change of one row. Its mutations apply atomically and in order. */
export interface RowEntry {
  readonly rowKey: Buffer;
  readonly mutations: readonly Mutation[];
}

/** An entry and the bytes of its serialized form (key and mutations), measured once, at admission. */
export interface SizedEntry {
  readonly entry: RowEntry;
  readonly bytes: number;
}

/** The families an entry names, each once, in order of appearance. `deleteFromRow` names none. */
export function familiesOf(entry: RowEntry): string[] {
  const families = new Set<string>();
  for (const mutation of entry.mutations) {
    if (mutation.kind !== 'deleteFromRow') families.add(mutation.family);
  }
  return [...families];
}
