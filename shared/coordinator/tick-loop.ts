import { sleep } from '../base/clock.ts';
import { within } from '../base/deadline.ts';
import { describeError } from '../base/logging.ts';
import type { Runtime } from '../base/runtime.ts';
import type { Counts } from './decider.ts';
import type { TickOutcome, Ticks } from './tick.ts';

/** The scheduler comes every minute: the loop ends in time for the next invocation to find the lease free. */
export const RUN_MILLIS = 55_000;

/** A tick that hangs costs its own slot only. In shorter slots than this one that overruns skips some. */
export const TICK_MILLIS = 8_000;

/** Giving a lease back must not hold up the end; a lease that is not given back runs out. */
const RELEASE_MILLIS = 3_000;

/** What an invocation did for one pipeline. */
export interface PipelineRun {
  readonly pipeline: string;
  /** `held`: another coordinator has the lease, from the start or since it took over. */
  readonly outcome: 'ticked' | 'held';
  /** Present if it is held. */
  readonly heldBy?: string;
  readonly ticks: number;
  readonly failures: number;
  /** What the ticks did, summed by name. */
  readonly counts: Counts;
}

/**
 * Ticks one pipeline at once and then at every slot, never two ticks at a time, until 55 s have passed, `stop` aborts or
 * another coordinator has the lease; then gives the lease back. A tick that fails is told and does not end the loop.
 *
 * @param stop ends the loop between ticks: a tick that runs is let finish, so that its work is not left half sent.
 */
export async function runTicks(
  pipeline: Ticks,
  { clock, logger, metrics }: Runtime,
  stop: AbortSignal,
): Promise<PipelineRun> {
  const endAt = clock.now() + RUN_MILLIS;
  const counts: Record<string, number> = {};
  let ticks = 0;
  let failures = 0;
  let held: Extract<TickOutcome, { kind: 'held' }> | undefined;

  const tickOnce = async (): Promise<void> => {
    const startedAt = clock.now();
    try {
      const outcome = await within(clock, TICK_MILLIS, 'a tick', (signal) => pipeline.tick(signal));
      if (outcome.kind === 'held') {
        if (pipeline.takesTurns !== true) held = outcome;
        return;
      }
      if (outcome.kind === 'conflict') {
        metrics.count('tickConflicts');
        logger.log(
          'WARNING',
          "a tick ended because what it had read was changed meanwhile; where every tick does, something else writes the pipeline's documents",
        );
      }
      ticks += 1;
      for (const [name, count] of Object.entries(outcome.counts)) counts[name] = (counts[name] ?? 0) + count;
    } catch (error) {
      failures += 1;
      metrics.count('tickFailures');
      logger.log('ERROR', 'a tick failed; the next one goes on from what is stored', { cause: describeError(error) });
    } finally {
      metrics.record('tickLatency', clock.now() - startedAt);
    }
  };

  const hasEnded = (): boolean => held !== undefined || stop.aborted;
  for (let next = 0; !hasEnded() && next < endAt; next = nextSlot(clock.now(), pipeline.slotMillis)) {
    if (next > 0) await sleep(clock, next - clock.now(), stop).catch(() => undefined);
    if (!hasEnded()) await tickOnce();
  }
  pipeline.end?.();
  if (held) {
    if (ticks > 0) metrics.count('leasesLost');
    return { pipeline: pipeline.name, outcome: 'held', heldBy: held.by, ticks, failures, counts };
  }
  await within(clock, RELEASE_MILLIS, 'giving the lease back', (signal) => pipeline.release(signal)).catch(
    (error: unknown) => {
      logger.log('WARNING', 'the lease was not given back; it runs out', { cause: describeError(error) });
    },
  );
  return { pipeline: pipeline.name, outcome: 'ticked', ticks, failures, counts };
}

/** The first slot boundary after `now`. Slots begin at multiples of their length since the epoch, in every invocation. Pure. */
export const nextSlot = (now: number, slotMillis: number): number => (Math.floor(now / slotMillis) + 1) * slotMillis;
