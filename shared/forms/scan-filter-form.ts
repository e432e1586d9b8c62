import { RE2JS } from 're2js';
import * as z from 'zod';
import { toError } from '../base/errors.ts';
import {
  bytesRangeRule,
  type BytesBound,
  type BytesRange,
  labelRule,
  type ScanFilter,
  structureRule,
} from '../model/filter/scan-filter.ts';
import { PLAIN_FILTERS, someFilters } from './filter-form.ts';
import { bytes, bytesWhere, count, family, LEAF_SCHEMAS, qualifier, textWhere } from './leaves.ts';
import { body, oneOf } from './shapes.ts';

/** Filters of a scan in JSON: those of a request, and whatever else the service filters by. Pure. */

/** Why a pattern is none of RE2, whose characters are bytes; undefined when it is one. */
function patternRule(pattern: Buffer): string | undefined {
  try {
    RE2JS.compile(pattern.toString('latin1').replaceAll(ESCAPING, (part) => (part === ANY_BYTE ? '(?s:.)' : part)));
    return undefined;
  } catch (error) {
    return `must be a pattern of RE2: ${toError(error).message}`;
  }
}

/** What an escape may be part of: quoted text, an escape, a bracket expression. */
const ESCAPING = /\\Q[^]*?(?:\\E|$)|\\[^]|\[\^?\]?(?:\[:[^\]]*:\]|\\[^]|[^\]\\])*\]/g;

/** The one operator of RE2 that the library lacks. */
const ANY_BYTE = String.raw`\C`;

/** The service takes the colon for the end of a family's name. */
const familyPatternRule = (pattern: string): string | undefined =>
  pattern.includes(':') ? 'must hold no colon, got one' : patternRule(Buffer.from(pattern));

const pattern = bytesWhere(patternRule);
const familyPattern = textWhere(familyPatternRule, { minLength: 1 });
const label = textWhere(labelRule, { pattern: '^[a-z0-9-]{1,15}$' });
const mask = bytesWhere((value) => (value.length === 0 ? 'must not be empty, got no byte' : undefined));

/** `start` and `endClosed` are inside, `startOpen` and `end` are not: as in the ranges of row keys. */
const bounds = (of: z.ZodType<Buffer>) => ({
  start: z.exactOptional(of),
  startOpen: z.exactOptional(of),
  end: z.exactOptional(of),
  endClosed: z.exactOptional(of),
});

interface WrittenBounds {
  readonly start?: Buffer;
  readonly startOpen?: Buffer;
  readonly end?: Buffer;
  readonly endClosed?: Buffer;
}

function rangeOf({ start, startOpen, end, endClosed }: WrittenBounds): BytesRange {
  const from = boundOf(start, startOpen);
  const to = boundOf(endClosed, end);
  return { ...(from && { start: from }), ...(to && { end: to }) };
}

const boundOf = (closed: Buffer | undefined, open: Buffer | undefined): BytesBound | undefined =>
  closed ? { bytes: closed, isOpen: false } : open && { bytes: open, isOpen: true };

function boundsProblem(written: WrittenBounds): { readonly path: string[]; readonly message: string } | undefined {
  if (written.start && written.startOpen) return { path: ['startOpen'], message: 'must not be set beside start' };
  if (written.end && written.endClosed) return { path: ['endClosed'], message: 'must not be set beside end' };
  const message = bytesRangeRule(rangeOf(written));
  return message === undefined ? undefined : { path: [], message };
}

function checkBounds({ value, issues }: z.core.ParsePayload<WrittenBounds>): void {
  const problem = boundsProblem(value);
  if (problem) issues.push({ code: 'custom', ...problem, input: value });
}

const inner: z.ZodType<ScanFilter> = z.lazy(() => filter);

/** The service takes no chain or interleave of a single filter; it would be that filter. */
const combined = (kind: 'chain' | 'interleave') =>
  someFilters(inner).transform((filters): ScanFilter => {
    const [only] = filters;
    return only && filters.length === 1 ? only : { kind, filters: Object.freeze(filters) };
  });

/** Refused by a rule of its own: somebody who asks for it has a reason. */
const rowSample = z.unknown().transform((input, context): ScanFilter => {
  const message =
    'is not taken: a scan that goes on after a failure would draw another sample. Sample by a pattern of row keys, or where the messages are read';
  context.issues.push({ code: 'custom', message, input });
  return z.NEVER;
});

LEAF_SCHEMAS.set(rowSample, { not: {} });

const filter: z.ZodType<ScanFilter> = oneOf<ScanFilter>(
  {
    ...PLAIN_FILTERS,
    all: body({}).transform((): ScanFilter => ({ kind: 'all' })),
    rowKeyRegex: pattern.transform((written): ScanFilter => ({ kind: 'rowKeyRegex', pattern: written })),
    familyRegex: familyPattern.transform((written): ScanFilter => ({ kind: 'familyRegex', pattern: written })),
    qualifierRegex: pattern.transform((written): ScanFilter => ({ kind: 'qualifierRegex', pattern: written })),
    valueRegex: pattern.transform((written): ScanFilter => ({ kind: 'valueRegex', pattern: written })),
    columnRange: body({ family, ...bounds(qualifier) })
      .check(checkBounds)
      .transform((written): ScanFilter => ({ kind: 'columnRange', family: written.family, ...rangeOf(written) })),
    valueRange: body(bounds(bytes))
      .check(checkBounds)
      .transform((written): ScanFilter => ({ kind: 'valueRange', ...rangeOf(written) })),
    valueBitmask: mask.transform((written): ScanFilter => ({ kind: 'valueBitmask', mask: written })),
    cellsPerRowOffset: count.transform((written): ScanFilter => ({ kind: 'cellsPerRowOffset', count: written })),
    condition: body({ predicate: inner, then: z.exactOptional(inner), otherwise: z.exactOptional(inner) })
      .check(({ value, issues }) => {
        if (value.then || value.otherwise) return;
        issues.push({ code: 'custom', message: 'must have then or otherwise, got neither', input: value });
      })
      .transform((written): ScanFilter => ({ kind: 'condition', ...written })),
    stripValue: body({}).transform((): ScanFilter => ({ kind: 'stripValue' })),
    label: label.transform((written): ScanFilter => ({ kind: 'label', label: written })),
    sink: body({}).transform((): ScanFilter => ({ kind: 'sink' })),
    chain: combined('chain'),
    interleave: combined('interleave'),
    rowSample,
  },
  'scanFilter',
);

/** A whole filter. */
export const scanFilter: z.ZodType<ScanFilter> = filter.check(({ value, issues }) => {
  // Where a part is refused there is no whole filter to look at.
  const message = issues.length === 0 ? structureRule(value) : undefined;
  if (message !== undefined) issues.push({ code: 'custom', message, input: value });
});
