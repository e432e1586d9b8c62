import { describe, expect, test } from 'vitest';
import type { ResolvedScanSource } from '../../../../shared/config/resolved.ts';
import { encodeFilter } from '../../../../shared/forms/filter-wire.ts';
import { scanFilter } from '../../../../shared/forms/scan-filter-form.ts';
import { linesOf, resolvedOf, type Options } from '../documents.ts';
import { describeOptions, type OptionCase, SIZES, UNITS } from '../option-cases.ts';

/** The least that a scan needs. */
const MINIMAL: Options = {
  kind: 'scan-source',
  project: 'p',
  instance: 'i',
  table: 't',
  outputTopic: 'rows',
};

const resolved = (options: Options, defaults?: Options): ResolvedScanSource =>
  resolvedOf('scan-source', options, defaults);

const CASES: readonly OptionCase<ResolvedScanSource>[] = [
  {
    path: 'parallelism',
    read: ({ slots }) => slots.parallelism,
    fallback: 4,
    accepted: [
      [1, 1],
      [100, 100],
    ],
    refused: [0, 101, 1.5],
    rule: 'must be a whole number, from 1 to 100',
  },
  {
    path: 'sessionLength',
    read: ({ slots }) => slots.sessionLengthMillis,
    fallback: 600_000,
    accepted: [['29m', 1_740_000]],
    refused: ['119s', '30m'],
    rule: `must be a duration, from 2m to 29m, ${UNITS} "10m"`,
  },
  {
    path: 'commitInterval',
    read: ({ slots }) => slots.commitIntervalMillis,
    fallback: 5_000,
    accepted: [['1s', 1_000]],
    refused: ['999ms', '21s'],
    rule: `must be a duration, from 1s to 20s, ${UNITS} "5s"`,
  },
  {
    path: 'maxOutstandingBytes',
    read: ({ slots }) => slots.maxOutstandingBytes,
    fallback: 2 ** 26,
    accepted: [['1MiB', 2 ** 20]],
    refused: ['1023KiB', '2GiB'],
    rule: `must be a size, from 1,048,576 B to 1,073,741,824 B, ${SIZES} "64MiB"`,
  },
  {
    path: 'maxConcurrentSplits',
    read: ({ reading }) => reading.maxConcurrentSplits,
    fallback: 4,
    accepted: [[64, 64]],
    refused: [0, 65],
    rule: 'must be a whole number, from 1 to 64',
  },
  {
    path: 'maxRowsPerSecond',
    read: ({ reading }) => reading.maxRowsPerSecond,
    fallback: undefined,
    accepted: [[1, 1]],
    refused: [0, 'fast'],
    rule: 'must be a whole number, at least 1 row a second',
  },
  {
    path: 'orderingKeys',
    read: ({ emission }) => emission.orderingKeys,
    fallback: 'none',
    accepted: [
      ['row', 'row'],
      [64, 64],
    ],
    refused: [0, 'rows', 100_001],
    rule: 'must be "none", "row" or a whole number from 1 to 100,000',
  },
  {
    path: 'schedule',
    read: ({ runs }) => runs.schedule,
    fallback: undefined,
    accepted: [['0 3 * * 1-5', '0 3 * * 1-5']],
    refused: ['daily', '* * * *', '0 3 * * $'],
    rule: 'must be a schedule of five cron fields, such as "0 3 * * *"',
  },
  {
    path: 'publishEndpoint',
    read: ({ emission }) => emission.endpoint,
    fallback: undefined,
    accepted: [['europe-west1-pubsub.googleapis.com', 'europe-west1-pubsub.googleapis.com']],
    refused: ['https://pubsub.googleapis.com'],
    rule: 'must be host or host:port, such as "europe-west1-pubsub.googleapis.com"',
  },
];

describeOptions(CASES, MINIMAL, resolved);

