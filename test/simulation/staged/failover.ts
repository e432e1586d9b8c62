import type { Clock } from '../../../shared/base/clock.ts';
import { codeOfCluster } from '../../../shared/staged/commit/cluster-guard.ts';
import type { Clusters } from './clusters.ts';
import type { Schedule } from './schedule.ts';

/** When somebody fails over first, and how often it is put off for a pipeline that has written nothing yet. */
const STARTS_AT = 35_000;
const PUT_OFF_MILLIS = 10_000;
const MOST_STARTS = 4;

/** After that: the profile is routed, committers start there, and somebody decides what becomes of it. */
const ROUTED_AFTER = 2_000;
const PAUSE_MILLIS = 4_000;
/** By then the other cluster has all that the first applied. */
const DECIDED_AFTER = 21_000;

export const INSTANCE = 'p.i';

/** What an operator confirms. */
const IN_C2 = codeOfCluster({ instance: INSTANCE, cluster: 'c2' });

export interface Operations {
  readonly clock: Clock;
  readonly clusters: Clusters;
  /** Whether the pipeline has a cluster: the first is taken as it is found. */
  readonly isInCluster: () => boolean;
  /** Stops all committers; new ones start after a while, with this in `confirmChange`. */
  readonly restartCommitters: (pauseMillis: number, confirmed: string | undefined) => void;
}

/**
 * An operator fails a profile over by hand, as the page says: committers are stopped first, because no function sees where
 * a profile routes while it writes. Before the other cluster has everything, the new ones must write nothing there.
 */
export function failOver(kind: Schedule['failover'], operations: Operations): void {
  if (kind === false) return;
  const { clock } = operations;
  const startIfNoted = (starts: number): void => {
    if (operations.isInCluster()) start(kind, operations);
    else if (starts < MOST_STARTS) {
      clock.after(PUT_OFF_MILLIS, () => {
        startIfNoted(starts + 1);
      });
    }
  };
  clock.after(STARTS_AT, () => {
    startIfNoted(1);
  });
}

function start(kind: 'back' | 'confirmed', { clock, clusters, restartCommitters }: Operations): void {
  restartCommitters(PAUSE_MILLIS, undefined);
  clock.after(ROUTED_AFTER, () => {
    clusters.current = 'c2';
  });
  clock.after(DECIDED_AFTER, () => {
    if (kind === 'confirmed') restartCommitters(PAUSE_MILLIS, IN_C2);
    else clusters.current = 'c1';
  });
}
