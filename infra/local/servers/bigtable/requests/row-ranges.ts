import type { RowRange, RowSet } from '../../../../../shared/proto/google/bigtable/v2/data.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import { type RowIndex, latin1, type Row } from '../rows/row.ts';

/** Rows from `start` to `end`, keys as latin1. An undefined end is the end of the table. */
export interface KeyRange {
  readonly start: string;
  readonly isStartOpen: boolean;
  readonly end: string | undefined;
  readonly isEndOpen: boolean;
}

const EVERYTHING: KeyRange = { start: '', isStartOpen: false, end: undefined, isEndOpen: false };

/**
 * What a row set asks for, as sorted ranges that do not overlap. No row set and an empty one ask for the whole table.
 * Throws INVALID_ARGUMENT for an empty key and for a range that can hold no key, as the service does.
 */
export function keyRanges(rows: RowSet | undefined): KeyRange[] {
  if (!rows || (rows.rowKeys.length === 0 && rows.rowRanges.length === 0)) return [EVERYTHING];
  const points = rows.rowKeys.map((key) => {
    if (key.length === 0) throw new GrpcError('INVALID_ARGUMENT', 'Row keys must be non-empty');
    const text = latin1(key);
    return { start: text, isStartOpen: false, end: text, isEndOpen: false };
  });
  return union([...points, ...rows.rowRanges.map(parseRange)]);
}

function parseRange({ startKey, endKey }: RowRange): KeyRange {
  const start = startKey ? latin1(startKey.value) : '';
  // An end key of no bytes means no bound, whichever form it has.
  const end = endKey && endKey.value.length > 0 ? latin1(endKey.value) : undefined;
  const range = {
    start,
    isStartOpen: startKey?.$case === 'startKeyOpen',
    end,
    isEndOpen: endKey?.$case === 'endKeyOpen',
  };
  if (isEmpty(range)) {
    throw new GrpcError('INVALID_ARGUMENT', "Error in field 'row_ranges' : start_key must be less than end_key");
  }
  return range;
}

const isEmpty = ({ start, isStartOpen, end, isEndOpen }: KeyRange): boolean =>
  end !== undefined && (start > end || (start === end && (isStartOpen || isEndOpen)));

function union(ranges: KeyRange[]): KeyRange[] {
  const sorted = ranges.toSorted(byStart);
  const merged: KeyRange[] = [];
  for (const range of sorted) {
    const last = merged.at(-1);
    if (last && touches(last, range)) {
      const { end, isEndOpen } = endsLater(last, range) ? last : range;
      merged[merged.length - 1] = { start: last.start, isStartOpen: last.isStartOpen, end, isEndOpen };
    } else {
      merged.push(range);
    }
  }
  return merged;
}

function byStart(left: KeyRange, right: KeyRange): number {
  if (left.start !== right.start) return left.start < right.start ? -1 : 1;
  return Number(left.isStartOpen) - Number(right.isStartOpen);
}

/** Whether no key can lie between the end of `left` and the start of `right`. */
const touches = (left: KeyRange, right: KeyRange): boolean =>
  left.end === undefined ||
  right.start < left.end ||
  (right.start === left.end && !(left.isEndOpen && right.isStartOpen));

function endsLater(left: KeyRange, right: KeyRange): boolean {
  if (left.end === undefined) return true;
  if (right.end === undefined) return false;
  return left.end === right.end ? !left.isEndOpen : left.end > right.end;
}

/** The rows of the ranges, in order or in reverse: each as it is when its turn comes, like a scan of the service. */
export function* rowsIn(index: RowIndex, ranges: readonly KeyRange[], isReversed: boolean): Generator<Row> {
  for (const range of isReversed ? ranges.toReversed() : ranges) {
    const { start, isStartOpen, end, isEndOpen } = range;
    const rows = isReversed ? index.descending(end, isEndOpen) : index.ascending(start, isStartOpen);
    const isInside = isReversed ? isAfterStart : isBeforeEnd;
    for (const row of rows) {
      if (!isInside(row.key, range)) break;
      yield row;
    }
  }
}

const isBeforeEnd = (key: string, { end, isEndOpen }: KeyRange): boolean =>
  end === undefined || key < end || (key === end && !isEndOpen);

const isAfterStart = (key: string, { start, isStartOpen }: KeyRange): boolean =>
  key > start || (key === start && !isStartOpen);