describe('the selection of a scan', () => {
  test('without any range is the whole table', () => {
    expect(resolved(MINIMAL).selection.ranges).toEqual([]);
  });

  test('holds ranges and prefixes as bytes, whichever way their keys are written', () => {
    const plain = resolved({
      ...MINIMAL,
      ranges: [{ start: 'a', end: 'b' }, { startOpen: 'c' }, { endClosed: 'd' }],
      prefixes: ['eu#'],
    });
    const encoded = resolved({
      ...MINIMAL,
      rowKeyEncoding: 'base64',
      ranges: [{ start: 'YQ==', end: 'Yg==' }, { startOpen: 'Yw==' }, { endClosed: 'ZA==' }],
      prefixes: ['ZXUj'],
    });
    expect(encoded.selection).toEqual(plain.selection);
    expect(plain.selection.ranges).toEqual([
      { start: { kind: 'closed', key: 'YQ==' }, end: { kind: 'open', key: 'Yg==' } },
      { start: { kind: 'open', key: 'Yw==' }, end: { kind: 'unbounded' } },
      { start: { kind: 'unbounded' }, end: { kind: 'closed', key: 'ZA==' } },
      { start: { kind: 'closed', key: 'ZXUj' }, end: { kind: 'open', key: 'ZXUk' } },
    ]);
  });

  test('refuses every range that holds no row or says nothing, all at once', () => {
    const ranges = [
      { start: 'b', end: 'a' },
      { start: 'a', end: 'a' },
      {},
      { start: '' },
      { start: 'a', startOpen: 'a' },
      { end: 'a', endClosed: 'a' },
    ];
    expect(linesOf({ ...MINIMAL, ranges })).toEqual([
      'ranges.0: must hold a row: no key lies in [b, a), got {start, end}',
      'ranges.1: must hold a row: no key lies in [a, a), got {start, end}',
      'ranges.2: must have a start or an end: a range without either is the whole table, got {}',
      'ranges.3.start: must not be empty: leave it out for no bound, got ""',
      'ranges.4.startOpen: must not be set beside start, got "a"',
      'ranges.5.endClosed: must not be set beside end, got "a"',
    ]);
  });

  test('takes no base64 that its bytes are not spelled as', () => {
    const rule = 'must be base64 in the standard alphabet, padded, spelled as its bytes are';
    expect(linesOf({ ...MINIMAL, rowKeyEncoding: 'base64', ranges: [{ start: 'YQ' }], prefixes: ['YR=='] })).toEqual([
      `ranges.0.start: ${rule}, got "YQ"`,
      `prefixes.0: ${rule}, got "YR=="`,
    ]);
  });

  test('includes families or excludes them', () => {
    expect(linesOf({ ...MINIMAL, families: ['a'], excludeFamilies: ['b'] })).toEqual([
      'excludeFamilies: must not be set beside families: name those to read, or those not to, got a list of 1',
    ]);
  });

  test('names families that are names', () => {
    expect(linesOf({ ...MINIMAL, families: ['a', ''], excludeFamilies: [' '] })).toEqual([
      'families.1: must not be blank, got ""',
      'excludeFamilies.0: must not be blank, got " "',
      'excludeFamilies: must not be set beside families: name those to read, or those not to, got a list of 1',
    ]);
  });

  test('has a filter of the service, encoded', () => {
    const { selection } = resolved({ ...MINIMAL, filter: { chain: [{ family: 'f' }, { valueRegex: 'x.*' }] } });
    const encoded = encodeFilter(scanFilter.parse({ chain: [{ family: 'f' }, { valueRegex: 'x.*' }] }));
    expect(selection.filter).toBe(encoded.toString('base64'));
    expect(resolved(MINIMAL).selection.filter).toBeUndefined();
  });

  test('refuses a filter at the places where it is wrong, all at once', () => {
    const filter = { interleave: [{ label: 'Big' }, { valueRegex: '(' }, { rowSample: 0.5 }, { cellsPerRow: 0 }] };
    expect(linesOf({ ...MINIMAL, filter })).toEqual([
      'filter.interleave.0.label: must be 1 to 15 of a-z, 0-9 and "-", got "Big"',
      'filter.interleave.1.valueRegex: must be a pattern of RE2: error parsing regexp: missing closing ): `(`, got "("',
      'filter.interleave.2.rowSample: is not taken: a scan that goes on after a failure would draw another sample. Sample by a pattern of row keys, or where the messages are read, got 0.5',
      'filter.interleave.3.cellsPerRow: must be an integer from 1 to 2^31 − 1, got 0',
    ]);
  });

  test('refuses what a request has no room for, window and families included', () => {
    const families = Array.from({ length: 400 }, (_, number) => `a-family-of-a-long-name-${number}`);
    const room = 'must take at most 20480 bytes with all that a run filters by';
    expect(linesOf({ ...MINIMAL, filter: { valueRegex: 'x'.repeat(20_475) } })).toEqual([`filter: ${room}, got 20511`]);
    expect(resolved({ ...MINIMAL, filter: { valueRegex: 'x'.repeat(20_000) } }).selection.filter).toBeDefined();
    expect(linesOf({ ...MINIMAL, families, filter: { valueRegex: 'x'.repeat(10_000) } })[0]).toMatch(
      /^filter: must take/,
    );
    const more = [...families, ...families.map((family) => `${family}x`)];
    expect(linesOf({ ...MINIMAL, families: more })[0]).toMatch(/^families: must take/);
  });

  test('has a window of timestamps in microseconds, or since the last run', () => {
    const { selection } = resolved({
      ...MINIMAL,
      timestampWindow: { since: '2026-01-31T00:00:00.001Z', until: '2026-01-31T02:00:00+01:00' },
    });
    expect(selection.timestampWindow).toEqual({
      since: { micros: '1769817600001000' },
      untilMicros: '1769821200000000',
      overlapMillis: 300_000,
    });
    const last = resolved({ ...MINIMAL, timestampWindow: { since: 'last-run', overlap: '40m' } });
    expect(last.selection.timestampWindow).toEqual({ since: 'last-run', overlapMillis: 2_400_000 });
  });

  test('refuses a window without time, and times that are none', () => {
    const backwards = { since: '2026-02-01T00:00:00Z', until: '2026-01-31T00:00:00Z' };
    expect(linesOf({ ...MINIMAL, timestampWindow: backwards })).toEqual([
      'timestampWindow.until: must be later than since, got "2026-01-31T00:00:00Z"',
    ]);
    expect(linesOf({ ...MINIMAL, timestampWindow: { since: 'yesterday' } })).toEqual([
      'timestampWindow.since: must be "last-run" or a time of RFC 3339 with its offset, such as "2026-01-31T00:00:00Z", got "yesterday"',
    ]);
  });
});

