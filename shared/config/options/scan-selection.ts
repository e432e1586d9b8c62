import * as z from 'zod';
import { encodeFilter, encodeInTurn } from '../../forms/filter-wire.ts';
import { scanFilter } from '../../forms/scan-filter-form.ts';
import { bytesOfBase64 } from '../../model/bytes.ts';
import { MAX_FILTER_BYTES } from '../../model/filter/scan-filter.ts';
import { shapeFilter } from '../../model/filter/shape-filter.ts';
import { MAX_INT64 } from '../../model/int64.ts';
import { familyRule } from '../../model/mutation-rules.ts';
import { type Bound, formatRange, isEmptyRange, prefixRange, type RowRange } from '../../model/row-range.ts';
import { choice, declare, flag, optional, type Output, text } from '../option.ts';
import { duration } from '../quantity.ts';
import type { BrokenRule, Rule } from '../rules.ts';

/** Which rows a scan reads, and what of them. */

const endpoint = (about: string) => optional(z.string().meta({ description: about }));

const rangeSection = z.strictObject({
  start: endpoint('First row key, itself included. Without it and startOpen the range begins with the table.'),
  startOpen: endpoint('Row key after which the range begins, itself not included.'),
  end: endpoint(
    'Row key at which the range ends, itself not included. Without it and endClosed it ends with the table.',
  ),
  endClosed: endpoint('Last row key, itself included.'),
});

type WrittenRange = z.output<typeof rangeSection>;

const SINCE_LAST_RUN = 'last-run';

const timeProblem = (value: string): string | undefined =>
  microsOf(value) === undefined
    ? 'must be a time of RFC 3339 with its offset, such as "2026-01-31T00:00:00Z"'
    : undefined;

const windowSection = z.strictObject({
  since: optional(
    text(
      'Oldest timestamp, itself included: a time of RFC 3339, or "last-run" for the start of the last completed run less overlap. The first run then reads everything. Older timestamps that are written later are missed, and so are deletes.',
      (value) =>
        value === SINCE_LAST_RUN ? undefined : timeProblem(value)?.replace('must be', 'must be "last-run" or'),
      '"last-run" or a time of RFC 3339',
    ),
  ),
  until: optional(text('First timestamp that is not read: a time of RFC 3339.', timeProblem, 'a time of RFC 3339')),
  overlap: duration(
    'Taken off the start of the last completed run: cells written shortly before it may not have been visible to it. Above 35 minutes with a Data Boost profile.',
    { default: '5m', min: '0ms' },
  ),
});

/** Anything here; a rule reads it as a filter and reports all of its problems, each at its own path. */
export const filterValue = z.custom<unknown>();

export const selectionOptions = {
  rowKeyEncoding: choice(
    'How row keys are written in ranges and prefixes: as the text that they are, or as base64 of their bytes, padded and in the standard alphabet.',
    ['utf8', 'base64'],
    'utf8',
  ),
  ranges: declare(
    z.array(rangeSection).prefault([]),
    'Ranges of row keys, each a section with start or startOpen, and end or endClosed. Together with prefixes they are united, so that a row in several of them is read once. Without any the whole table is read.',
    { type: 'list', default: '[]', bounds: '{start or startOpen, end or endClosed}' },
  ),
  prefixes: declare(
    z.array(z.string({ error: 'must be a text' })).prefault([]),
    'Prefixes of row keys, united with ranges. An empty prefix is the whole table.',
    { type: 'list', default: '[]', bounds: 'texts' },
  ),
  families: declare(
    z.array(z.string({ error: 'must be a text' })).prefault([]),
    'Column families to read; without any, all of them. A row without a cell in them is no row of the scan.',
    { type: 'list', default: '[]', bounds: 'names of families' },
  ),
  excludeFamilies: declare(
    z.array(z.string({ error: 'must be a text' })).prefault([]),
    'Column families not to read. Not beside families.',
    { type: 'list', default: '[]', bounds: 'names of families' },
  ),
  latestOnly: flag('Whether only the latest version of each column is read.', false),
  filter: declare(
    optional(filterValue),
    'A filter of the service, over what families, timestampWindow and latestOnly leave. The page scan-source.md has all of them.',
    { type: 'section', bounds: 'see scan-source.md' },
  ),
  timestampWindow: declare(optional(windowSection), 'Reads only cells whose timestamps lie in it.', {
    type: 'section',
  }),
};

