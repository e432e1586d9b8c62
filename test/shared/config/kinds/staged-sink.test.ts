import { describe, expect, test } from 'vitest';
import type { ResolvedStagedSink, ResolvedStaging } from '../../../../shared/config/resolved.ts';
import { MAX_DURATION_MILLIS } from '../../../../shared/config/units.ts';
import { linesOf, resolvedOf, type Options } from '../documents.ts';
import { describeOptions, idRule, LONGEST, SIZES, type OptionCase, UNITS } from '../option-cases.ts';
import { REQUEST_OPTION_CASES } from '../request-option-cases.ts';

/** The least that a staged sink needs. */
const MINIMAL: Options = {
  kind: 'staged-sink',
  topic: 'orders',
  project: 'p',
  instance: 'i',
  table: 't',
  serializer: 'entry',
  markerFamily: 'markers',
};
const ON_RECEIPT: Options = { ...MINIMAL, commit: 'on-receipt' };

const resolved = (options: Options, defaults?: Options): ResolvedStagedSink =>
  resolvedOf('staged-sink', options, defaults);

const stagingOf = ({ commit }: ResolvedStagedSink): ResolvedStaging | undefined =>
  commit.when === 'on-checkpoint' ? commit : undefined;

const CASES: readonly OptionCase<ResolvedStagedSink>[] = [
  ...REQUEST_OPTION_CASES,
  {
    path: 'commit',
    read: ({ commit }) => commit.when,
    fallback: 'on-checkpoint',
    accepted: [['on-receipt', 'on-receipt']],
    refused: ['onReceipt', true],
    rule: 'must be one of "on-checkpoint", "on-receipt"',
  },
  {
    path: 'markerHorizon',
    read: ({ marker }) => marker.horizonMillis,
    fallback: undefined,
    accepted: [
      ['8d', 691_200_000],
      [LONGEST, MAX_DURATION_MILLIS],
    ],
    refused: ['7d', '691199999ms'],
    rule: `must be a duration, at least 8d, ${UNITS} "30d"`,
  },
  {
    path: 'idAttribute',
    read: ({ idAttribute }) => idAttribute,
    fallback: undefined,
    accepted: [['event-id', 'event-id']],
    refused: [' '],
    rule: 'must not be blank',
  },
  {
    path: 'onRejected',
    read: ({ onRejected }) => onRejected.policy,
    fallback: 'fail',
    accepted: [],
    refused: ['log-and-drop', 'drop'],
    rule: 'must be one of "fail", "dead-letter"',
  },
  {
    path: 'checkpointInterval',
    read: (sink) => stagingOf(sink)?.checkpointIntervalMillis,
    fallback: 10_000,
    accepted: [['1s', 1_000]],
    refused: ['999ms'],
    rule: `must be a duration, at least 1s, ${UNITS} "10s"`,
  },
  {
    path: 'maxStagedEntries',
    read: (sink) => stagingOf(sink)?.maxStagedEntries,
    fallback: 100_000,
    accepted: [[1, 1]],
    refused: [0, -1],
    rule: 'must be a whole number, at least 1',
  },
  {
    path: 'maxStagedBytes',
    read: (sink) => stagingOf(sink)?.maxStagedBytes,
    fallback: 67_108_864,
    accepted: [['1B', 1]],
    refused: ['0B'],
    rule: `must be a size, at least 1 B, ${SIZES} "64MiB"`,
  },
  {
    path: 'commitTopic',
    read: (sink) => stagingOf(sink)?.commitTopic,
    fallback: 'projects/p/topics/orders-orders-commit',
    accepted: [
      ['work', 'projects/p/topics/work'],
      ['projects/q/topics/work', 'projects/q/topics/work'],
    ],
    refused: ['no'],
    rule: idRule('topics'),
  },
  {
    path: 'commitSubscription',
    read: (sink) => stagingOf(sink)?.commitSubscription,
    fallback: 'projects/p/subscriptions/orders-orders-commit',
    accepted: [['work', 'projects/p/subscriptions/work']],
    refused: ['projects/p/topics/work'],
    rule: idRule('subscriptions'),
  },
  {
    path: 'firestoreDatabase',
    read: (sink) => stagingOf(sink)?.firestore.database,
    fallback: '(default)',
    accepted: [['sink', 'sink']],
    refused: [' '],
    rule: 'must not be blank',
  },
];