describe('options of a scan that hang together', () => {
  test('every problem is told at once', () => {
    const wrong = {
      kind: 'scan-source',
      table: 't',
      sessionLength: '2m',
      drainMargin: '90s',
      failurePolicy: 'dead-letter',
      text: 'utf8',
      form: 'entry',
    };
    expect(linesOf(wrong)).toEqual([
      'project: is required because table is a bare table id, got nothing',
      'instance: is required because table is a bare table id, got nothing',
      'text: does not apply to the form "entry", got "utf8"',
      'outputTopic: is required by the form "entry", got nothing',
      'deadLetterTopic: is required by failurePolicy "dead-letter", got nothing',
      'drainMargin: must be at most half of sessionLength, 1m, got "90s"',
    ]);
  });

  test('the form count publishes nothing', () => {
    expect(linesOf({ ...MINIMAL, form: 'count' })).toEqual([
      'outputTopic: must not be set beside the form count, which publishes no rows, got "rows"',
    ]);
    expect(resolved({ kind: 'scan-source', project: 'p', instance: 'i', table: 't', form: 'count' }).form).toEqual({
      kind: 'count',
    });
  });

  test('a module is a form, with options that nobody here checks', () => {
    const form = { module: './my.ts', options: { any: ['thing'] } };
    expect(resolved({ ...MINIMAL, form }).form).toEqual({ kind: 'module', ...form });
    expect(linesOf({ ...MINIMAL, form: { module: ' ' }, text: 'utf8' })).toEqual([
      'form.module: must not be blank, got " "',
      'text: does not apply to the form "module", got "utf8"',
    ]);
    expect(linesOf({ ...MINIMAL, form: 'rows' })).toEqual([
      'form: must be one of "row", "cell", "entry", "mapping", "count" or {module, options}, got "rows"',
    ]);
  });

  test('a mapping is a form where it can be read backwards, and says which families are read', () => {
    const mapping = { rowKey: '${id}', families: { cf: { columns: { a: 'string' } } } };
    expect(resolved({ ...MINIMAL, form: 'mapping', mapping, trailingBytes: 'reject' }).form).toMatchObject({
      kind: 'mapping',
      mapping: { write: { mode: 'upsert' } },
      trailingBytes: 'reject',
    });
    expect(linesOf({ ...MINIMAL, form: 'mapping' })).toEqual([
      'mapping: is required by the form "mapping", got nothing',
    ]);
    expect(linesOf({ ...MINIMAL, mapping, trailingBytes: 'reject' })).toEqual([
      expect.stringContaining('mapping: does not apply to the form "row"'),
      'trailingBytes: does not apply to the form "row", got "reject"',
    ]);
    expect(
      linesOf({ ...MINIMAL, form: 'mapping', mapping: { ...mapping, rowKey: '${id|hash:4}' }, families: ['cf'] }),
    ).toEqual([
      'families: does not apply to the form "mapping", got a list of 1',
      'mapping.rowKey: must hold id in a form that can be read backwards, or a column must: the modifier hash cannot, got "id"',
    ]);
    expect(linesOf({ ...MINIMAL, form: 'mapping', mapping: { ...mapping, rowKey: 1 } })).toEqual([
      expect.stringContaining('mapping.rowKey: '),
    ]);
  });

  test('letters go to a topic of their own, where a policy makes them', () => {
    expect(linesOf({ ...MINIMAL, deadLetterTopic: 'letters' })).toEqual([
      'deadLetterTopic: must not be set unless a policy publishes letters to it, got "letters"',
    ]);
    expect(linesOf({ ...MINIMAL, oversizedRow: 'quarantine', deadLetterTopic: 'projects/p/topics/rows' })).toEqual([
      'deadLetterTopic: must be another topic than outputTopic, got "projects/p/topics/rows"',
    ]);
  });
});
