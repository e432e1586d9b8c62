import { formatNanos } from '../../../shared/change-stream/ledger/retention.ts';
import type { SourceOverview } from '../../../shared/change-stream/source-status.ts';
import type { Nanos } from '../../../shared/model/change.ts';
import { formatRange, type RowRange } from '../../../shared/model/row-range.ts';
import { problemShown } from './problem.ts';

/** The report of a source as JSON, all partitions included: ranges as texts, where they are shown, and never a token. Pure. */
export function overviewAsJson(pipeline: string, overview: SourceOverview, hasRanges: boolean): string {
  const { source, now, lowWatermark, lagMillis, headroomMillis, completed, slots } = overview;
  const { status, generation, problem, startTime, endTime, retention } = source;
  const ranged = (range: RowRange): object => (hasRanges ? { range: formatRange(range) } : {});
  return JSON.stringify({
    ...{ pipeline, now },
    source: { status, generation, problem, startTime: timed(startTime), endTime: timed(endTime), retention },
    ...{ lowWatermark: timed(lowWatermark), lagMillis, headroomMillis },
    partitions: overview.partitions.map(({ range, problem: why, ...partition }) => ({
      ...partition,
      ...ranged(range),
      lowWatermark: timed(partition.lowWatermark),
      ...(why !== undefined && { problem: problemShown(why, range, hasRanges) }),
    })),
    completed,
    merges: overview.merges.map(({ target, parked, ...merge }) => ({
      ...(hasRanges && { target: formatRange(target), parked: parked.map(formatRange) }),
      tokens: parked.length,
      ...merge,
    })),
    missing: overview.missing.map(({ range, ...missing }) => ({ ...ranged(range), ...missing })),
    slots,
  });
}

const timed = (nanos: Nanos | undefined): string | undefined => (nanos === undefined ? undefined : formatNanos(nanos));
