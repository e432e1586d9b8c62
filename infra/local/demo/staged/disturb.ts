import { sleep, systemClock } from '../../../../shared/base/clock.ts';
import type { Platform } from '../base/platform.ts';
import type { Progress } from '../base/progress.ts';
import type { StagedPlan } from './plan.ts';
import type { Publishing } from './publish.ts';
import { postBeside, type Trouble } from './trouble.ts';
import { hotEffects } from './verdict.ts';
import type { Watch } from './watch.ts';

/** The pipeline whose committer is killed, and its table. */
export const VICTIM = 'airports';

/** The committer stays away until so many checkpoints more are complete, so that the hub's records wait together. */
const CHECKPOINTS_AWAY = 2;
/** It does not stay away longer. */
const AWAY_MILLIS = 10_000;
const LOOK_MILLIS = 50;

export interface Disturbed {
  readonly unanswered: number;
  readonly held: number;
}

export interface Disturbing {
  readonly platform: Platform;
  readonly plan: StagedPlan;
  readonly publishing: Publishing;
  readonly trouble: Trouble;
  readonly watch: Watch;
}

/**
 * Kills the committer in the middle of a drain, lets the records of one row pile up before it comes back, and has
 * coordinators come while another is at it.
 */
export async function disturb(
  { platform: { connector }, plan, publishing, trouble, watch }: Disturbing,
  progress: Progress,
  signal: AbortSignal,
): Promise<Disturbed> {
  const unanswered = await trouble.untilAnswersAreLost(signal);
  const { process: committer } = connector.functionOf('commitStaged', VICTIM);
  const { pid } = committer;
  await committer.kill();
  progress.say(
    `the committer of ${VICTIM} (process ${pid}) was killed with ${unanswered} writes applied and not answered; Pub/Sub delivers its work again, and the markers tell what is applied`,
  );
  await publishing.departures(plan.hot, signal);
  await untilCheckpoint(watch, watch.lastCheckpoint(VICTIM) + CHECKPOINTS_AWAY, signal);
  progress.say(
    `meanwhile ${hotEffects(plan)} records came for the one row of ${plan.hub}; the committer is started again, and drains them together`,
  );
  await committer.restart();
  const held = await coordinateBeside(connector, progress, signal);
  return { unanswered, held };
}

async function untilCheckpoint(watch: Watch, number: number, signal: AbortSignal): Promise<void> {
  const givesUpAt = systemClock.now() + AWAY_MILLIS;
  while (watch.lastCheckpoint(VICTIM) < number && systemClock.now() < givesUpAt) {
    await sleep(systemClock, LOOK_MILLIS, signal);
  }
}

/**
 * Two come at once: where they meet the moment between two invocations of the scheduler, one of them takes the lease and
 * the other leaves it. How many pipelines were left to another.
 */
async function coordinateBeside(
  connector: Platform['connector'],
  progress: Progress,
  signal: AbortSignal,
): Promise<number> {
  const coordinate = connector.functionOf('coordinate');
  const outcomes = (await Promise.all([postBeside(coordinate, signal), postBeside(coordinate, signal)])).flat();
  const pipelinesOf = (some: typeof outcomes): number => new Set(some.map(({ pipeline }) => pipeline)).size;
  const held = pipelinesOf(outcomes.filter(({ outcome }) => outcome === 'held'));
  progress.say(
    `coordinators were sent beside one another: ${held} of ${pipelinesOf(outcomes)} pipelines were left to the one that had them`,
  );
  return held;
}
