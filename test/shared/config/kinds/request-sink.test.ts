import { describe, expect, test } from 'vitest';
import type { ResolvedRequestSink } from '../../../../shared/config/resolved.ts';
import { linesOf, resolvedOf, type Options } from '../documents.ts';
import { describeOptions, idRule, type OptionCase } from '../option-cases.ts';
import { REQUEST_OPTION_CASES } from '../request-option-cases.ts';

/** The least that a request sink needs: the requests may name their tables. */
const MINIMAL: Options = { kind: 'request-sink', topic: 'orders', project: 'p', serializer: 'request' };
const DEAD_LETTER: Options = { ...MINIMAL, failurePolicy: 'dead-letter', deadLetter: { topic: 'orders-dlq' } };

const resolved = (options: Options, defaults?: Options): ResolvedRequestSink =>
  resolvedOf('request-sink', options, defaults);

const deadLetterOf = ({ failure }: ResolvedRequestSink) =>
  failure.policy === 'dead-letter' ? failure.deadLetter : undefined;

const CASES: readonly OptionCase<ResolvedRequestSink>[] = [
  ...REQUEST_OPTION_CASES,
  {
    path: 'emptyBranchPolicy',
    read: ({ emptyBranchPolicy }) => emptyBranchPolicy,
    fallback: 'ignore',
    accepted: [['fail', 'fail']],
    refused: ['FAIL', 'drop', true],
    rule: 'must be one of "ignore", "fail"',
  },
  {
    path: 'deadLetter.payload',
    base: DEAD_LETTER,
    read: (sink) => deadLetterOf(sink)?.payload,
    fallback: 'request',
    accepted: [['record', 'record']],
    refused: ['entry'],
    rule: 'must be one of "request", "record"',
  },
  {
    path: 'resultsTopic',
    read: ({ resultsTopic }) => resultsTopic,
    fallback: undefined,
    accepted: [
      ['results', 'projects/p/topics/results'],
      ['projects/q/topics/results', 'projects/q/topics/results'],
    ],
    refused: ['no', 'projects/p/subscriptions/results', 3],
    rule: idRule('topics'),
  },
];

describeOptions(CASES, MINIMAL, resolved);

test('resolves to plain data that survives JSON', () => {
  const sink = resolved(MINIMAL);
  expect(JSON.parse(JSON.stringify(sink))).toEqual(sink);
  expect(sink).toEqual({
    kind: 'request-sink',
    input: {
      topic: 'projects/p/topics/orders',
      subscription: 'projects/p/subscriptions/orders-orders',
      ordering: 'none',
      framing: 'single',
      ackDeadlineMillis: 600_000,
      deadlineMarginMillis: 5_000,
    },
    destination: {},
    access: { mode: 'application-default' },
    metricsFlushIntervalMillis: 10_000,
    serializer: { kind: 'request' },
    failure: { policy: 'fail' },
    requestOptions: {
      requestTimeoutMillis: 20_000,
      maxInFlightRequests: 100,
      destinationIdleTimeoutMillis: 3_600_000,
      maxActiveInstances: 16,
      perDestinationMetrics: false,
    },
    emptyBranchPolicy: 'ignore',
  });
});

test('takes a request, a module or a mapping, and no entry', () => {
  expect(resolved({ ...MINIMAL, serializer: { module: './m.ts' } }).serializer).toEqual({
    kind: 'module',
    module: './m.ts',
  });
  expect(linesOf({ ...MINIMAL, serializer: 'entry' })).toEqual([
    'serializer: must be "request" or a section with "module", got "entry"',
  ]);
});

describe('a mapping', () => {
  const mapping = { rowKey: '${id}', families: { f: { columns: { n: 'int64' } } } };
  const mapped = (writeMode: string, more: Options = {}): Options => ({
    ...MINIMAL,
    instance: 'i',
    table: 't',
    serializer: undefined,
    mapping: { ...mapping, writeMode },
    ...more,
  });

  test.each(['insert-if-absent', 'replace-if-newest', 'increment'])('may have the mode %s', (mode) => {
    expect(resolved(mapped(mode)).serializer).toMatchObject({ kind: 'mapping', mapping: { write: { mode } } });
  });

  test('that has no branches takes no policy for empty ones, not even at its default', () => {
    expect(linesOf(mapped('increment', { emptyBranchPolicy: 'ignore' }))).toEqual([
      'emptyBranchPolicy: does not apply to a request-sink in the mode increment, got "ignore"',
    ]);
  });

  test('that cannot be protected is refused beside replayProtection', () => {
    expect(linesOf(mapped('increment', { replayProtection: { markerFamily: 'm' } }))).toEqual([
      expect.stringMatching(/^mapping\.writeMode: cannot be protected from replays/),
    ]);
    expect(resolved(mapped('insert-if-absent', { replayProtection: { markerFamily: 'm' } })).replayProtection).toEqual({
      markerFamily: 'm',
    });
  });

  test('counts exactly in an aggregate family', () => {
    const families = { sums: { aggregate: 'int64-sum', columns: { n: 'int64' } } };
    const counting = (more: Options): Options =>
      mapped('aggregate', { mapping: { rowKey: '${id}', writeMode: 'aggregate', families }, ...more });
    expect(resolved(counting({ replayProtection: { markerFamily: 'm' } })).serializer.kind).toBe('mapping');
    expect(linesOf(counting({}))).toEqual([
      expect.stringMatching(/; aggregate needs replayProtection\), got "aggregate"$/),
    ]);
    expect(linesOf(counting({ replayProtection: { markerFamily: 'sums' } }))).toEqual([
      'mapping.families.sums: must not be the family of the markers, got "sums"',
    ]);
  });
});

test('markers need a family', () => {
  expect(linesOf({ ...MINIMAL, replayProtection: {} })).toEqual([
    'replayProtection.markerFamily: is required and must be a text, got nothing',
  ]);
  expect(linesOf({ ...MINIMAL, replayProtection: { markerFamily: ' ' } })).toEqual([
    'replayProtection.markerFamily: must not be blank, got " "',
  ]);
  expect(linesOf({ ...MINIMAL, replayProtection: { markerFamily: 'f:q' } })).toEqual([
    'replayProtection.markerFamily: must be 1 to 64 letters, digits, "-", "_" and ".", got "f:q"',
  ]);
});

test.each([
  ['orders', 'its results would come back'],
  ['projects/p/topics/orders', 'its results would come back'],
  ['orders-dlq', 'must not be the topic of dead letters'],
])('results go to a topic of their own: not %s', (resultsTopic, rule) => {
  expect(linesOf({ ...DEAD_LETTER, resultsTopic })).toEqual([expect.stringContaining(rule)]);
});

test.each(['createDisposition', 'tableCreateOptions', 'writerOptions', 'markerFamily', 'commit', 'onRejected'])(
  'has no option %s',
  (option) => {
    expect(linesOf({ ...MINIMAL, [option]: 'x' })).toEqual([
      expect.stringMatching(new RegExp(`^${option}: is not an option here`)),
    ]);
  },
);

test('an empty branch may not fail a message whose replays are answered like one', () => {
  const markers = { replayProtection: { markerFamily: 'm' } };
  expect(linesOf({ ...MINIMAL, ...markers, emptyBranchPolicy: 'fail' }).join()).toContain(
    'emptyBranchPolicy: must be ignore with replayProtection',
  );
  expect(resolved({ ...MINIMAL, ...markers }).emptyBranchPolicy).toBe('ignore');
});
