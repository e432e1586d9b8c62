import { GrpcError } from '../../rpc/grpc.ts';
import { LIMITS } from '../limits.ts';

/** Names of documents and collections: `projects/{p}/databases/{d}/documents/{collection}/{id}/…`. Pure. */

const ROOT = /^projects\/[^/]+\/databases\/[^/]+\/documents(?:\/|$)/;
const DATABASE = /^projects\/[^/]+\/databases\/[^/]+$/;
const RESERVED_ID = /^__.*__$/s;
/** Ids that the service itself gives to entities of Datastore with a number for a key. */
const NUMERIC_ID = /^__id-?\d+__$/;

/** Where a document lives: the full name of its collection, and its id there. */
export interface DocumentAddress {
  readonly collection: string;
  readonly id: string;
}

/** Takes a document's name apart. @throws INVALID_ARGUMENT where it is none, or an id breaks the rules. */
export function parseDocumentName(name: string): DocumentAddress {
  const ids = idsOf(name);
  if (ids.length === 0 || ids.length % 2 !== 0) {
    throw new GrpcError(
      'INVALID_ARGUMENT',
      `document name "${name}": must be projects/{project}/databases/{database}/documents/{collection}/{document}/…`,
    );
  }
  for (const id of ids) requireId(id);
  const slash = name.lastIndexOf('/');
  return { collection: name.slice(0, slash), id: name.slice(slash + 1) };
}

/** A parent of collections: the root of a database's documents, or a document. @throws INVALID_ARGUMENT */
export function requireParent(parent: string): void {
  if (idsOf(parent).length % 2 !== 0) {
    throw new GrpcError('INVALID_ARGUMENT', `parent "${parent}": must be a document or …/documents`);
  }
}

/** @throws INVALID_ARGUMENT unless it is `projects/{project}/databases/{database}`. */
export function requireDatabase(database: string): void {
  if (!DATABASE.test(database)) {
    throw new GrpcError('INVALID_ARGUMENT', `database "${database}": must be projects/{project}/databases/{database}`);
  }
}

/** @throws INVALID_ARGUMENT unless the name lies in the database. */
export function requireWithin(database: string, name: string): void {
  if (!name.startsWith(`${database}/documents/`)) {
    throw new GrpcError('INVALID_ARGUMENT', `document name "${name}": is not in the request's database ${database}`);
  }
}

/** `projects/p/databases/d` of the name of anything in it. */
export const databaseOf = (name: string): string => name.split('/', 4).join('/');

export const lastId = (name: string): string => name.slice(name.lastIndexOf('/') + 1);

export const parentOf = (name: string): string => name.slice(0, name.lastIndexOf('/'));

/** An id as a key that JavaScript orders as the service orders the id: by its UTF-8 bytes. */
export function orderKey(id: string): string {
  return isAscii(id) ? id : Buffer.from(id).toString('latin1');
}

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);

/** The ids after `documents`. @throws INVALID_ARGUMENT where the name has no such root. */
function idsOf(name: string): string[] {
  const root = ROOT.exec(name)?.[0];
  if (root === undefined) {
    throw new GrpcError(
      'INVALID_ARGUMENT',
      `name "${name}": must start with projects/{project}/databases/{database}/documents`,
    );
  }
  const path = name.slice(root.length);
  return path === '' ? [] : path.split('/');
}

function requireId(id: string): void {
  const rule = brokenIdRule(id);
  if (rule !== undefined) throw new GrpcError('INVALID_ARGUMENT', `resource id "${id.slice(0, 64)}": ${rule}`);
}

function brokenIdRule(id: string): string | undefined {
  if (id === '') return 'must not be empty';
  if (id === '.' || id === '..') return 'must not be . or ..';
  if (Buffer.byteLength(id) > LIMITS.idBytes) return `must not be longer than ${LIMITS.idBytes} bytes`;
  return RESERVED_ID.test(id) && !NUMERIC_ID.test(id) ? 'is reserved, as every __…__ is' : undefined;
}
