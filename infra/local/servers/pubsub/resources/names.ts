import { GrpcError } from '../../rpc/grpc.ts';

/** Resource names of Pub/Sub: `projects/{project}/{collection}/{id}`. Pure. */
export type Collection = 'topics' | 'subscriptions' | 'snapshots';

export interface ResourceName {
  readonly project: string;
  readonly id: string;
}

/** What a subscription names as its topic once that topic is deleted. */
export const DELETED_TOPIC = '_deleted-topic_';

/** An id starts with a letter and has 3 to 255 letters, digits or -_.~+% (cloud.google.com/pubsub/docs/pubsub-basics). */
const ID = /^[A-Za-z][A-Za-z0-9\-_.~+%]{2,254}$/;

/** Takes a name apart. @throws INVALID_ARGUMENT when it is not one of this collection, or its id breaks the rules. */
export function parseName(collection: Collection, name: string): ResourceName {
  const [projects, project, kind, id, ...rest] = name.split('/');
  const isName = projects === 'projects' && project && kind === collection && id !== undefined && rest.length === 0;
  if (!isName) {
    throw new GrpcError(
      'INVALID_ARGUMENT',
      `name "${name}": must be projects/{project}/${collection}/{${collection.slice(0, -1)}}`,
    );
  }
  if (!ID.test(id) || id.startsWith('goog')) {
    throw new GrpcError(
      'INVALID_ARGUMENT',
      `name "${name}": the id must start with a letter, have 3 to 255 of letters, digits and -_.~+%, and not start with "goog"`,
    );
  }
  return { project, id };
}

/** The project of `projects/{project}`. @throws INVALID_ARGUMENT */
export function parseProject(name: string): string {
  const [projects, project, ...rest] = name.split('/');
  if (projects !== 'projects' || !project || rest.length > 0) {
    throw new GrpcError('INVALID_ARGUMENT', `project "${name}": must be projects/{project}`);
  }
  return project;
}
