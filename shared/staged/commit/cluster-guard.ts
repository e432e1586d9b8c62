import { toError } from '../../base/errors.ts';
import { outOfTime, type Unfinished } from '../../markers/outcome.ts';
import type { TargetCheck, Unsound } from '../../markers/target-check.ts';
import type { Target } from '../../markers/target.ts';
import { formatTableName } from '../../model/table-name.ts';
import { codeOf } from '../fingerprint.ts';
import type { CommittingStore, MarkerCluster } from '../ports.ts';

export interface ClusterGuardDependencies {
  /** Looks at targets first, and knows where their profiles route. */
  readonly targets: Pick<TargetCheck, 'check' | 'clusterOf' | 'forget'>;
  readonly store: Pick<CommittingStore, 'noteCluster'>;
  /** `confirmChange`: the code of a cluster that may take the place of another. */
  readonly confirmed?: string | undefined;
}

/**
 * Keeps a pipeline's markers in one cluster of each instance: the one that its document names. A cluster applies an effect
 * whose marker it does not have, so behind a profile that was failed over, what the other one applied and has not
 * replicated would count twice. The first cluster that is found is noted; another one is refused until it is confirmed.
 *
 * A profile is looked at when its target is, at least every five minutes of its use, and not before each write: what was sent between a failover and the next look went
 * where the profile routed it.
 */
export class ClusterGuard implements Pick<TargetCheck, 'check' | 'forget'> {
  readonly #with: ClusterGuardDependencies;
  /** By instance, the cluster that the document named last. */
  readonly #noted = new Map<string, string>();

  constructor(dependencies: ClusterGuardDependencies) {
    this.#with = dependencies;
  }

  async check(target: Target, families: Iterable<string>, signal: AbortSignal): Promise<Unsound | undefined> {
    const { targets } = this.#with;
    const unsound = await targets.check(target, families, signal);
    if (unsound?.kind === 'target') return unsound;
    const cluster = targets.clusterOf(target);
    const instance = instanceOf(target);
    if (cluster === undefined || this.#noted.get(instance) === cluster) return unsound;
    const refusal = await this.#compare(target, { instance, cluster }, signal);
    return refusal ? { kind: 'target', refusal } : unsound;
  }

  forget(target: Target): void {
    this.#with.targets.forget(target);
  }

  async #compare(target: Target, found: MarkerCluster, signal: AbortSignal): Promise<Unfinished | undefined> {
    const { store, confirmed, targets } = this.#with;
    try {
      let noted = await store.noteCluster(found, undefined, signal);
      if (noted !== found.cluster && confirmed === codeOfCluster(found)) {
        noted = await store.noteCluster(found, noted, signal);
      }
      this.#noted.set(found.instance, noted);
      if (noted === found.cluster) return undefined;
      // The profile may be set right at any time.
      targets.forget(target);
      return changed(target, found, noted);
    } catch (error) {
      return signal.aborted ? outOfTime(toError(signal.reason), undefined) : unread(target, toError(error));
    }
  }
}

/** By which an operator confirms that markers are in this cluster from now on. */
export const codeOfCluster = ({ instance, cluster }: MarkerCluster): string => codeOf({ instance, cluster });

const instanceOf = ({ table: { project, instance } }: Target): string => `${project}.${instance}`;

const changed = ({ table, appProfileId }: Target, found: MarkerCluster, noted: string): Unfinished => ({
  kind: 'unfinished',
  reason: 'changed',
  message:
    `nothing is written to ${formatTableName(table)}: its app profile ${appProfileId === '' ? 'default' : appProfileId} routes to the cluster ${found.cluster}, and the markers of this pipeline are in ${noted}. ` +
    `What ${noted} has applied and ${found.cluster} does not have yet would count twice: route the profile back to ${noted}; or drain the pipeline there (publishers stopped, nothing unacknowledged, connector status shows nothing that is not in its rows), wait until it is replicated, and set confirmChange: ${codeOfCluster(found)}`,
});

const unread = ({ table }: Target, error: Error): Unfinished => ({
  kind: 'unfinished',
  reason: 'transient',
  message: `the cluster that holds the markers of ${formatTableName(table)} could not be looked up, which comes before the first write: ${error.message}`,
});
