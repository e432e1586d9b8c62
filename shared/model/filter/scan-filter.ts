import { DEPTH_RULE, MAX_FILTER_DEPTH, type RowFilter } from './filter.ts';

type Combination = Extract<RowFilter, { readonly kind: 'chain' | 'interleave' }>;

/**
 * Which cells of a row a scan is given, and in which shape: every filter that the service has, but a sample of rows, for a
 * second reading would choose other ones. It is made of the filters of a request, patterns, ranges, conditions and
 * changes of cells.
 */
export type ScanFilter =
  | Exclude<RowFilter, Combination>
  | { readonly kind: Combination['kind']; readonly filters: readonly ScanFilter[] }
  /** Every cell. */
  | { readonly kind: 'all' }
  /** Patterns of RE2 over bytes, each for the whole text: see {@link RowFilter} for exact matches. */
  | { readonly kind: 'rowKeyRegex' | 'qualifierRegex' | 'valueRegex'; readonly pattern: Buffer }
  | { readonly kind: 'familyRegex'; readonly pattern: string }
  /** Cells of one family whose qualifiers lie between the bounds. */
  | ({ readonly kind: 'columnRange'; readonly family: string } & BytesRange)
  /** Cells whose values lie between the bounds. */
  | ({ readonly kind: 'valueRange' } & BytesRange)
  /** Cells whose values have all bits of the mask, and its length. */
  | { readonly kind: 'valueBitmask'; readonly mask: Buffer }
  /** All cells of the row but the first `count`. */
  | { readonly kind: 'cellsPerRowOffset'; readonly count: number }
  /** One filter for rows of which the predicate lets a cell through, another for the rest; none lets nothing through. */
  | {
      readonly kind: 'condition';
      readonly predicate: ScanFilter;
      readonly then?: ScanFilter;
      readonly otherwise?: ScanFilter;
    }
  /** Cells without their values. */
  | { readonly kind: 'stripValue' }
  | { readonly kind: 'label'; readonly label: string }
  /** Cells go past every filter around this one, straight to the result. */
  | { readonly kind: 'sink' };

/** Absent: no bound. Unlike a row key, a qualifier or value may be empty, so that an empty bound is one. */
export interface BytesRange {
  readonly start?: BytesBound;
  readonly end?: BytesBound;
}

export interface BytesBound {
  readonly bytes: Buffer;
  /** Whether these bytes themselves lie outside. */
  readonly isOpen: boolean;
}

/** Of an encoded filter, beyond which the service refuses the request. */
export const MAX_FILTER_BYTES = 20_480;

/** Of the service (https://cloud.google.com/bigtable/docs/reference/data/rpc/google.bigtable.v2#rowfilter). */
const LABEL = /^[a-z0-9-]{1,15}$/;

/** Why a text cannot be a label; undefined when it can. */
export const labelRule = (label: string): string | undefined =>
  LABEL.test(label) ? undefined : 'must be 1 to 15 of a-z, 0-9 and "-", got another text';

/** Why bounds hold nothing; undefined when they may hold something. */
export function bytesRangeRule({ start, end }: BytesRange): string | undefined {
  if (!start || !end) return undefined;
  const order = start.bytes.compare(end.bytes);
  const isEmpty = order > 0 || (order === 0 && (start.isOpen || end.isOpen));
  return isEmpty ? 'must hold something: the end lies before the start' : undefined;
}

/**
 * Why a filter, all of whose parts are right, cannot be one as a whole; undefined when it can. The service gives a cell at
 * most one label, and takes no sink inside a condition.
 */
export function structureRule(filter: ScanFilter): string | undefined {
  if (depthOf(filter) > MAX_FILTER_DEPTH) return DEPTH_RULE;
  if (labelsIn(filter) > 1) return 'must label a cell at most once, got several labels in one chain';
  return hasSinkInCondition(filter, false) ? 'must not hold a sink inside a condition, got one' : undefined;
}

function depthOf(filter: ScanFilter): number {
  const parts = partsOf(filter);
  return parts.length === 0 ? 0 : 1 + parts.reduce((deepest, inner) => Math.max(deepest, depthOf(inner)), 0);
}

/** How many labels one cell may get. */
function labelsIn(filter: ScanFilter): number {
  switch (filter.kind) {
    case 'label':
      return 1;
    case 'chain':
      return filter.filters.reduce((sum, inner) => sum + labelsIn(inner), 0);
    case 'interleave':
    case 'condition':
      return partsOf(filter).reduce((most, inner) => Math.max(most, labelsIn(inner)), 0);
    default:
      return 0;
  }
}

function hasSinkInCondition(filter: ScanFilter, isInside: boolean): boolean {
  if (filter.kind === 'sink') return isInside;
  const isCondition = filter.kind === 'condition';
  return partsOf(filter).some((inner) => hasSinkInCondition(inner, isInside || isCondition));
}

/** The filters that a filter is made of. */
export function partsOf(filter: ScanFilter): readonly ScanFilter[] {
  if ('filters' in filter) return filter.filters;
  if (filter.kind !== 'condition') return [];
  return [filter.predicate, filter.then, filter.otherwise].filter((part) => part !== undefined);
}
