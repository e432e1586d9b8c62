import type { Metadata } from '@grpc/grpc-js';
import { type TableName, tablePath } from '../../model/table-name.ts';
import { FeatureFlags } from '../../proto/google/bigtable/v2/feature_flags.ts';
import { routedMetadata } from '../grpc/routed-metadata.ts';

/**
 * How calls of Bigtable's APIs are addressed: the paths of their methods, the names of their resources, and the metadata
 * by which the service routes them.
 */

export const dataMethod = (method: string): string => `/google.bigtable.v2.Bigtable/${method}`;

export const adminMethod = (service: 'BigtableTableAdmin' | 'BigtableInstanceAdmin', method: string): string =>
  `/google.bigtable.admin.v2.${service}/${method}`;

export const instancePath = ({ project, instance }: Pick<TableName, 'project' | 'instance'>): string =>
  `projects/${project}/instances/${instance}`;

/** @param appProfileId empty for the instance's default profile, which has this id. */
export const appProfilePath = (instance: Pick<TableName, 'project' | 'instance'>, appProfileId: string): string =>
  `${instancePath(instance)}/appProfiles/${appProfileId === '' ? 'default' : appProfileId}`;

/** Features of a client that the service asks of before it makes use of them. */
export type Feature = 'flow-control' | 'scan-progress' | 'asked-delays';

const flags = (announced: Partial<FeatureFlags>): string =>
  Buffer.from(FeatureFlags.encode({ ...FeatureFlags.decode(Buffer.alloc(0)), ...announced }).finish()).toString(
    'base64url',
  );

const FEATURES: Readonly<Record<Feature, string>> = {
  // Tells the service that we obey its `RateLimitInfo`; it sends none otherwise.
  'flow-control': flags({ mutateRowsRateLimit: true, mutateRowsRateLimit2: true }),
  // Tells it that we understand messages which only say how far it has scanned, and delays that it asks for; it sends
  // neither otherwise.
  'scan-progress': flags({ lastScannedRowResponses: true, retryInfo: true }),
  'asked-delays': flags({ retryInfo: true }),
};

/**
 * The metadata of one call.
 *
 * @param routing the request's fields that name its resource. Throws a `URIError` at a text that is no Unicode.
 */
export function callMetadata(routing: Readonly<Record<string, string>>, feature?: Feature): Metadata {
  const metadata = routedMetadata(routing);
  if (feature) metadata.set('bigtable-features', FEATURES[feature]);
  return metadata;
}

/** Tables of one instance are few; a resolver that names more pays for the metadata of each call. */
const MAX_KEPT = 1000;

/** The metadata of calls on tables: one for all calls of a table and profile, because a call copies what it sends. */
export class TableMetadata {
  readonly #feature: Feature | undefined;
  readonly #kept = new Map<string, Metadata>();
  /** Nearly every call is of the table before it, which is told without building a key. */
  #last: { readonly table: TableName; readonly appProfileId: string; readonly metadata: Metadata } | undefined;

  constructor(feature?: Feature) {
    this.#feature = feature;
  }

  of(table: TableName, appProfileId: string): Metadata {
    if (this.#last?.table !== table || this.#last.appProfileId !== appProfileId) {
      this.#last = { table, appProfileId, metadata: this.#find(tablePath(table), appProfileId) };
    }
    return this.#last.metadata;
  }

  #find(path: string, appProfileId: string): Metadata {
    const key = `${path}/${appProfileId}`;
    const known = this.#kept.get(key);
    if (known) return known;
    const metadata = callMetadata({ table_name: path, app_profile_id: appProfileId }, this.#feature);
    if (this.#kept.size < MAX_KEPT) this.#kept.set(key, metadata);
    return metadata;
  }
}