export type SelectionOptions = Output<typeof selectionOptions>;

/** One end of a range, with its key as base64. */
export type ResolvedBound = { readonly kind: 'unbounded' } | { readonly kind: 'closed' | 'open'; readonly key: string };

export interface ResolvedRange {
  readonly start: ResolvedBound;
  readonly end: ResolvedBound;
}

export interface ResolvedSelection {
  /** As written, not united. Empty: the whole table. */
  readonly ranges: readonly ResolvedRange[];
  readonly families: readonly string[];
  readonly excludeFamilies: readonly string[];
  readonly latestOnly: boolean;
  readonly timestampWindow?: ResolvedWindow;
  /** The encoded `google.bigtable.v2.RowFilter`, as base64. */
  readonly filter?: string;
}

/** Timestamps in microseconds, as decimal texts. */
export interface ResolvedWindow {
  readonly since?: 'last-run' | { readonly micros: string };
  readonly untilMicros?: string;
  readonly overlapMillis: number;
}

export function selectionOf(options: SelectionOptions): ResolvedSelection {
  const { rowKeyEncoding, ranges, prefixes, families, excludeFamilies, latestOnly, timestampWindow, filter } = options;
  const decode = decoderOf(rowKeyEncoding);
  const all = [
    ...ranges.map((range) => rangeOf(range, decode)),
    ...prefixes.map((prefix) => prefixRange(decode(prefix) as Buffer)),
  ];
  return {
    ranges: all.map(({ start, end }) => ({ start: boundText(start), end: boundText(end) })),
    families,
    excludeFamilies,
    latestOnly,
    ...(timestampWindow && { timestampWindow: windowOf(timestampWindow) }),
    ...(filter !== undefined && { filter: encodeFilter(scanFilter.parse(filter)).toString('base64') }),
  };
}

const boundText = (bound: Bound): ResolvedBound =>
  bound.kind === 'unbounded' ? bound : { kind: bound.kind, key: bound.key.toString('base64') };

function windowOf({ since, until, overlap }: z.output<typeof windowSection>): ResolvedWindow {
  return {
    ...(since !== undefined && {
      since: since === SINCE_LAST_RUN ? since : { micros: String(microsOf(since)) },
    }),
    ...(until !== undefined && { untilMicros: String(microsOf(until)) }),
    overlapMillis: overlap,
  };
}

/** Undefined where the text is no encoding of bytes. */
type Decode = (text: string) => Buffer | undefined;

const decoderOf = (encoding: 'utf8' | 'base64'): Decode =>
  encoding === 'utf8' ? (text) => Buffer.from(text) : canonicalBase64;

/** Only the spelling that the bytes themselves have: two spellings of one key would be taken for two. */
function canonicalBase64(text: string): Buffer | undefined {
  const bytes = bytesOfBase64(text);
  return bytes?.toString('base64') === text ? bytes : undefined;
}

const rangeOf = (range: WrittenRange, decode: Decode): RowRange => ({
  start: boundOf(range.start, range.startOpen, 'closed', 'open', decode),
  end: boundOf(range.endClosed, range.end, 'closed', 'open', decode),
});

function boundOf(
  closed: string | undefined,
  open: string | undefined,
  closedKind: 'closed',
  openKind: 'open',
  decode: Decode,
): Bound {
  if (closed !== undefined) return { kind: closedKind, key: decode(closed) as Buffer };
  if (open !== undefined) return { kind: openKind, key: decode(open) as Buffer };
  return { kind: 'unbounded' };
}

/** Microseconds since the epoch of a time of RFC 3339, at most three digits of a second: timestamps of a filter are whole milliseconds; undefined where it is none. */
function microsOf(text: string): bigint | undefined {
  const match = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,3}))?(Z|[+-]\d{2}:\d{2})$/.exec(text);
  if (!match) return undefined;
  const millis = Date.parse(`${String(match[1])}${String(match[3])}`);
  if (Number.isNaN(millis) || millis < 0) return undefined;
  return (BigInt(millis) + BigInt((match[2] ?? '').padEnd(3, '0'))) * 1000n;
}

const ENDS = ['start', 'startOpen', 'end', 'endClosed'] as const;

