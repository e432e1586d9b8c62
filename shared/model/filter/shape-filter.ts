import {
  cellsPerColumn,
  chain,
  familyEquals,
  interleave,
  otherFamilies,
  type RowFilter,
  timestampRange,
} from './filter.ts';

/** Which cells of a row are read, but for their time. */
export interface CellShape {
  /** Empty: all families. */
  readonly families: readonly string[];
  readonly excludeFamilies: readonly string[];
  readonly latestOnly: boolean;
}

/** Timestamps in microseconds: from the first, itself included, to before the second. */
export interface TimestampWindow {
  readonly sinceMicros?: bigint;
  readonly untilMicros?: bigint;
}

/**
 * The filter of families, timestamps and versions, in the order in which the service narrows by them: the latest version
 * is the latest of those in the window. Undefined: every cell.
 */
export function shapeFilter(
  { families, excludeFamilies, latestOnly }: CellShape,
  { sinceMicros = 0n, untilMicros }: TimestampWindow,
): RowFilter | undefined {
  const isWindow = sinceMicros > 0n || untilMicros !== undefined;
  const steps: RowFilter[] = [
    ...oneOf(families.map(familyEquals)),
    ...excludeFamilies.map(otherFamilies),
    ...(isWindow ? [timestampRange(sinceMicros, untilMicros)] : []),
    ...(latestOnly ? [cellsPerColumn(1)] : []),
  ];
  return inTurn(steps);
}

/** Cells that pass each of the filters, looking at what the one before let through. Undefined where there is none. */
function inTurn(steps: readonly RowFilter[]): RowFilter | undefined {
  return steps.length > 1 ? chain(...steps) : steps[0];
}

const oneOf = (filters: readonly RowFilter[]): RowFilter[] =>
  filters.length > 1 ? [interleave(...filters)] : [...filters];
