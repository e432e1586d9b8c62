import * as z from 'zod';
import { choice, declare, notBlank, optional, type Output, ruled, text } from '../option.ts';
import { count, duration, size } from '../quantity.ts';
import type { Rule } from '../rules.ts';
import { formName } from './scan-form.ts';

/** How a scan reads, and when it runs. What it reads is `scan-selection.ts`. */

/** Five fields of numbers, ranges, lists and steps; Cloud Scheduler checks the rest. */
const CRON = /^(\S+\s+){4}\S+$/;
const CRON_FIELD = /^[0-9A-Za-z*,/-]+$/;

const cronProblem = (value: string): string | undefined =>
  notBlank(value) ??
  (CRON.test(value) && value.split(/\s+/).every((field) => CRON_FIELD.test(field))
    ? undefined
    : 'must be a schedule of five cron fields, such as "0 3 * * *"');

const rate = (about: string, unit: string) =>
  declare(
    optional(
      z
        .int(ruled(`must be a whole number, at least 1 ${unit} a second`))
        .min(1, ruled(`must be a whole number, at least 1 ${unit} a second`)),
    ),
    `${about} Each slot takes its share. Without it, as fast as it goes.`,
    {
      type: 'number',
      bounds: `at least 1 ${unit} a second`,
    },
  );

export const scanReadOptions = {
  maxConcurrentSplits: count('Splits that a slot reads at the same time.', { default: 4, min: 1, max: 64 }),
  maxRowsPerFetch: count('Most rows taken from a split before another one has its turn.', {
    default: 1000,
    min: 1,
    max: 1_000_000,
  }),
  maxBytesPerFetch: size('Most bytes of rows taken from a split before another one has its turn.', {
    default: '8MiB',
    min: 1,
    max: 2 ** 30,
  }),
  idleTimeout: duration('How long a stream may say nothing before it is opened again after the last row.', {
    default: '5m',
    min: '10s',
    max: '1h',
  }),
  maxRowsPerSecond: rate('Rows read per second over all slots, to protect a cluster that serves others.', 'row'),
  maxBytesPerSecond: declare(
    optional(
      size(
        'Bytes of rows read per second over all slots, to protect a cluster that serves others. Each slot takes its share. Without it, as fast as it goes.',
        {
          default: '1GiB',
          min: 1024,
        },
      ).unwrap(),
    ),
    'Bytes of rows read per second over all slots, to protect a cluster that serves others. Each slot takes its share. Without it, as fast as it goes.',
    { type: 'size', bounds: 'at least 1,024 B' },
  ),
  oversizedRow: choice(
    'Policy for a row that the service will not read, above 256 MiB: the run stops at it and names its key, or a letter with the key is confirmed by deadLetterTopic and the run goes past it.',
    ['fail', 'quarantine'],
    'fail',
  ),
};

export const runOptions = {
  schedule: optional(
    text(
      'When a run starts by itself: five cron fields, in UTC. Without it runs are started by POST to readScan or by "connector scan start".',
      cronProblem,
      'five cron fields',
    ),
  ),
  concurrentRuns: choice(
    'Whether a run may start while another one of the pipeline reads.',
    ['refuse', 'allow'],
    'refuse',
  ),
};

export type ScanOptions = Output<typeof scanReadOptions & typeof runOptions>;

export interface ResolvedScanReading {
  readonly maxConcurrentSplits: number;
  readonly maxRowsPerFetch: number;
  readonly maxBytesPerFetch: number;
  readonly idleTimeoutMillis: number;
  readonly maxRowsPerSecond?: number;
  readonly maxBytesPerSecond?: number;
  readonly oversizedRow: 'fail' | 'quarantine';
}

export interface ResolvedRuns {
  /** Five cron fields, in UTC. Absent: runs are started by people and programs. */
  readonly schedule?: string;
  readonly concurrentRuns: 'refuse' | 'allow';
}

export const readingOf = (options: ScanOptions): ResolvedScanReading => ({
  maxConcurrentSplits: options.maxConcurrentSplits,
  maxRowsPerFetch: options.maxRowsPerFetch,
  maxBytesPerFetch: options.maxBytesPerFetch,
  idleTimeoutMillis: options.idleTimeout,
  ...(options.maxRowsPerSecond !== undefined && { maxRowsPerSecond: options.maxRowsPerSecond }),
  ...(options.maxBytesPerSecond !== undefined && { maxBytesPerSecond: options.maxBytesPerSecond }),
  oversizedRow: options.oversizedRow,
});

export const runsOf = ({ schedule, concurrentRuns }: ScanOptions): ResolvedRuns => ({
  ...(schedule !== undefined && { schedule }),
  concurrentRuns,
});

/** A scan hands on at least something, or counts. */
export const scanRules: readonly Rule<{
  readonly outputTopic?: string | undefined;
  readonly form: string | object;
}>[] = [
  function outputFitsTheForm({ options, isSet }) {
    if (options.form === undefined) return [];
    const form = formName(options.form);
    if (form === 'count') {
      return isSet('outputTopic')
        ? [{ at: ['outputTopic'], rule: 'must not be set beside the form count, which publishes no rows' }]
        : [];
    }
    return isSet('outputTopic')
      ? []
      : [{ at: ['outputTopic'], rule: `is required by the form ${JSON.stringify(form)}` }];
  },
];
