import { sleep } from '../base/clock.ts';
import { backoffDelay } from '../base/backoff.ts';
import { within } from '../base/deadline.ts';
import { StoreError, type Version } from '../model/store.ts';
import { momentOf } from './lease-time.ts';
import { decideTake, type TakeDecision } from './lease.ts';
import { CALL_MILLIS, LeasedSlot, type SlotDependencies, STORE_BACKOFF } from './leased-slot.ts';
import type { SlotCommit, SlotRead } from './ports.ts';
import type { SlotSession } from './session.ts';

/** A lease that is held is looked at so often: its owner writes at least every 20 s. */
const LOOK_MILLIS = 5_000;

export type OpenedSlot<Held, Change> =
  | { readonly kind: 'taken'; readonly session: SlotSession<Held, Change> }
  /** Its owner is at work. */
  | { readonly kind: 'held'; readonly by: string };

/**
 * Takes a slot for one invocation. Where another has it, looks until that one writes again, or until its lease has run out
 * and the slot is taken over: an owner that was killed costs a lease, and not a minute more.
 *
 * @param owner unique to this invocation.
 * @param signal ends every wait, of the session too.
 */
export async function openSlot<Held, Change>(
  slot: number,
  owner: string,
  dependencies: SlotDependencies<Held, Change>,
  signal: AbortSignal,
): Promise<OpenedSlot<Held, Change>> {
  const { store, giveBack, runtime } = dependencies;
  const { clock, random } = runtime;
  /** The version that another owner was seen with, and the last attempt to take the slot. */
  let seen: Version | undefined;
  let sentAt = momentOf(clock);
  for (let failures = 0; ;) {
    const decision = await look();
    switch (decision?.kind) {
      case 'held':
        if (seen !== undefined && seen !== decision.version) return { kind: 'held', by: decision.by };
        seen = decision.version;
        await sleep(clock, Math.min(LOOK_MILLIS, decision.runsOutInMillis), signal);
        continue;
      case 'ours':
        return taken(decision.read);
      case 'take': {
        sentAt = momentOf(clock);
        const version = await commit(decision.commit);
        if (version !== undefined) return taken({ value: decision.commit.value, version });
        break;
      }
      case undefined:
        break;
      default:
        decision satisfies never;
    }
    failures += 1;
    await sleep(clock, backoffDelay(STORE_BACKOFF, failures, random), signal);
  }

  function taken(base: Pick<SlotRead<Held>, 'value' | 'version'>): OpenedSlot<Held, Change> {
    return { kind: 'taken', session: new LeasedSlot(slot, base, sentAt, dependencies, signal) };
  }

  /** Undefined where the store was not reached in time. */
  async function look(): Promise<(TakeDecision<Held, Change> & { readonly version?: Version }) | undefined> {
    const read = await attempt('a read', (until) => store.readSlot(slot, until).then((found) => ({ found })));
    if (!read) return undefined;
    const decision = decideTake(slot, read.found, owner, clock.now(), giveBack);
    return { ...decision, ...(read.found && { version: read.found.version }) };
  }

  /** Undefined where it conflicts, or where it is not known whether it happened: another look tells. */
  async function commit(take: SlotCommit<Held, Change>): Promise<Version | undefined> {
    const result = await attempt('a commit', (until) => store.commit(take, until));
    return result?.kind === 'committed' ? result.version : undefined;
  }

  /** Undefined where the call may succeed another time. */
  async function attempt<Result>(
    what: string,
    call: (until: AbortSignal) => Promise<Result>,
  ): Promise<Result | undefined> {
    try {
      return await within(clock, CALL_MILLIS, what, call, signal);
    } catch (error) {
      if (signal.aborted || (error instanceof StoreError && !error.isTransient)) throw error;
      return undefined;
    }
  }
}
