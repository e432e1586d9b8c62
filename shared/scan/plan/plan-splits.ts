import { compareBytes } from '../../model/bytes.ts';
import { coalesce, cutAt, cuts, type RowRange } from '../../model/row-range.ts';
import type { RowKeySample } from '../ports.ts';

/** One piece of what a run reads: no tablet's boundary lies inside it, as far as the samples say. */
export interface PlannedSplit {
  readonly range: RowRange;
  /** The part of the table that it lies in, from boundary to boundary: splits of one section share its size. */
  readonly section: Section;
}

/** What lies between two boundaries that follow each other. */
export interface Section {
  /** An estimate; undefined where the samples do not say. */
  readonly bytes: bigint | undefined;
}

/**
 * Cuts ranges where the table's tablets meet. What the ranges hold together is kept, each key in one split, and splits are
 * in the order of their keys; no split is empty. The same arguments give the same splits. Pure.
 *
 * @param ranges in any order; they may overlap, but none may be empty.
 * @param samples in any order; that of the empty key is the end of the table.
 */
export function planSplits(ranges: readonly RowRange[], samples: readonly RowKeySample[]): PlannedSplit[] {
  const boundaries = boundariesOf(samples);
  const sections = sectionsOf(boundaries, endOffset(samples));
  const splits: PlannedSplit[] = [];
  let next = 0;
  for (const range of coalesce(ranges)) {
    // Ranges grow, so that no boundary is looked at for each of them.
    while (next < boundaries.length && isAtOrBeforeStart(boundaries[next] as RowKeySample, range)) next += 1;
    next = cutInto(splits, range, { boundaries, sections, next });
  }
  return splits;
}

interface Cutting {
  readonly boundaries: readonly RowKeySample[];
  /** Section n ends at boundary n; the last one ends with the table. */
  readonly sections: readonly Section[];
  /** The first boundary above the start of the range. */
  readonly next: number;
}

/** Adds the pieces of one range; gives the first boundary that may matter to the ranges after it. */
function cutInto(splits: PlannedSplit[], range: RowRange, { boundaries, sections, next }: Cutting): number {
  let rest = range;
  let at = next;
  for (; at < boundaries.length; at += 1) {
    const { key } = boundaries[at] as RowKeySample;
    if (isPastEnd(key, range)) break;
    if (!cuts(rest, key)) continue;
    const [left, right] = cutAt(rest, key);
    splits.push({ range: left, section: sections[at] as Section });
    rest = right;
  }
  splits.push({ range: rest, section: sections[at] as Section });
  return at;
}

function isAtOrBeforeStart({ key }: RowKeySample, { start }: RowRange): boolean {
  return start.kind !== 'unbounded' && compareBytes(key, start.key) <= 0;
}

/** Nothing of the range lies at this key or above it. */
function isPastEnd(key: Buffer, { end }: RowRange): boolean {
  return end.kind !== 'unbounded' && compareBytes(key, end.key) >= (end.kind === 'closed' ? 1 : 0);
}

/** Sorted, each key once: of two samples with one key the larger offset counts. */
function boundariesOf(samples: readonly RowKeySample[]): RowKeySample[] {
  const sorted = samples
    .filter(({ key }) => key.length > 0)
    .sort((left, right) => compareBytes(left.key, right.key) || Number(right.offsetBytes - left.offsetBytes));
  return sorted.filter(({ key }, index) => index === 0 || !key.equals((sorted[index - 1] as RowKeySample).key));
}

/** How many bytes the whole table has, where the end of it was sampled. */
const endOffset = (samples: readonly RowKeySample[]): bigint | undefined =>
  samples.reduce<bigint | undefined>(
    (largest, { key, offsetBytes }) => (key.length === 0 && offsetBytes > (largest ?? -1n) ? offsetBytes : largest),
    undefined,
  );

function sectionsOf(boundaries: readonly RowKeySample[], end: bigint | undefined): Section[] {
  const ends = [...boundaries.map(({ offsetBytes }) => offsetBytes), end];
  return ends.map((offset, index) => {
    const bytes = offset === undefined ? 0n : offset - ((index === 0 ? 0n : ends[index - 1]) ?? 0n);
    return { bytes: bytes > 0n ? bytes : undefined };
  });
}
