import { count, duration, type InMillis, inMillis, size } from '../quantity.ts';
import type { Output } from '../option.ts';
import type { Rule } from '../rules.ts';
import { formatDuration } from '../units.ts';

/** How a source is read: by slots, each started by a job of Cloud Scheduler, and how much each of them holds. */

/** An attempt of Cloud Scheduler lasts half an hour at most, and its function as long as we say. */
export const MAX_ATTEMPT_MILLIS = 30 * 60_000;

const parallelism = (fallback: number) =>
  count(
    'Slots that read at the same time. Each has a job of Cloud Scheduler of its own, and an instance of the function while there is work.',
    { default: fallback, min: 1, max: 100 },
  );

export const slotOptions = {
  parallelism: parallelism(4),
  sessionLength: duration(
    'How long an invocation works before it gives its slot back, so that a new deployment takes over within that. It ends at the last second 50 of a minute within it, and drainMargin before the end that the function or the job has.',
    { default: '10m', min: '2m', max: '29m' },
  ),
  drainMargin: duration(
    'Taken off the end of an invocation: time to confirm what is on its way, to commit and to give back. At most half of sessionLength.',
    { default: '45s', min: '20s', max: '5m' },
  ),
  commitInterval: duration(
    'Time between two commits of the positions of a slot. A crash repeats what was published since the last one; each commit is one write to Firestore.',
    { default: '5s', min: '1s', max: '20s' },
  ),
  maxOutstandingBytes: size(
    'Size of the messages of one slot that are published and not yet confirmed, over all that it reads. At the bound it asks Bigtable for nothing.',
    { default: '64MiB', min: 2 ** 20, max: 2 ** 30 },
  ),
};

/** Of a source that never ends: each of its slots is an instance all the time. */
export const streamSlotOptions = { ...slotOptions, parallelism: parallelism(2) };

type SlotOptions = Output<typeof slotOptions>;

export type ResolvedSlots = InMillis<SlotOptions>;

export const slotsOf = (options: SlotOptions): ResolvedSlots => inMillis(slotOptions, options);

export const slotRules: readonly Rule<SlotOptions>[] = [
  function hasTimeToDrain({ options: { sessionLength, drainMargin } }) {
    if (sessionLength === undefined || drainMargin === undefined || drainMargin * 2 <= sessionLength) return [];
    const rule = `must be at most half of sessionLength, ${formatDuration(sessionLength / 2)}`;
    return [{ at: ['drainMargin'], rule, got: formatDuration(drainMargin) }];
  },
];
