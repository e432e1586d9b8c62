import * as z from 'zod';
import { declare, flag, type Output } from '../option.ts';
import { formatPath, type Path } from '../problems.ts';
import { count, duration, type InMillis, inMillis, size } from '../quantity.ts';
import type { Readable } from '../read.ts';
import type { Rule } from '../rules.ts';
import { formatDuration } from '../units.ts';

/**
 * How rows are batched and sent. Ceilings of one batch lie one below the budget of the official clients (20,000 entries
 * and 100 MiB in flight), so that a batch always fits it.
 */

/** Above these the instance's memory, not the option, is what bounds the sink: that works, and is worth a warning. */
const IN_FLIGHT_WARNINGS = { maxInFlightEntries: 20_000, maxInFlightBytes: 104_857_600 } as const;

const writerSection = z.strictObject({
  batchElementCountThreshold: count('Entries that send a batch. A batch never holds more than 100,000 mutations.', {
    default: 500,
    min: 1,
    max: IN_FLIGHT_WARNINGS.maxInFlightEntries - 1,
  }),
  batchRequestByteThreshold: size(
    'Serialized size that sends a batch. A larger entry travels alone; it is not refused here.',
    { default: '4MiB', min: 1, max: IN_FLIGHT_WARNINGS.maxInFlightBytes - 1 },
  ),
  maxInFlightEntries: count(
    'Entries admitted and not yet answered, per instance and over all tables. Admission tests "below the cap"; above 20,000 it warns.',
    { default: 1_000, min: 1 },
  ),
  maxInFlightBytes: size(
    'Serialized size of the entries admitted and not yet answered, per instance. One oversized entry may exceed it; above 100MiB it warns.',
    { default: '64MiB', min: 1 },
  ),
  maxConcurrentBatches: count(
    'Batches in flight per table. Below it what waits is sent at once, at it entries gather to fuller batches. A refused batch of which a quarter is bad is narrowed down by up to eight requests at once, so a table has at most eight times as many requests in flight; each holds an entry of maxInFlightEntries, which bounds them over all tables.',
    { default: 4, min: 1, max: 100 },
  ),
  linger: duration(
    'How long an entry waits for company when a request could be sent at once. 0ms: a lone record is written immediately.',
    { default: '0ms', min: '0ms', max: '10s' },
  ),
  maxConsecutiveRejections: count(
    'Refused entries in a row, without one applied, after which the instance stops acknowledging for rejectionCooldown. -1 never stops.',
    { default: 100, min: 1, unlimited: true },
  ),
  rejectionCooldown: duration(
    'How long an instance that reached maxConsecutiveRejections acknowledges nothing, with one probe at a time.',
    { default: '30s', min: '1ms' },
  ),
  requestTimeout: duration(
    'Deadline of one attempt of one request; never beyond the deadline of the invocation. Entries without an answer by then are sent again.',
    { default: '20s', min: '1ms' },
  ),
  retryInitialBackoff: duration(
    'Wait before entries with a transient answer are sent again; it doubles with every attempt, with jitter. Must not exceed retryMaxBackoff.',
    { default: '20ms', min: '1ms' },
  ),
  retryMaxBackoff: duration(
    'Longest wait between attempts. Attempts end with the deadline of the invocation; then the message is delivered again.',
    { default: '2s', min: '1ms' },
  ),
  recoveryInitialBackoff: duration(
    'Wait before a missing table or family is created again, or written to again, under create-if-needed; it doubles with every attempt, with jitter. Must not exceed recoveryMaxBackoff.',
    { default: '500ms', min: '1ms' },
  ),
  recoveryMaxBackoff: duration('Longest wait between attempts to repair a missing table or family.', {
    default: '10s',
    min: '1ms',
  }),
  recoveryMaxAttempts: count(
    'Attempts to repair what an entry misses, creation and writing again together. Then, or at the deadline of the invocation, the message is delivered again.',
    { default: 10, min: 1 },
  ),
  destinationIdleTimeout: duration(
    'How long a table may go without a write before its batcher, and with its last table the client, is closed. It is opened again at the next write.',
    { default: '1h', min: '1ms' },
  ),
  maxActiveInstances: count(
    'Bigtable clients kept open per function instance. Beyond it the least recently used one is drained and closed.',
    { default: 16, min: 1 },
  ),
  perDestinationMetrics: flag(
    'Whether records and failures are also counted per table. Many tables make many time series.',
    false,
  ),
  flowControl: flag(
    'Whether the sink obeys the rate that Bigtable asks for (RateLimitInfo). Meant for single-cluster profiles.',
    true,
  ),
});

export const writerOptions = {
  writerOptions: declare(writerSection.prefault({}), 'How rows are batched and sent. Every option has a default.', {
    type: 'section',
  }),
};

export type WriterOptions = Output<typeof writerOptions>;
export type ResolvedWriterOptions = InMillis<z.output<typeof writerSection>>;

export const writerOf = ({ writerOptions: options }: WriterOptions): ResolvedWriterOptions =>
  inMillis(writerSection.shape, options);

export const backoffsGrow: Rule<WriterOptions> = ({ options: { writerOptions: writer } }) =>
  (['retry', 'recovery'] as const).flatMap((name) => {
    const [initial, max] = [writer?.[`${name}InitialBackoff`], writer?.[`${name}MaxBackoff`]];
    if (initial === undefined || max === undefined || initial <= max) return [];
    const rule = `must be at least ${name}InitialBackoff (${formatDuration(initial)})`;
    return [{ at: ['writerOptions', `${name}MaxBackoff`], rule, got: formatDuration(max) }];
  });

/** What works, and is perhaps not bounded as meant. */
export function inFlightWarnings({ writerOptions: writer }: Readable<WriterOptions>, path: Path): string[] {
  return Object.entries(IN_FLIGHT_WARNINGS).flatMap(([key, limit]) => {
    const value = writer?.[key as keyof typeof IN_FLIGHT_WARNINGS];
    if (value === undefined || value <= limit) return [];
    const where = formatPath([...path, 'writerOptions', key]);
    return `${where}: ${value} is above ${limit}, what official clients keep in flight; the memory of the instance, not this option, may be what bounds the sink`;
  });
}
