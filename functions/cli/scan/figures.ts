import type { RunStatus } from '../../../shared/scan/runs/run-status.ts';
import { isUnderWay } from '../../../shared/scan/runs/run.ts';

/** How fast a run is, and how long it takes still. Pure. */

/** How far a run was at a look. */
export interface Seen {
  readonly at: number;
  readonly rows: number;
  readonly bytes: number;
}

export const seenOf = ({ counts: { rows, bytes } }: Pick<RunStatus, 'counts'>, at: number): Seen => ({
  at,
  rows,
  bytes,
});

export interface Figures {
  /** Since the look before, else since the run began to read; of a run that ended, over all of it. Absent before that. */
  readonly rowsPerSecond?: number;
  readonly bytesPerSecond?: number;
  /** About: the splits that are left take as long as those that are done. Absent where none is done, and once it ended. */
  readonly remainingMillis?: number;
}

/** Between two looks that are closer the rate says nothing: slots commit every few seconds. */
const MIN_RATE_MILLIS = 1000;

/** @param before how far it was at the look before; absent: there was none. */
export function figuresOf({ run, splits, counts }: RunStatus, now: number, before?: Seen): Figures {
  const { readingSince, endedAt } = run;
  if (readingSince === undefined) return {};
  const until = endedAt ?? now;
  const start = before && endedAt === undefined ? before : { at: readingSince, rows: 0, bytes: 0 };
  const seconds = (until - start.at) / 1000;
  const rate = (count: number): number => Math.max(0, Math.round(count / seconds));
  const left = splits.held + splits.waiting;
  const hasRemainder = isUnderWay(run) && splits.done > 0;
  return {
    ...(seconds * 1000 >= MIN_RATE_MILLIS && {
      rowsPerSecond: rate(counts.rows - start.rows),
      bytesPerSecond: rate(counts.bytes - start.bytes),
    }),
    ...(hasRemainder && { remainingMillis: Math.round(((until - readingSince) / splits.done) * left) }),
  };
}

/** Nobody has read for so long although a run is there: a slot is started every minute, and takes over after its lease. */
const SILENT_MILLIS = 150_000;

/** Whether no slot works although a run is under way, as far as can be seen from outside. */
export const isUnattended = ({ run, slots }: RunStatus, now: number): boolean =>
  isUnderWay(run) &&
  now - (run.readingSince ?? run.startedAt) > SILENT_MILLIS &&
  slots.every(({ leaseMillis }) => leaseMillis <= 0);
