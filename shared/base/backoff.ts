import type { Random } from './random.ts';

/** A doubling schedule as data. Attempts count from 1: the delay before the second try is `delay(schedule, 1)`. */
export interface BackoffSchedule {
  readonly initialMillis: number;
  readonly maxMillis: number;
  /** Each delay is scaled by a factor drawn evenly from [1 − jitter, 1 + jitter]. Bounds: [0, 1). */
  readonly jitter: number;
}

/** Milliseconds to wait after failed attempt number `attempt` (from 1); at least 1. */
export function backoffDelay(schedule: BackoffSchedule, attempt: number, random: Random): number {
  const doublings = Math.min(attempt - 1, 52);
  const base = Math.min(schedule.initialMillis * 2 ** doublings, schedule.maxMillis);
  const factor = 1 + schedule.jitter * (2 * random() - 1);
  return Math.max(1, Math.round(base * factor));
}