export const selectionRules: readonly Rule<SelectionOptions>[] = [
  function filterIsOne({ options: { filter } }) {
    if (filter === undefined) return [];
    const issues = scanFilter.safeParse(filter).error?.issues ?? [];
    return issues.map(({ path, message }) => ({
      at: ['filter', ...(path as (string | number)[])],
      // The value stands beside the rule here.
      rule: message.replace(/, got [^,]*$/, ''),
    }));
  },
  function filterFitsIntoRequests({ options: { filter, families = [], excludeFamilies = [], latestOnly = false } }) {
    const { data, success } = scanFilter.safeParse(filter ?? { all: {} });
    if (!success || [...families, ...excludeFamilies].some(familyRule)) return [];
    const shape = shapeFilter({ families, excludeFamilies, latestOnly }, WIDEST_WINDOW);
    const size = encodeInTurn([shape, data])?.length ?? 0;
    if (size <= MAX_FILTER_BYTES) return [];
    const at = filter === undefined ? (families.length > 0 ? 'families' : 'excludeFamilies') : 'filter';
    return [
      { at: [at], rule: `must take at most ${MAX_FILTER_BYTES} bytes with all that a run filters by`, got: size },
    ];
  },
  function rangesHoldRows({ options: { rowKeyEncoding, ranges = [] } }) {
    if (rowKeyEncoding === undefined) return [];
    const decode = decoderOf(rowKeyEncoding);
    return ranges.flatMap((range, index) => rangeProblems(range, decode, ['ranges', index]));
  },
  function prefixesAreKeys({ options: { rowKeyEncoding, prefixes = [] } }) {
    if (rowKeyEncoding === undefined) return [];
    const decode = decoderOf(rowKeyEncoding);
    return prefixes.flatMap((prefix, index) =>
      decode(prefix) ? [] : [{ at: ['prefixes', index], rule: BASE64_RULE, got: prefix }],
    );
  },
  function familiesAreNames({ options }) {
    return (['families', 'excludeFamilies'] as const).flatMap((name) =>
      (options[name] ?? []).flatMap((family, index) =>
        familyRule(family) === undefined ? [] : [{ at: [name, index], rule: 'must not be blank' }],
      ),
    );
  },
  function familiesAreIncludedOrExcluded({ options: { families = [], excludeFamilies = [] } }) {
    if (families.length === 0 || excludeFamilies.length === 0) return [];
    return [{ at: ['excludeFamilies'], rule: 'must not be set beside families: name those to read, or those not to' }];
  },
  function windowHoldsTime({ options: { timestampWindow: window } }) {
    if (window?.since === undefined || window.until === undefined || window.since === SINCE_LAST_RUN) return [];
    const since = microsOf(window.since);
    const until = microsOf(window.until);
    if (since === undefined || until === undefined || since < until) return [];
    return [{ at: ['timestampWindow', 'until'], rule: 'must be later than since', got: window.until }];
  },
];

/** Whatever the window is when a run starts, its filter takes no more. */
const WIDEST_WINDOW = { sinceMicros: (MAX_INT64 / 1000n - 1n) * 1000n, untilMicros: (MAX_INT64 / 1000n) * 1000n };

const BASE64_RULE = 'must be base64 in the standard alphabet, padded, spelled as its bytes are';

function rangeProblems(range: Partial<WrittenRange>, decode: Decode, at: readonly (string | number)[]): BrokenRule[] {
  const given = ENDS.filter((end) => range[end] !== undefined);
  if (given.length === 0)
    return [{ at, rule: 'must have a start or an end: a range without either is the whole table' }];
  const problems: BrokenRule[] = [];
  if (range.start !== undefined && range.startOpen !== undefined) {
    problems.push({ at: [...at, 'startOpen'], rule: 'must not be set beside start' });
  }
  if (range.end !== undefined && range.endClosed !== undefined) {
    problems.push({ at: [...at, 'endClosed'], rule: 'must not be set beside end' });
  }
  for (const end of given) {
    const written = range[end] as string;
    const key = decode(written);
    if (!key) problems.push({ at: [...at, end], rule: BASE64_RULE, got: written });
    else if (key.length === 0)
      problems.push({ at: [...at, end], rule: 'must not be empty: leave it out for no bound' });
  }
  if (problems.length > 0) return problems;
  const read = rangeOf(range, decode);
  if (!isEmptyRange(read)) return [];
  return [{ at, rule: `must hold a row: no key lies in ${formatRange(read)}` }];
}
