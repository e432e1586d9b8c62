import { expect, test } from 'vitest';
import { MAX_DURATION_MILLIS } from '../../../../shared/config/units.ts';
import type { ResolvedBulkSink } from '../../../../shared/config/resolved.ts';
import { MINIMAL, linesOf, resolvedSink, withOption, type Options } from '../documents.ts';
import { describeOptions, LONGEST, SIZES, type OptionCase, UNITS } from '../option-cases.ts';

const DEAD_LETTER: Options = { ...MINIMAL, failurePolicy: 'dead-letter', deadLetter: { topic: 'orders-dlq' } };

const deadLetterOf = ({ failure }: ResolvedBulkSink) =>
  failure.policy === 'dead-letter' ? failure.deadLetter : undefined;

const CASES: readonly OptionCase<ResolvedBulkSink>[] = [
  {
    path: 'ordering',
    read: ({ input }) => input.ordering,
    fallback: 'none',
    accepted: [['row', 'row']],
    refused: ['ROW', 'key', true, null],
    rule: 'must be one of "none", "row"',
  },
  {
    path: 'framing',
    read: ({ input }) => input.framing,
    fallback: 'single',
    accepted: [
      ['ndjson', 'ndjson'],
      ['json-array', 'json-array'],
    ],
    refused: ['json_array', 'Single', 1],
    rule: 'must be one of "single", "ndjson", "json-array"',
  },
  {
    path: 'failurePolicy',
    read: ({ failure }) => failure.policy,
    fallback: 'fail',
    accepted: [['log-and-drop', 'log-and-drop']],
    refused: ['logAndDrop', ''],
    rule: 'must be one of "fail", "log-and-drop", "dead-letter"',
  },
  {
    path: 'ackDeadline',
    read: ({ input }) => input.ackDeadlineMillis,
    fallback: 600_000,
    accepted: [
      ['10s', 10_000],
      ['10m', 600_000],
    ],
    refused: ['9s', '601s', '10500ms', '1.5m', '10 s', '-10s', '+10s', '10S', '١٠s'],
    rule: `must be a duration, from 10s to 10m, a multiple of 1s, ${UNITS} "600s"`,
  },
  {
    path: 'deadlineMargin',
    read: ({ input }) => input.deadlineMarginMillis,
    fallback: 5_000,
    accepted: [
      ['0ms', 0],
      ['0s', 0],
      ['599999ms', 599_999],
    ],
    refused: ['-1ms', 'none'],
    rule: `must be a duration, at least 0ms, ${UNITS} "5s"`,
  },
  {
    path: 'metricsFlushInterval',
    read: ({ metricsFlushIntervalMillis }) => metricsFlushIntervalMillis,
    fallback: 10_000,
    accepted: [
      ['0ms', 0],
      [LONGEST, MAX_DURATION_MILLIS],
    ],
    refused: ['', 'PT10S'],
    rule: `must be a duration, at least 0ms, ${UNITS} "10s"`,
  },
  {
    path: 'deadLetter.payload',
    base: DEAD_LETTER,
    read: (sink) => deadLetterOf(sink)?.payload,
    fallback: 'entry',
    accepted: [['record', 'record']],
    refused: ['message'],
    rule: 'must be one of "entry", "record"',
  },
  {
    path: 'deadLetter.maxOutstandingMessages',
    base: DEAD_LETTER,
    read: (sink) => deadLetterOf(sink)?.maxOutstandingMessages,
    fallback: 1_000,
    accepted: [
      [1, 1],
      [10_000, 10_000],
    ],
    refused: [0, 10_001, -1, 1.5, '5', null],
    rule: 'must be a whole number, from 1 to 10,000',
  },
  {
    path: 'deadLetter.flushTimeout',
    base: DEAD_LETTER,
    read: (sink) => deadLetterOf(sink)?.flushTimeoutMillis,
    fallback: 60_000,
    accepted: [
      ['1ms', 1],
      [LONGEST, MAX_DURATION_MILLIS],
    ],
    refused: ['0ms'],
    rule: `must be a duration, at least 1ms, ${UNITS} "60s"`,
  },
  {
    path: 'deadLetter.shutdownTimeout',
    base: DEAD_LETTER,
    read: (sink) => deadLetterOf(sink)?.shutdownTimeoutMillis,
    fallback: 30_000,
    accepted: [
      ['1ms', 1],
      [LONGEST, MAX_DURATION_MILLIS],
    ],
    refused: ['0s'],
    rule: `must be a duration, at least 1ms, ${UNITS} "30s"`,
  },
  {
    path: 'writerOptions.batchElementCountThreshold',
    read: ({ writer }) => writer.batchElementCountThreshold,
    fallback: 500,
    accepted: [
      [1, 1],
      [19_999, 19_999],
    ],
    refused: [0, 20_000, 1.5, '500', Number.NaN, Number.POSITIVE_INFINITY],
    rule: 'must be a whole number, from 1 to 19,999',
  },
  {
    path: 'writerOptions.batchRequestByteThreshold',
    read: ({ writer }) => writer.batchRequestByteThreshold,
    fallback: 4_194_304,
    accepted: [
      ['1B', 1],
      ['104857599B', 104_857_599],
      ['64KiB', 65_536],
      ['99MiB', 103_809_024],
      ['100MB', 100_000_000],
      ['5kB', 5_000],
    ],
    refused: ['0B', '104857600B', '100MiB', '1GiB', '1GB', '4mib', '4 MiB', '4M', '1.5MiB'],
    rule: `must be a size, from 1 B to 104,857,599 B, ${SIZES} "4MiB"`,
  },
  {
    path: 'writerOptions.maxInFlightEntries',
    read: ({ writer }) => writer.maxInFlightEntries,
    fallback: 1_000,
    accepted: [
      [1, 1],
      [20_001, 20_001],
    ],
    refused: [0, -1, 2 ** 53],
    rule: 'must be a whole number, at least 1',
  },
  {
    path: 'writerOptions.maxInFlightBytes',
    read: ({ writer }) => writer.maxInFlightBytes,
    fallback: 67_108_864,
    accepted: [
      ['1B', 1],
      ['2GiB', 2_147_483_648],
    ],
    refused: ['0B', '9007199254740992B'],
    rule: `must be a size, at least 1 B, ${SIZES} "64MiB"`,
  },
  {
    path: 'writerOptions.maxConcurrentBatches',
    read: ({ writer }) => writer.maxConcurrentBatches,
    fallback: 4,
    accepted: [
      [1, 1],
      [100, 100],
    ],
    refused: [0, 101],
    rule: 'must be a whole number, from 1 to 100',
  },
  {
    path: 'writerOptions.linger',
    read: ({ writer }) => writer.lingerMillis,
    fallback: 0,
    accepted: [
      ['0ms', 0],
      ['10s', 10_000],
    ],
    refused: ['10001ms', '11s'],
    rule: `must be a duration, from 0ms to 10s, ${UNITS} "0ms"`,
  },
  {
    path: 'writerOptions.maxConsecutiveRejections',
    read: ({ writer }) => writer.maxConsecutiveRejections,
    fallback: 100,
    accepted: [
      [1, 1],
      [-1, -1],
    ],
    refused: [0, -2, 0.5, '-1'],
    rule: 'must be a whole number, at least 1, or -1 for no limit',
  },
  {
    path: 'writerOptions.rejectionCooldown',
    read: ({ writer }) => writer.rejectionCooldownMillis,
    fallback: 30_000,
    accepted: [
      ['1ms', 1],
      ['1d', 86_400_000],
    ],
    refused: ['0ms'],
    rule: `must be a duration, at least 1ms, ${UNITS} "30s"`,
  },
  {
    path: 'writerOptions.requestTimeout',
    read: ({ writer }) => writer.requestTimeoutMillis,
    fallback: 20_000,
    accepted: [
      ['1ms', 1],
      [LONGEST, MAX_DURATION_MILLIS],
    ],
    refused: ['0ms', '20000us'],
    rule: `must be a duration, at least 1ms, ${UNITS} "20s"`,
  },
  {
    path: 'writerOptions.retryInitialBackoff',
    read: ({ writer }) => writer.retryInitialBackoffMillis,
    fallback: 20,
    accepted: [
      ['1ms', 1],
      ['2s', 2_000],
    ],
    refused: ['0ms'],
    rule: `must be a duration, at least 1ms, ${UNITS} "20ms"`,
  },
  {
    path: 'writerOptions.retryMaxBackoff',
    read: ({ writer }) => writer.retryMaxBackoffMillis,
    fallback: 2_000,
    accepted: [
      ['20ms', 20],
      [LONGEST, MAX_DURATION_MILLIS],
    ],
    refused: ['0ms'],
    rule: `must be a duration, at least 1ms, ${UNITS} "2s"`,
  },
  {
    path: 'writerOptions.recoveryInitialBackoff',
    read: ({ writer }) => writer.recoveryInitialBackoffMillis,
    fallback: 500,
    accepted: [
      ['1ms', 1],
      ['10s', 10_000],
    ],
    refused: ['0ms'],
    rule: `must be a duration, at least 1ms, ${UNITS} "500ms"`,
  },
  {
    path: 'writerOptions.recoveryMaxBackoff',
    read: ({ writer }) => writer.recoveryMaxBackoffMillis,
    fallback: 10_000,
    accepted: [
      ['500ms', 500],
      [LONGEST, MAX_DURATION_MILLIS],
    ],
    refused: ['0ms'],
    rule: `must be a duration, at least 1ms, ${UNITS} "10s"`,
  },
  {
    path: 'writerOptions.recoveryMaxAttempts',
    read: ({ writer }) => writer.recoveryMaxAttempts,
    fallback: 10,
    accepted: [[1, 1]],
    refused: [0, -1, 1.5],
    rule: 'must be a whole number, at least 1',
  },
  {
    path: 'writerOptions.destinationIdleTimeout',
    read: ({ writer }) => writer.destinationIdleTimeoutMillis,
    fallback: 3_600_000,
    accepted: [
      ['1ms', 1],
      [LONGEST, MAX_DURATION_MILLIS],
    ],
    refused: ['0h'],
    rule: `must be a duration, at least 1ms, ${UNITS} "1h"`,
  },
  {
    path: 'writerOptions.maxActiveInstances',
    read: ({ writer }) => writer.maxActiveInstances,
    fallback: 16,
    accepted: [[1, 1]],
    refused: [0, -1],
    rule: 'must be a whole number, at least 1',
  },
  {
    path: 'writerOptions.perDestinationMetrics',
    read: ({ writer }) => writer.perDestinationMetrics,
    fallback: false,
    accepted: [
      [true, true],
      [false, false],
    ],
    refused: ['yes', 1, null],
    rule: 'must be true or false',
  },
  {
    path: 'writerOptions.flowControl',
    read: ({ writer }) => writer.flowControl,
    fallback: true,
    accepted: [[false, false]],
    refused: ['off', 0],
    rule: 'must be true or false',
  },
];

describeOptions(CASES, MINIMAL, resolvedSink);

test.each([
  ['writerOptions.requestTimeout', 20, 'must be a duration with its unit, such as "20ms" or "20s", got 20'],
  ['writerOptions.requestTimeout', '20', 'must be a duration with its unit, such as "20ms" or "20s", got "20"'],
  ['writerOptions.maxInFlightBytes', 64, 'must be a size with its unit, such as "64B" or "64KiB", got 64'],
])('a bare number is refused with the right spelling: %s', (path, written, message) => {
  expect(linesOf(withOption(MINIMAL, path, written))).toEqual([`${path}: ${message}`]);
});
