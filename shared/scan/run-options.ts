import type {
  ResolvedEmission,
  ResolvedScanForm,
  ResolvedScanReading,
  ResolvedScanSource,
} from '../config/resolved.ts';
import type { TimestampWindow } from '../model/filter/shape-filter.ts';
import { type Bound, normaliseRange, type RowRange } from '../model/row-range.ts';
import type { TableName } from '../model/table-name.ts';
import type { RunOptions } from './runs/run.ts';
import { cutAtBounds } from './count-ranges.ts';
import { rangesOf, writtenRanges } from './selection.ts';

/** What is frozen of a configuration when a run starts: a deployment in the middle of it changes nothing. Pure. */

/** Version of the document. A newer one is refused: what it means is not known. */
export const OPTIONS_FORMAT = 1;

export interface FrozenRun {
  readonly table: TableName;
  /** Empty: the instance's default profile. */
  readonly appProfileId: string;
  /** United and in order; of the form `count` cut where one of those that were written begins or ends. */
  readonly ranges: readonly RowRange[];
  /** Of the form `count`: the ranges and prefixes that were written, for each of which it counts. */
  readonly counted?: readonly RowRange[];
  /** The encoded `google.bigtable.v2.RowFilter`; absent: every cell. */
  readonly filter?: Buffer;
  readonly form: ResolvedScanForm;
  readonly emission: ResolvedEmission;
  readonly oversizedRow: ResolvedScanReading['oversizedRow'];
  /** Timestamps that are read. */
  readonly window: TimestampWindow;
}

/** @param filter made of the selection and the window, encoded. */
export const frozenRun = (
  { table, appProfileId = '', selection, form, emission, reading }: ResolvedScanSource,
  window: TimestampWindow,
  filter: Buffer | undefined,
): FrozenRun => ({
  table,
  appProfileId,
  ...rangesRead(selection, form),
  ...(filter && { filter }),
  form,
  emission,
  oversizedRow: reading.oversizedRow,
  window,
});

function rangesRead(
  selection: ResolvedScanSource['selection'],
  form: ResolvedScanForm,
): Pick<FrozenRun, 'ranges' | 'counted'> {
  const ranges = rangesOf(selection);
  if (form.kind !== 'count') return { ranges };
  const counted = writtenRanges(selection);
  return { ranges: cutAtBounds(ranges, counted), counted };
}

/**
 * The timestamps that a run reads.
 *
 * @param lastStartedAt when the last run that is done was started; undefined: there was none, and everything is read.
 */
export function windowOf(
  { timestampWindow: window }: ResolvedScanSource['selection'],
  lastStartedAt: number | undefined,
): TimestampWindow {
  if (!window) return {};
  const { since, untilMicros, overlapMillis } = window;
  const until = untilMicros === undefined ? {} : { untilMicros: BigInt(untilMicros) };
  if (since === undefined) return until;
  if (since !== 'last-run') return { sinceMicros: BigInt(since.micros), ...until };
  if (lastStartedAt === undefined) return until;
  return { sinceMicros: BigInt(Math.max(0, lastStartedAt - overlapMillis)) * 1000n, ...until };
}

/** As a document: bytes as base64, int64 as text. */
export function writeRunOptions({ ranges, counted, filter, window, ...plain }: FrozenRun): RunOptions {
  const { sinceMicros, untilMicros } = window;
  return JSON.stringify({
    format: OPTIONS_FORMAT,
    ...plain,
    ranges: ranges.map(rangeJson),
    ...(counted && { counted: counted.map(rangeJson) }),
    ...(filter && { filter: filter.toString('base64') }),
    window: {
      ...(sinceMicros !== undefined && { sinceMicros: String(sinceMicros) }),
      ...(untilMicros !== undefined && { untilMicros: String(untilMicros) }),
    },
  });
}

interface Written extends Omit<FrozenRun, 'ranges' | 'counted' | 'filter' | 'window'> {
  readonly format: number;
  readonly ranges: readonly RangeJson[];
  readonly counted?: readonly RangeJson[];
  readonly filter?: string;
  readonly window: { readonly sinceMicros?: string; readonly untilMicros?: string };
}

/** @throws {Error} where the document is of a newer format. */
export function readRunOptions(text: RunOptions): FrozenRun {
  const { format, ranges, counted, filter, window, ...plain } = JSON.parse(text) as Written;
  if (format !== OPTIONS_FORMAT) {
    throw new Error(
      `the run was started with options of format ${format}, and this version reads ${OPTIONS_FORMAT}: deploy the version that started it, or cancel the run`,
    );
  }
  const { sinceMicros, untilMicros } = window;
  return {
    ...plain,
    ranges: ranges.map(rangeOf),
    ...(counted && { counted: counted.map(rangeOf) }),
    ...(filter !== undefined && { filter: Buffer.from(filter, 'base64') }),
    window: {
      ...(sinceMicros !== undefined && { sinceMicros: BigInt(sinceMicros) }),
      ...(untilMicros !== undefined && { untilMicros: BigInt(untilMicros) }),
    },
  };
}

type BoundJson = { readonly kind: 'unbounded' } | { readonly kind: 'closed' | 'open'; readonly key: string };

interface RangeJson {
  readonly start: BoundJson;
  readonly end: BoundJson;
}

const rangeJson = ({ start, end }: RowRange): RangeJson => ({ start: boundJson(start), end: boundJson(end) });

const rangeOf = ({ start, end }: RangeJson): RowRange => normaliseRange({ start: boundOf(start), end: boundOf(end) });

const boundJson = (bound: Bound): BoundJson =>
  bound.kind === 'unbounded' ? { kind: 'unbounded' } : { kind: bound.kind, key: bound.key.toString('base64') };

const boundOf = (bound: BoundJson): Bound =>
  bound.kind === 'unbounded' ? bound : { kind: bound.kind, key: Buffer.from(bound.key, 'base64') };
