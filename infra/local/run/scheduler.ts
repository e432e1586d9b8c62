import { type Clock, sleep, systemClock } from '../../../shared/base/clock.ts';
import { toError } from '../../../shared/base/errors.ts';
import type { PlannedSchedule } from '../../../shared/deployment/plan.ts';
import { LocalCloudError } from '../base/local-error.ts';
import { nextTime } from './cron.ts';

export interface SchedulerOptions {
  /** How much faster its time runs. Default 1. */
  readonly timeScale?: number;
  /** When the faster time is right, as in the functions that it calls. Default: now. */
  readonly since?: number;
  readonly clock?: Clock;
  /** Told of an attempt that was not answered with 2xx; the next one comes at its time. */
  readonly onFailure?: (message: string) => void;
}

export interface LocalScheduler {
  /** No further attempt; one that runs is no longer waited for. */
  stop(): Promise<void>;
}

/** A job of every minute does not wait for the first one: what is started is at work. */
const EVERY_MINUTE = '* * * * *';

/**
 * Posts to a function as a job of Cloud Scheduler with `retry_count` 0 does: never two attempts at a time; one that is due
 * while another runs comes right after it, and those that were missed do not pile up.
 *
 * @param url where to post.
 */
export function startSchedule(schedule: PlannedSchedule, url: string, options: SchedulerOptions): LocalScheduler {
  const { clock = systemClock, timeScale = 1, since = clock.now() } = options;
  const { name, cron, attemptDeadlineSeconds } = schedule;
  const scaledNow = (): number => since + (clock.now() - since) * timeScale;
  requireCron();
  const stopping = new AbortController();
  const running = run();
  return {
    async stop() {
      stopping.abort(new Error('the scheduler was stopped'));
      await running;
    },
  };

  async function run(): Promise<void> {
    let dueAt = cron === EVERY_MINUTE ? scaledNow() : nextTime(cron, scaledNow());
    while (!stopping.signal.aborted) {
      const wait = sleep(clock, (dueAt - scaledNow()) / timeScale, stopping.signal);
      if (!(await wait.then(() => true).catch(() => false))) return;
      await attempt(dueAt);
      const next = nextTime(cron, dueAt);
      const now = scaledNow();
      // One that fell due meanwhile follows at once, and only the last of them.
      dueAt = next > now ? next : lastDue(next, now);
    }
  }

  function lastDue(from: number, now: number): number {
    let due = from;
    for (let next = nextTime(cron, due); next <= now; next = nextTime(cron, due)) due = next;
    return due;
  }

  async function attempt(dueAt: number): Promise<void> {
    const timeoutMillis = Math.ceil((attemptDeadlineSeconds * 1000) / timeScale);
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(timeoutMillis)]);
    try {
      const response = await fetch(url, { method: 'POST', headers: headersOf(dueAt), signal, ...bodyOf(schedule) });
      const text = await response.text();
      if (!response.ok) options.onFailure?.(`the scheduler was answered ${response.status}: ${text}`);
    } catch (error) {
      if (!stopping.signal.aborted) options.onFailure?.(`the scheduler had no answer: ${toError(error).message}`);
    }
  }

  /** As https://cloud.google.com/scheduler/docs/creating names them. */
  function headersOf(dueAt: number): Record<string, string> {
    return {
      'user-agent': 'Google-Cloud-Scheduler',
      'x-cloudscheduler': 'true',
      'x-cloudscheduler-jobname': name,
      'x-cloudscheduler-scheduletime': `${new Date(dueAt).toISOString().slice(0, 19)}Z`,
      ...(schedule.body && { 'content-type': 'application/json' }),
    };
  }

  function requireCron(): void {
    try {
      nextTime(cron, since);
    } catch (error) {
      throw new LocalCloudError(`the schedule ${name}: ${toError(error).message}`);
    }
  }
}

const bodyOf = ({ body }: PlannedSchedule): { readonly body?: string } => (body ? { body: JSON.stringify(body) } : {});
