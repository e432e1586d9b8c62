import { RecordError } from '../base/errors.ts';

/**
 * Which cells of one row a conditional request looks at. Matches are exact; the adapter quotes bytes for the wire.
 * A chain narrows one set of cells step by step: it is no AND over different cells. An interleave unites sets.
 */
export type RowFilter =
  /** Lets nothing through: the otherwise branch is always selected. */
  | { readonly kind: 'none' }
  | { readonly kind: 'family'; readonly family: string }
  | { readonly kind: 'qualifier'; readonly qualifier: Buffer }
  | { readonly kind: 'value'; readonly value: Buffer }
  | {
      readonly kind: 'timestampRange';
      /** Inclusive. */
      readonly startMicros: bigint;
      /** Exclusive; absent = without end. */
      readonly endMicros?: bigint;
    }
  | { readonly kind: 'cellsPerColumn'; readonly count: number }
  | { readonly kind: 'cellsPerRow'; readonly count: number }
  | { readonly kind: 'chain'; readonly filters: readonly RowFilter[] }
  | { readonly kind: 'interleave'; readonly filters: readonly RowFilter[] };

/** No cell at all. As a predicate it selects the otherwise branch, whatever the row holds. */
export const noCell = (): RowFilter => ({ kind: 'none' });

/** Cells of exactly this family. */
export function familyEquals(family: string): RowFilter {
  if (family.trim() === '') throw new RecordError('filter family: must not be blank, got a blank text');
  return { kind: 'family', family };
}

/** Cells of exactly this qualifier, which may be empty. */
export const qualifierEquals = (qualifier: Buffer): RowFilter => ({ kind: 'qualifier', qualifier });

/** Cells with exactly this value, which may be empty. */
export const valueEquals = (value: Buffer): RowFilter => ({ kind: 'value', value });

/** Cells from `startMicros` (at least 0) to before `endMicros` (above the start; absent = without end). */
export function timestampRange(startMicros: bigint, endMicros?: bigint): RowFilter {
  if (startMicros < 0n) throw new RecordError(`filter start timestamp: must be at least 0, got ${startMicros}`);
  if (endMicros === undefined) return { kind: 'timestampRange', startMicros };
  if (endMicros <= startMicros) {
    throw new RecordError(`filter end timestamp: must be above the start ${startMicros}, got ${endMicros}`);
  }
  return { kind: 'timestampRange', startMicros, endMicros };
}

/** The newest `count` versions of every column. */
export const cellsPerColumn = (count: number): RowFilter => ({ kind: 'cellsPerColumn', count: positive(count) });

/** The first `count` cells of the row. */
export const cellsPerRow = (count: number): RowFilter => ({ kind: 'cellsPerRow', count: positive(count) });

/** Cells that pass every filter, each looking at what the one before let through. */
export const chain = (...filters: readonly RowFilter[]): RowFilter => ({ kind: 'chain', filters: some(filters) });

/** Cells that pass any of the filters. */
export const interleave = (...filters: readonly RowFilter[]): RowFilter => ({
  kind: 'interleave',
  filters: some(filters),
});

/** Whether the column holds any cell, old versions included. */
export const cellExists = (family: string, qualifier: Buffer): RowFilter =>
  chain(familyEquals(family), qualifierEquals(qualifier));

/**
 * Whether the column's newest cell holds this value. The limit stands before the value: the other way round an old
 * version would match although the value has changed since.
 */
export const latestCellValueEquals = (family: string, qualifier: Buffer, value: Buffer): RowFilter =>
  chain(familyEquals(family), qualifierEquals(qualifier), cellsPerColumn(1), valueEquals(value));

function positive(count: number): number {
  if (Number.isInteger(count) && count > 0 && count < 2 ** 31) return count;
  throw new RecordError(`filter count: must be an integer from 1 to 2^31 − 1, got ${count}`);
}

function some(filters: readonly RowFilter[]): readonly RowFilter[] {
  if (filters.length > 0) return Object.freeze([...filters]);
  throw new RecordError('filter: must combine at least one filter, got none');
}
