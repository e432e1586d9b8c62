import { RecordError } from '../../base/errors.ts';
import { familyRule, rangeEndRule, rangeRule, rangeStartRule } from '../mutation-rules.ts';

/**
 * Which cells of one row a conditional request looks at. Matches are exact; the adapter quotes bytes for the wire.
 * A chain narrows one set of cells step by step: it is no AND over different cells. An interleave unites sets.
 */
export type RowFilter =
  /** Lets nothing through: the otherwise branch is always selected. */
  | { readonly kind: 'none' }
  | { readonly kind: 'family'; readonly family: string }
  /** Every family but this one. No form of a request has a word for it. */
  | { readonly kind: 'otherFamilies'; readonly family: string }
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
export const familyEquals = (family: string): RowFilter => checked({ kind: 'family', family });

/** Cells of every family but this one. */
export const otherFamilies = (family: string): RowFilter => checked({ kind: 'otherFamilies', family });

/** Cells of exactly this qualifier, which may be empty. */
export const qualifierEquals = (qualifier: Buffer): RowFilter => ({ kind: 'qualifier', qualifier });

/** Cells with exactly this value, which may be empty. */
export const valueEquals = (value: Buffer): RowFilter => ({ kind: 'value', value });

/** Cells from `startMicros` (at least 0) to before `endMicros` (above the start; absent = without end). */
export const timestampRange = (startMicros: bigint, endMicros?: bigint): RowFilter =>
  checked({ kind: 'timestampRange', startMicros, ...(endMicros !== undefined && { endMicros }) });

/** The newest `count` versions of every column. */
export const cellsPerColumn = (count: number): RowFilter => checked({ kind: 'cellsPerColumn', count });

/** The first `count` cells of the row. */
export const cellsPerRow = (count: number): RowFilter => checked({ kind: 'cellsPerRow', count });

/** Cells that pass every filter, each looking at what the one before let through. */
export const chain = (...filters: readonly RowFilter[]): RowFilter => combined('chain', filters);

/** Cells that pass any of the filters. */
export const interleave = (...filters: readonly RowFilter[]): RowFilter => combined('interleave', filters);

/** Whether the column holds any cell, old versions included. */
export const cellExists = (family: string, qualifier: Buffer): RowFilter =>
  chain(familyEquals(family), qualifierEquals(qualifier));

/**
 * Whether the column's newest cell holds this value. The limit stands before the value: the other way round an old
 * version would match although the value has changed since.
 */
export const latestCellValueEquals = (family: string, qualifier: Buffer, value: Buffer): RowFilter =>
  chain(familyEquals(family), qualifierEquals(qualifier), cellsPerColumn(1), valueEquals(value));

/**
 * How deep chains and interleaves may stand in each other
 * (https://cloud.google.com/bigtable/docs/reference/data/rpc/google.bigtable.v2#rowfilter).
 */
export const MAX_FILTER_DEPTH = 20;

/** Why a filter cannot be one, with the place inside it; undefined when it can. */
export function filterProblem(filter: RowFilter, path: string, depth = 0): string | undefined {
  switch (filter.kind) {
    case 'none':
    case 'qualifier':
    case 'value':
      return undefined;
    case 'family':
    case 'otherFamilies':
      return at(path, 'family', familyRule(filter.family));
    case 'timestampRange': {
      const { startMicros: start, endMicros: end } = filter;
      return (
        at(path, 'startMicros', rangeStartRule(start)) ??
        at(path, 'endMicros', end === undefined ? undefined : (rangeRule(start, end) ?? rangeEndRule(end)))
      );
    }
    case 'cellsPerColumn':
    case 'cellsPerRow':
      return at(path, 'count', countRule(filter.count));
    case 'chain':
    case 'interleave': {
      if (depth === MAX_FILTER_DEPTH) return `${path}: ${DEPTH_RULE}`;
      if (filter.filters.length === 0) return `${path}: ${SOME_RULE}, got none`;
      for (const [index, inner] of filter.filters.entries()) {
        const problem = filterProblem(inner, `${path}.${filter.kind}[${index}]`, depth + 1);
        if (problem !== undefined) return problem;
      }
      return undefined;
    }
    default:
      return filter satisfies never;
  }
}

/** Of a chain or interleave. */
export const SOME_RULE = 'must combine at least one filter';
export const DEPTH_RULE = `must nest chains and interleaves at most ${MAX_FILTER_DEPTH} deep, got more`;

/** Why a filter, all of whose parts are right, stands too deep in itself; undefined when it does not. */
export const depthRule = (filter: RowFilter): string | undefined =>
  depthOf(filter) > MAX_FILTER_DEPTH ? DEPTH_RULE : undefined;

const depthOf = (filter: RowFilter): number =>
  'filters' in filter ? 1 + filter.filters.reduce((deepest, inner) => Math.max(deepest, depthOf(inner)), 0) : 0;

/** Why a number cannot limit cells, or undefined. */
export const countRule = (count: number): string | undefined =>
  Number.isInteger(count) && count > 0 && count < 2 ** 31
    ? undefined
    : `must be an integer from 1 to 2^31 − 1, got ${count}`;

const at = (path: string, name: string, rule: string | undefined): string | undefined =>
  rule === undefined ? undefined : `${path}.${name}: ${rule}`;

function combined(kind: 'chain' | 'interleave', filters: readonly RowFilter[]): RowFilter {
  return checked({ kind, filters: Object.freeze([...filters]) });
}

function checked(filter: RowFilter): RowFilter {
  const problem = filterProblem(filter, 'filter');
  if (problem !== undefined) throw new RecordError(problem);
  return filter;
}
