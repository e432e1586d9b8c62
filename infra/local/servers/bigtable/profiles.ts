import { GrpcError } from '../rpc/grpc.ts';

/** What an app profile lets its callers do. */
export interface Profile {
  /** Whether all requests go to one cluster. */
  readonly singleCluster: boolean;
  /** Whether it allows single-row transactions, which only single-cluster routing can keep. */
  readonly transactional: boolean;
}

/** App profiles by id, the same for every instance. `default` always exists unless it is declared otherwise. */
export type Profiles = Readonly<Record<string, Profile>>;

const DEFAULT_PROFILE: Profile = { singleCluster: true, transactional: true };

/** The profile of a request; an empty id is `default`. Throws NOT_FOUND for one that does not exist. */
export function requireProfile(profiles: Profiles, id: string): Profile {
  const name = id === '' ? 'default' : id;
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : name === 'default' ? DEFAULT_PROFILE : undefined;
  if (!profile) throw new GrpcError('NOT_FOUND', `App profile not found: ${name}`);
  return profile;
}

/** For CheckAndMutateRow and ReadModifyWriteRow: throws FAILED_PRECONDITION where the profile does not allow them. */
export function requireTransactions(profiles: Profiles, id: string): void {
  const { singleCluster, transactional } = requireProfile(profiles, id);
  if (!singleCluster || !transactional) {
    throw new GrpcError('FAILED_PRECONDITION', 'Single-row transactions are not allowed by this app profile');
  }
}
