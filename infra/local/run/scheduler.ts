import { type Clock, sleep, systemClock } from '../../../shared/base/clock.ts';
import { toError } from '../../../shared/base/errors.ts';
import type { PlannedSchedule } from '../../../shared/deployment/plan.ts';
import { LocalCloudError } from '../base/local-error.ts';

export interface SchedulerOptions {
  /** How much faster its time runs. Default 1. */
  readonly timeScale?: number;
  readonly clock?: Clock;
  /** Told of an attempt that was not answered with 2xx; the next one comes at its time. */
  readonly onFailure?: (message: string) => void;
}

export interface LocalScheduler {
  /** No further attempt; one that runs is no longer waited for. */
  stop(): Promise<void>;
}

const MINUTE_MILLIS = 60_000;

/**
 * Posts to a function at once and then at every interval of a schedule, as a job of Cloud Scheduler with `retry_count`
 * 0: never two attempts at a time; one that is due while another runs comes right after it, and those that were missed
 * do not pile up.
 *
 * @param url where to post.
 */
export function startSchedule(schedule: PlannedSchedule, url: string, options: SchedulerOptions): LocalScheduler {
  const { clock = systemClock, timeScale = 1 } = options;
  const intervalMillis = intervalMillisOf(schedule) / timeScale;
  const stopping = new AbortController();
  const running = run();
  return {
    async stop() {
      stopping.abort(new Error('the scheduler was stopped'));
      await running;
    },
  };

  async function run(): Promise<void> {
    for (let dueAt = clock.now(); !stopping.signal.aborted;) {
      const wait = sleep(clock, dueAt - clock.now(), stopping.signal);
      if (!(await wait.then(() => true).catch(() => false))) return;
      await attempt();
      const missed = Math.floor((clock.now() - dueAt) / intervalMillis);
      dueAt += Math.max(1, missed) * intervalMillis;
    }
  }

  async function attempt(): Promise<void> {
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(schedule.attemptDeadlineSeconds * 1000)]);
    try {
      const headers = { 'user-agent': 'Google-Cloud-Scheduler' };
      const response = await fetch(url, { method: 'POST', headers, signal });
      const text = await response.text();
      if (!response.ok) options.onFailure?.(`the scheduler was answered ${response.status}: ${text}`);
    } catch (error) {
      if (!stopping.signal.aborted) options.onFailure?.(`the scheduler had no answer: ${toError(error).message}`);
    }
  }
}

function intervalMillisOf({ name, cron }: PlannedSchedule): number {
  if (cron === '* * * * *') return MINUTE_MILLIS;
  throw new LocalCloudError(
    `the schedule ${name}: the local cloud knows "* * * * *" alone, got ${JSON.stringify(cron)}`,
  );
}
