import { GrpcError } from '../rpc/grpc.ts';

/** What an app profile lets its callers do. */
export interface Profile {
  /** Whether all requests go to one cluster. */
  readonly singleCluster: boolean;
  /** Whether it allows single-row transactions, which only single-cluster routing can keep. */
  readonly transactional: boolean;
  /** Where its requests go; with routing to any cluster, the one that is nearest. Default: the server's first. */
  readonly cluster?: string;
}

/** App profiles by id, the same for every instance. `default` always exists unless it is declared otherwise. */
export type Profiles = Readonly<Record<string, Profile>>;

/** A profile of an instance, with its cluster. */
export type Routing = Required<Profile>;

const DEFAULT_PROFILE: Profile = { singleCluster: true, transactional: true };

/** The app profiles of all instances: as they were declared, until one of an instance is updated. */
export class AppProfiles {
  /** Of every instance. */
  readonly clusters: readonly [string, ...string[]];
  readonly #declared: Profiles;
  /** By instance and id. */
  readonly #updated = new Map<string, Routing>();

  constructor(clusters: readonly [string, ...string[]], declared: Profiles) {
    this.clusters = clusters;
    this.#declared = declared;
    for (const { cluster } of Object.values(declared)) this.#mustBeThere(cluster ?? clusters[0]);
  }

  /**
   * The profile of a request; an empty id is `default`. Throws NOT_FOUND for one that does not exist.
   *
   * @param instance `projects/p/instances/i`.
   */
  require(instance: string, id: string): Routing {
    const name = id === '' ? 'default' : id;
    const updated = this.#updated.size > 0 ? this.#updated.get(nameOf(instance, name)) : undefined;
    if (updated) return updated;
    const declared = Object.hasOwn(this.#declared, name) ? this.#declared[name] : undefined;
    const profile = declared ?? (name === 'default' ? DEFAULT_PROFILE : undefined);
    if (!profile) throw new GrpcError('NOT_FOUND', `App profile not found: ${name}`);
    return { cluster: this.clusters[0], ...profile };
  }

  /** For CheckAndMutateRow and ReadModifyWriteRow: throws FAILED_PRECONDITION where the profile does not allow them. */
  requireTransactional(instance: string, id: string): Routing {
    const profile = this.require(instance, id);
    if (!profile.singleCluster || !profile.transactional) {
      throw new GrpcError('FAILED_PRECONDITION', 'Single-row transactions are not allowed by this app profile');
    }
    return profile;
  }

  /** From now on the profile is this. Throws NOT_FOUND for a profile or a cluster that does not exist. */
  update(instance: string, id: string, profile: Routing): void {
    this.require(instance, id);
    this.#mustBeThere(profile.cluster);
    this.#updated.set(nameOf(instance, id === '' ? 'default' : id), profile);
  }

  #mustBeThere(cluster: string): void {
    if (!this.clusters.includes(cluster)) throw new GrpcError('NOT_FOUND', `Cluster not found: ${cluster}`);
  }
}

const nameOf = (instance: string, id: string): string => `${instance}/appProfiles/${id}`;
