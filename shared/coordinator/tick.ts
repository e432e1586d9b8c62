import type { Clock } from '../base/clock.ts';
import { decideLease, releaseLease } from './decide-lease.ts';
import type { Counts, Decider, Turn } from './decider.ts';
import type { LedStore } from './ports.ts';

/** The longest time between two ticks of a pipeline. */
const LONGEST_SLOT_MILLIS = 10_000;

/** Commits of one tick, unless the decider says otherwise: beyond them it leaves the rest to the next one. */
const MAX_ROUNDS = 10;

/** Commits of one tick that may find something else than what was read; after them somebody else is at it. */
const MAX_CONFLICTS = 2;

export type TickOutcome =
  /** What was done, by name, for the summary of the invocation. */
  | { readonly kind: 'ticked'; readonly counts: Counts }
  /** What was read had changed by the time of the commit, again and again. What was done before that is done. */
  | { readonly kind: 'conflict'; readonly counts: Counts }
  /** Another coordinator's turn; nothing was changed. */
  | { readonly kind: 'held'; readonly by: string; readonly expiresAt: number };

/** The ticks of one pipeline in one invocation. */
export interface Ticks {
  /** Of the pipeline. */
  readonly name: string;
  readonly slotMillis: number;
  /** Others have their turns in between: a lease that is held is no reason to end. */
  readonly takesTurns?: boolean;
  /**
   * Takes or renews the lease, decides, and does what was decided. Rejects where a part of it failed; whatever it
   * left, the next tick repairs, of this invocation or of another.
   */
  tick(signal: AbortSignal): Promise<TickOutcome>;
  /** No further tick: whatever goes on beside the ticks ends. */
  end?(): void;
  /** Gives the lease back, where it is this invocation's. */
  release(signal: AbortSignal): Promise<void>;
}

export interface TickDependencies<State, Changes> {
  readonly store: LedStore<State, Changes>;
  readonly clock: Clock;
  /** Unique to one invocation. */
  readonly owner: string;
}

/**
 * Ticks of any kind of pipeline: read the document → lease → the decider's part → one commit → its messages. The commit
 * is atomic and fenced by the pipeline's document, so of two coordinators that read the same one conflicts, whatever
 * their clocks say.
 */
export function createTicks<State, View, Changes, Message>(
  decider: Decider<State, View, Changes, Message>,
  { store, clock, owner }: TickDependencies<State, Changes>,
): Ticks {
  /** Perhaps: it may have run out since. */
  let hasLease = false;
  return {
    name: decider.name,
    slotMillis: Math.min(decider.intervalMillis, LONGEST_SLOT_MILLIS),
    takesTurns: decider.keepsLease !== undefined,
    ...{ tick, end, release },
  };

  async function tick(signal: AbortSignal): Promise<TickOutcome> {
    const done: Record<string, number> = Object.fromEntries(decider.counted.map((name) => [name, 0]));
    if (decider.hasWork && !(await decider.hasWork(clock.now(), signal))) return { kind: 'ticked', counts: done };
    let conflicts = 0;
    const { maxRounds = MAX_ROUNDS } = decider;
    for (let round = 0; round < maxRounds && conflicts < MAX_CONFLICTS; round += 1) {
      const before = await store.readPipeline(signal);
      const now = clock.now();
      const lease = decideLease(before?.value.lease, owner, now);
      if (lease.kind === 'held') return lease;

      const turn: Turn<State> = { pipeline: before?.value, now, done };
      const view = await decider.read(turn, signal);
      const decision = decider.decide(turn, view);
      // Also where it is not confirmed: it may be ours.
      hasLease = true;
      const pipeline = { version: before?.version, value: { ...decision.pipeline, lease: lease.lease } };
      if ((await store.commit({ pipeline, changes: decision.changes }, signal)) === 'conflict') {
        // Another coordinator was faster, or something that was decided on has changed meanwhile.
        conflicts += 1;
        continue;
      }
      decider.committed(turn, view, decision);
      for (const [name, count] of Object.entries(decision.counts)) done[name] = (done[name] ?? 0) + count;
      if (decision.messages.length > 0) await decider.publish(decision.messages, signal);
      if (!decision.hasMore) break;
    }
    if (decider.keepsLease?.() === false) await release(signal);
    return { kind: conflicts === MAX_CONFLICTS ? 'conflict' : 'ticked', counts: done };
  }

  function end(): void {
    decider.end?.();
  }

  async function release(signal: AbortSignal): Promise<void> {
    if (!hasLease) return;
    hasLease = false;
    const before = await store.readPipeline(signal);
    const lease = releaseLease(before?.value.lease, owner, clock.now());
    if (!before || !lease) return;
    // A conflict means that it is another's by now.
    await store.commit({ pipeline: { version: before.version, value: { ...before.value, lease } } }, signal);
  }
}
