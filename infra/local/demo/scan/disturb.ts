import { sleep, systemClock } from '../../../../shared/base/clock.ts';
import { LocalCloudError } from '../../base/local-error.ts';
import type { FunctionProcess } from '../../run/function-process.ts';
import type { Progress } from '../base/progress.ts';
import { count } from '../base/report.ts';
import type { Consumer } from './consumer.ts';
import { uncommitted } from './repeats.ts';
import type { HeldSplit, ScanState } from './scan-state.ts';
import type { Trouble } from './trouble.ts';

/** What is done to a run while it reads. */

/** Shares of the rows at which the tablets move, the topic refuses, and a slot is stopped. */
const MOVES_AT = [0.08, 0.2, 0.4, 0.6, 0.75];
const REFUSES_AT = 0.25;
const STOPS_AT = 0.45;

const REFUSING_MILLIS = 3_000;
const LOOK_MILLIS = 150;

/** So many rows beyond the last commit are enough for the crash to show. */
const LEAST_UNCOMMITTED = 20;

export interface Disturbing {
  readonly pipeline: string;
  /** The process of each slot. */
  readonly slots: readonly FunctionProcess[];
  readonly state: ScanState;
  readonly consumer: Consumer;
  readonly trouble: Trouble;
  /** Rows that are to come. */
  readonly expected: number;
}

/** A slot that was killed. */
export interface Killed {
  readonly slot: number;
  /** What it held, by its last commit. */
  readonly held: readonly HeldSplit[];
  /** Rows of that which it had published: what the crash may repeat. As many as were seen before the slot was taken over. */
  published: number;
  /** Milliseconds since the epoch. */
  readonly killedAt: number;
  /** From the kill until somebody had the slot; undefined: not yet. */
  takenAfterMillis: number | undefined;
}

/** A slot that was stopped. */
export interface Stopped {
  readonly slot: number;
  readonly millis: number;
  /** Splits that it still held when it was gone. */
  readonly left: number;
}

/** Resolves when a slot is dead that had published what it had not committed. It is started again at once. */
export async function killSlot(run: Disturbing, progress: Progress, signal: AbortSignal): Promise<Killed> {
  const { pipeline, slots, state, consumer, expected } = run;
  for (;;) {
    for (const [slot, running] of slots.entries()) {
      const { held } = await state.slot(pipeline, slot);
      const isMidway = held.some(({ rows }) => rows > 0) && uncommitted(consumer.received, held) >= LEAST_UNCOMMITTED;
      if (!isMidway) continue;
      const { pid } = running;
      await running.kill();
      const killedAt = systemClock.now();
      const { held: last } = await state.slot(pipeline, slot);
      await running.restart();
      progress.say(
        `slot ${slot} (process ${pid}) was killed with ${last.length} splits in hand, and ${count(uncommitted(consumer.received, last))} rows published since its last commit; its lease runs out, then they are read again from there`,
      );
      return { slot, held: last, published: 0, killedAt, takenAfterMillis: undefined };
    }
    if (consumer.distinct >= expected) throw new LocalCloudError('the run was over before a slot could be killed');
    await sleep(systemClock, LOOK_MILLIS, signal);
  }
}

/** Looks at the slot that was killed until somebody has it, and counts until then what it had published. */
export async function watchTakeOver(
  run: Disturbing,
  killed: Killed,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const { pipeline, state, consumer } = run;
  const { epoch } = await state.slot(pipeline, killed.slot);
  for (;;) {
    // What came before the look is of the one that died.
    const published = uncommitted(consumer.received, killed.held);
    const now = await state.slot(pipeline, killed.slot);
    if (now.epoch !== epoch) break;
    killed.published = published;
    await sleep(systemClock, LOOK_MILLIS, signal);
  }
  killed.takenAfterMillis = systemClock.now() - killed.killedAt;
  progress.say(`slot ${killed.slot} was taken over; what was left of its splits is read`);
}

/** Stops another slot in the middle of its work, with SIGTERM, and starts it again. */
export async function stopSlot(
  run: Disturbing,
  killed: Promise<Killed>,
  progress: Progress,
  signal: AbortSignal,
): Promise<Stopped> {
  const { pipeline, slots, state } = run;
  const { slot: dead } = await killed;
  await untilShare(run, STOPS_AT, signal);
  for (;;) {
    for (const [slot, running] of slots.entries()) {
      if (slot === dead || (await state.slot(pipeline, slot)).held.length === 0) continue;
      const startedAt = systemClock.now();
      const { pid } = running;
      await running.stop();
      const millis = systemClock.now() - startedAt;
      const { held } = await state.slot(pipeline, slot);
      await running.restart();
      progress.say(`slot ${slot} (process ${pid}) was stopped; it gave everything back within ${count(millis)} ms`);
      return { slot, millis, left: held.length };
    }
    if (run.consumer.distinct >= run.expected)
      throw new LocalCloudError('the run was over before a slot could be stopped');
    await sleep(systemClock, LOOK_MILLIS, signal);
  }
}

export async function moveTablets(run: Disturbing, signal: AbortSignal): Promise<void> {
  for (const share of MOVES_AT) {
    await untilShare(run, share, signal);
    run.trouble.moveTablets();
  }
}

export async function refusePublishes(run: Disturbing, progress: Progress, signal: AbortSignal): Promise<void> {
  await untilShare(run, REFUSES_AT, signal);
  const end = run.trouble.refusePublishes();
  progress.say(`the topic refuses everything for ${REFUSING_MILLIS / 1000} s`);
  await sleep(systemClock, REFUSING_MILLIS, signal).finally(end);
}

/** Waits until this share of the rows came. */
async function untilShare({ consumer, expected }: Disturbing, share: number, signal: AbortSignal): Promise<void> {
  while (consumer.distinct < share * expected) await sleep(systemClock, LOOK_MILLIS, signal);
}