describeOptions(CASES, MINIMAL, resolved);

test('resolves to plain data that survives JSON', () => {
  const sink = resolved({ ...MINIMAL, markerHorizon: '30d', idAttribute: 'id' });
  expect(JSON.parse(JSON.stringify(sink))).toEqual(sink);
  expect(sink).toMatchObject({
    kind: 'staged-sink',
    input: { subscription: 'projects/p/subscriptions/orders-orders' },
    destination: { table: { project: 'p', instance: 'i', table: 't' } },
    serializer: { kind: 'entry' },
    failure: { policy: 'fail' },
    onRejected: { policy: 'fail' },
    marker: { family: 'markers', horizonMillis: 2_592_000_000 },
    idAttribute: 'id',
    commit: { when: 'on-checkpoint', firestore: { project: 'p', database: '(default)' } },
  });
});

test.each([undefined, ' ', 3])('needs a family for its markers: %j', (markerFamily) => {
  expect(linesOf({ ...MINIMAL, markerFamily })).toEqual([expect.stringMatching(/^markerFamily: /)]);
});

describe('commit on-receipt', () => {
  test('stages nothing', () => {
    expect(resolved(ON_RECEIPT).commit).toEqual({ when: 'on-receipt' });
  });

  test.each([
    ['checkpointInterval', '10s'],
    ['maxStagedEntries', 100_000],
    ['maxStagedBytes', '64MiB'],
    ['commitTopic', 'work'],
    ['commitSubscription', 'work'],
    ['firestoreDatabase', '(default)'],
  ])('has no use for %s, not even at its default', (option, value) => {
    expect(linesOf({ ...ON_RECEIPT, [option]: value })).toEqual([
      expect.stringMatching(new RegExp(`^${option}: does not apply to the commit on-receipt`)),
    ]);
  });

  test('shows what the document says, as it says it', () => {
    expect(linesOf({ ...ON_RECEIPT, checkpointInterval: '1m', maxStagedBytes: '5KiB' })).toEqual([
      expect.stringMatching(/, got "1m"$/),
      expect.stringMatching(/, got "5KiB"$/),
    ]);
  });

  test('does not inherit the database', () => {
    expect(resolved(ON_RECEIPT, { firestoreDatabase: 'sink' }).commit).toEqual({ when: 'on-receipt' });
    expect(stagingOf(resolved(MINIMAL, { firestoreDatabase: 'sink' }))?.firestore.database).toBe('sink');
  });

  test('keeps the order of ordering keys, which checkpoints do not', () => {
    expect(resolved({ ...ON_RECEIPT, ordering: 'row' }).input.ordering).toBe('row');
    expect(linesOf({ ...MINIMAL, ordering: 'row' })).toEqual([
      expect.stringMatching(/^ordering: must be "none" with the commit on-checkpoint: .*, got "row"$/),
    ]);
  });
});

