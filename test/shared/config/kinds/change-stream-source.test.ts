import { describe, expect, test } from 'vitest';
import type { ResolvedChangeStreamSource, ResolvedPosition } from '../../../../shared/config/resolved.ts';
import { linesOf, type Options, resolvedOf } from '../documents.ts';
import { describeOptions, idRule, type OptionCase, SIZES } from '../option-cases.ts';

/** The least that a source of changes needs. */
const MINIMAL: Options = {
  kind: 'change-stream-source',
  project: 'p',
  instance: 'i',
  appProfileId: 'cdc',
  table: 't',
  outputTopic: 'changes',
};

const textOf = (position: ResolvedPosition): string => Object.values(position).join(' ');

const POSITION_RULE = 'must be "latest", "earliest", {at: time} or {ago: length}';

const CASES: readonly OptionCase<ResolvedChangeStreamSource>[] = [
  {
    path: 'parallelism',
    read: ({ slots }) => slots.parallelism,
    fallback: 2,
    accepted: [[100, 100]],
    refused: [0, 101],
    rule: 'must be a whole number, from 1 to 100',
  },
  {
    path: 'startPosition',
    read: ({ stream }) => textOf(stream.start),
    fallback: 'latest',
    accepted: [
      ['earliest', 'earliest'],
      [{ at: '2026-01-31T01:00:00.000000001+01:00' }, 'at 1769817600000000001'],
      [{ ago: '2h' }, 'ago 7200000'],
    ],
    refused: ['newest', 17, []],
    rule: POSITION_RULE,
  },
  {
    path: 'resumeFallback',
    read: ({ stream }) => stream.fallback && textOf(stream.fallback),
    fallback: undefined,
    accepted: [['earliest', 'earliest']],
    refused: ['newest'],
    rule: POSITION_RULE,
  },
  {
    path: 'boundedTimestamp',
    read: ({ stream }) => stream.endNanos,
    fallback: undefined,
    accepted: [['2026-01-31T00:00:00.5Z', '1769817600500000000']],
    refused: ['2026-01-31', '2026-01-31T00:00:00', '1969-12-31T23:59:59Z', '2026-13-31T00:00:00Z'],
    rule: 'must be a time of RFC 3339 with its offset, such as "2026-01-31T00:00:00Z"',
  },
  {
    path: 'maxConcurrentStreams',
    read: ({ stream }) => stream.maxConcurrentStreams,
    fallback: 16,
    accepted: [
      [1, 1],
      [256, 256],
    ],
    refused: [0, 257],
    rule: 'must be a whole number, from 1 to 256',
  },
  {
    path: 'maxMutationBytes',
    read: ({ stream }) => stream.maxMutationBytes,
    fallback: 2 ** 26,
    accepted: [['1MiB', 2 ** 20]],
    refused: ['1023KiB', '257MiB'],
    rule: `must be a size, from 1,048,576 B to 268,435,456 B, ${SIZES} "64MiB"`,
  },
  {
    path: 'preflight',
    read: ({ stream }) => stream.preflight,
    fallback: 'strict',
    accepted: [
      ['warn', 'warn'],
      ['off', 'off'],
    ],
    refused: ['maybe'],
    rule: 'must be one of "strict", "warn", "off"',
  },
  {
    path: 'skipMessagesWithoutChange',
    base: { ...MINIMAL, collected: 'drop' },
    read: ({ stream }) => stream.filter?.skipMessagesWithoutChange,
    fallback: false,
    accepted: [[true, true]],
    refused: ['yes'],
    rule: 'must be true or false',
  },
  {
    path: 'collected',
    read: ({ stream }) => stream.filter?.collected,
    fallback: undefined,
    accepted: [['drop', 'drop']],
    refused: ['keep'],
    rule: 'must be one of "include", "drop"',
  },
  {
    path: 'sourceClusters',
    read: ({ stream }) => stream.filter?.sourceClusters?.join(' '),
    fallback: undefined,
    accepted: [
      [['c1', 'c2'], 'c1 c2'],
      [[], undefined],
    ],
    refused: ['c1'],
    rule: 'must be a list of texts',
  },
  ...[
    ['familyIncludeList', 'families', 'include'] as const,
    ['familyExcludeList', 'families', 'exclude'] as const,
    ['qualifierIncludeList', 'qualifiers', 'include'] as const,
    ['qualifierExcludeList', 'qualifiers', 'exclude'] as const,
  ].map(([path, dimension, mode]) => ({
    path,
    read: ({ stream }: ResolvedChangeStreamSource) => {
      const list = stream.filter?.[dimension];
      return list && [list.mode, ...list.patterns].join(' ');
    },
    fallback: undefined,
    accepted: [
      [['a.*', 'b'], `${mode} a.* b`],
      [[], undefined],
    ] as const,
    refused: ['a.*'],
    rule: 'must be a list of texts',
  })),
  {
    path: 'orderingKeys',
    read: ({ emission }) => emission.orderingKeys,
    fallback: 64,
    accepted: [
      ['row', 'row'],
      ['none', 'none'],
      [1024, 1024],
    ],
    refused: [0, 'rows', 100_001],
    rule: 'must be "none", "row" or a whole number from 1 to 100,000',
  },
];

describeOptions(CASES, MINIMAL, (options) => resolvedOf('change-stream-source', options));

describe('a source of changes', () => {
  test('needs a table, a topic and an app profile, told all at once', () => {
    expect(linesOf({ kind: 'change-stream-source', project: 'p', instance: 'i' })).toEqual([
      `outputTopic: is required and ${idRule('topics')}, got nothing`,
      'table: is required, got nothing',
      'appProfileId: is required: the service gives changes only by a profile that routes to one cluster, got nothing',
    ]);
  });

  test('names each wrong part of a position at its own path', () => {
    const lines = linesOf({ ...MINIMAL, startPosition: { at: 'yesterday' } });
    expect(lines).toEqual([
      'startPosition.at: must be a time of RFC 3339 with its offset, such as "2026-01-31T00:00:00Z", got "yesterday"',
    ]);
  });

  test('hands everything on where no option says otherwise, so that nothing is loaded for a filter', () => {
    const skip = { ...MINIMAL, skipMessagesWithoutChange: true, collected: 'include' };
    expect(resolvedOf('change-stream-source', skip).stream.filter).toBeUndefined();
  });

  test('refuses include beside exclude, patterns that are none of RE2 and blank clusters, each at its path and all at once', () => {
    const rule = 'must be a regular expression of RE2, which has no look-around and no back reference';
    const lines = linesOf({
      ...MINIMAL,
      familyIncludeList: ['a', 'a(?=b)'],
      familyExcludeList: ['('],
      qualifierIncludeList: ['(a)\\1'],
      qualifierExcludeList: ['.*'],
      sourceClusters: ['c1', ' '],
    });
    expect(lines).toEqual([
      'familyExcludeList: must not be set beside familyIncludeList: name those to hand on, or those to leave out, got a list of 1',
      'qualifierExcludeList: must not be set beside qualifierIncludeList: name those to hand on, or those to leave out, got a list of 1',
      `familyIncludeList.1: ${rule}, got "a(?=b)"`,
      `familyExcludeList.0: ${rule}, got "("`,
      `qualifierIncludeList.0: ${rule}, got "(a)\\\\1"`,
      'sourceClusters.1: must not be blank, got " "',
    ]);
  });

  test('refuses what is no text in a list at its own place', () => {
    expect(linesOf({ ...MINIMAL, qualifierExcludeList: ['a', 7] })).toEqual([
      'qualifierExcludeList.1: must be a text, got 7',
    ]);
  });
});
