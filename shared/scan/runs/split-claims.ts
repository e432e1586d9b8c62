import type { Clock } from '../../base/clock.ts';
import type { ClaimSource } from '../../slots/claims.ts';
import type { ScanStore } from './ports.ts';
import type { Plan } from './run.ts';
import { heldOf, type HeldSplit, type SplitWrite } from './split.ts';
import { heldSplit } from './split-updates.ts';

/** Runs of more splits than this are not counted at every look: a count costs a read for each thousand. */
const COUNTED_EVERY_LOOK = 1000;
const COUNTED_EVERY_MILLIS = 30_000;

/** Where the splits of a planned run wait, as slots claim them. For one session. */
export function splitClaims(
  run: string,
  plan: Plan,
  { store, clock }: { readonly store: ScanStore; readonly clock: Clock },
): ClaimSource<HeldSplit, SplitWrite> {
  let open = plan.splits;
  let countedAt = -Infinity;
  return {
    async readWaiting(limit, signal) {
      const found = await store.readWaiting(run, plan, clock.now(), limit, signal);
      return found.map(({ split, version }) => ({
        id: split.id,
        since: split.state.since,
        held: heldOf(split),
        take: (slot, epoch) => ({ split: heldSplit(split, slot, epoch), version }),
      }));
    },
    async countOpen(signal) {
      const isFresh = clock.now() - countedAt < (open > COUNTED_EVERY_LOOK ? COUNTED_EVERY_MILLIS : 0);
      if (isFresh) return open;
      open = plan.splits - (await store.countEnded(run, plan, signal));
      countedAt = clock.now();
      return open;
    },
  };
}
