/** The grammar of the addresses that a pipeline names besides its table. Pure. */

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/**
 * Reads `host:port`, split at the last colon so that an IPv6 address keeps its own; undefined when it is not one.
 * The host is kept as it is written. Nothing is trimmed: white space anywhere is wrong.
 */
export function parseEmulatorEndpoint(text: string): HostAndPort | undefined {
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, Math.max(0, colon));
  const digits = text.slice(colon + 1);
  const port = Number(digits);
  const isEndpoint = host !== '' && !/\s/u.test(text) && /^[0-9]+$/.test(digits) && port >= 1 && port <= 65_535;
  return isEndpoint ? { host, port } : undefined;
}

/** Names of pipelines: they end up in subscription names and labels. */
export const PIPELINE_NAME = /^[a-z][a-z0-9-]{0,39}$/;

/** Ids of topics and subscriptions (https://cloud.google.com/pubsub/docs/pubsub-basics#resource_names). */
const RESOURCE_ID = String.raw`(?!goog)[A-Za-z][A-Za-z0-9._~%+-]{2,254}`;
const PROJECT = String.raw`[^/\s]+`;

export type PubSubCollection = 'topics' | 'subscriptions';

/** A bare id, or `projects/p/topics/t` (`projects/p/subscriptions/s`). */
export const pubSubNamePattern = (collection: PubSubCollection): RegExp =>
  new RegExp(`^(projects/${PROJECT}/${collection}/)?${RESOURCE_ID}$`);

/** `projects/p/<collection>/<id>`; a full name stays as it is, and so does a bare id without a project. */
export const qualify = (name: string, collection: PubSubCollection, project: string | undefined): string =>
  name.includes('/') || project === undefined ? name : `projects/${project}/${collection}/${name}`;

/** The last part of a full name; a bare id is itself. */
export const bareId = (name: string): string => name.slice(name.lastIndexOf('/') + 1);

/** The project of a full name; undefined for a bare id. */
export const projectOf = (name: string): string | undefined => /^projects\/([^/]+)\//.exec(name)?.[1];