describe('dead letters', () => {
  const deadLetter = { topic: 'orders-dlq' };

  test.each([
    [{ failurePolicy: 'dead-letter' }, 'dead-letter', 'fail'],
    [{ onRejected: 'dead-letter' }, 'fail', 'dead-letter'],
    [{ failurePolicy: 'dead-letter', onRejected: 'dead-letter' }, 'dead-letter', 'dead-letter'],
    [{ failurePolicy: 'log-and-drop', onRejected: 'dead-letter' }, 'log-and-drop', 'dead-letter'],
  ])('come from either policy: %j', (policies, failure, onRejected) => {
    const sink = resolved({ ...MINIMAL, ...policies, deadLetter });
    expect(sink.failure.policy).toBe(failure);
    expect(sink.onRejected.policy).toBe(onRejected);
    const letters = [sink.failure, sink.onRejected].filter((one) => one.policy === 'dead-letter');
    for (const letter of letters) {
      expect(letter.deadLetter).toMatchObject({ topic: 'projects/p/topics/orders-dlq', payload: 'entry' });
    }
  });

  test('need their section, and the section one of the policies', () => {
    expect(linesOf({ ...MINIMAL, failurePolicy: 'dead-letter', onRejected: 'dead-letter' })).toEqual([
      'deadLetter: is required by the failurePolicy dead-letter and onRejected dead-letter, got nothing',
    ]);
    expect(linesOf({ ...MINIMAL, deadLetter })).toEqual([
      'deadLetter: must not be set unless failurePolicy or onRejected is "dead-letter", got {topic}',
    ]);
  });

  test('of the defaults are inherited by either policy', () => {
    expect(resolved({ ...MINIMAL, onRejected: 'dead-letter' }, { deadLetter }).onRejected).toMatchObject({
      deadLetter: { topic: 'projects/p/topics/orders-dlq' },
    });
    expect(resolved(MINIMAL, { deadLetter }).onRejected).toEqual({ policy: 'fail' });
  });
});

describe('the topic of work', () => {
  test('and its subscription belong to the project of the topic where the pipeline names none', () => {
    const table = { project: 'p', instance: 'i', table: 't' };
    const options = { ...MINIMAL, project: undefined, instance: undefined, topic: 'projects/q/topics/orders', table };
    expect(resolved(options).commit).toMatchObject({
      commitTopic: 'projects/q/topics/orders-orders-commit',
      commitSubscription: 'projects/q/subscriptions/orders-orders-commit',
      firestore: { database: '(default)' },
    });
  });

  test.each(['orders', 'projects/p/topics/orders', 'orders-dlq'])('is nobody else’s: not %s', (commitTopic) => {
    const deadLetter = { topic: 'orders-dlq' };
    expect(linesOf({ ...MINIMAL, onRejected: 'dead-letter', deadLetter, commitTopic })).toEqual([
      expect.stringMatching(/^commitTopic: must be a topic of its own/),
    ]);
  });

  test('must be written where its default is too long', () => {
    const topic = `t${'x'.repeat(245)}`;
    const lines = linesOf({ ...MINIMAL, topic });
    expect(lines.map((line) => line.split(':')[0])).toEqual(['commitTopic', 'commitSubscription']);
    expect(stagingOf(resolved({ ...MINIMAL, topic, commitTopic: 'work', commitSubscription: 'work' }))).toBeDefined();
  });
});

describe('a mapping', () => {
  const mapping = { rowKey: '${id}', families: { f: { columns: { n: 'int64' } } } };
  const mapped = (more: Options): Options => ({ ...MINIMAL, serializer: undefined, mapping: { ...mapping, ...more } });

  test.each(['upsert', 'keep-latest'])('may have the mode %s', (writeMode) => {
    expect(resolved(mapped({ writeMode })).serializer).toMatchObject({ mapping: { write: { mode: writeMode } } });
  });

  test('may not write the family of the markers, delete rows, or send requests of its own', () => {
    expect(linesOf(mapped({ families: { markers: mapping.families.f } }))).toEqual([
      'mapping.families.markers: must not be the family of the markers, got "markers"',
    ]);
    expect(linesOf(mapped({ operation: { field: 'op', values: { d: 'delete-row' } } }))).toEqual([
      expect.stringMatching(/^mapping\.operation\.rowDelete: must be declared-families in a staged-sink/),
    ]);
    expect(linesOf(mapped({ writeMode: 'increment' }))).toEqual([
      'mapping.writeMode: must be a mode of staged-sink (upsert, keep-latest, aggregate), got "increment"',
    ]);
  });
});

test.each(['createDisposition', 'tableCreateOptions', 'writerOptions', 'emptyBranchPolicy', 'resultsTopic'])(
  'has no option %s',
  (option) => {
    expect(linesOf({ ...MINIMAL, [option]: 'x' })).toEqual([
      expect.stringMatching(new RegExp(`^${option}: is not an option here`)),
    ]);
  },
);
