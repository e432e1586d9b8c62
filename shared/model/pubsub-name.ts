/** The grammar of the names of topics and subscriptions. Pure. */

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
