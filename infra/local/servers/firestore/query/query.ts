import type { Value } from '../../../../../shared/proto/google/firestore/v1/document.ts';
import type {
  StructuredQuery,
  StructuredQuery_CollectionSelector as Selector,
} from '../../../../../shared/proto/google/firestore/v1/query.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import type { DocumentView } from '../documents/document-store.ts';
import type { StoredDocument } from '../documents/document.ts';
import { NAME_FIELD, parseFieldPath, type FieldPath } from '../documents/field-path.ts';
import { parentOf, lastId, requireParent } from '../documents/names.ts';
import { compileFilter, type Condition } from './conditions.ts';
import { comparePositions, orderingOf, positionOf, withinCursors, type Ordering } from './ordering.ts';

/** A structured query, checked and ready to run. */
export interface CompiledQuery {
  readonly scope: Scope;
  readonly ordering: Ordering;
  readonly offset: number;
  readonly limit: number;
  /** The fields that are answered; undefined for all. */
  readonly mask: readonly FieldPath[] | undefined;
  /** Whether a document of the scope is one of the query's, cursors, offset and limit aside. */
  readonly matches: Condition;
  readonly isWithinCursors: (position: readonly Value[]) => boolean;
}

/** Makes a query ready to run. Pure. @throws INVALID_ARGUMENT for one that is none, UNIMPLEMENTED for vectors */
export function compileQuery(parent: string, query: StructuredQuery): CompiledQuery {
  if (query.findNearest) throw new GrpcError('UNIMPLEMENTED', 'this local server does not search vectors');
  if (query.offset < 0) throw new GrpcError('INVALID_ARGUMENT', `offset: must not be negative, got ${query.offset}`);
  if (query.limit !== undefined && query.limit < 0) {
    throw new GrpcError('INVALID_ARGUMENT', `limit: must not be negative, got ${query.limit}`);
  }
  const ordering = orderingOf(query);
  return {
    scope: scopeOf(parent, query.from),
    ordering,
    offset: query.offset,
    limit: query.limit ?? Infinity,
    mask: query.select && maskOf(query.select.fields.map(({ fieldPath }) => fieldPath)),
    matches: compileFilter(query.where),
    isWithinCursors: withinCursors(query, ordering),
  };
}

/** The name is in every answer anyway. */
const maskOf = (paths: readonly string[]): readonly FieldPath[] =>
  paths.filter((path) => path !== NAME_FIELD).map(parseFieldPath);

/** Whether a document is one that the query could answer: what a transaction that ran it must see unchanged. */
export const concerns = ({ scope, matches, ordering }: CompiledQuery, document: StoredDocument): boolean =>
  scope.includes(parentOf(document.name)) && matches(document) && positionOf(document, ordering) !== undefined;

/** What a query finds, in its order. */
export interface QueryResult {
  readonly documents: readonly StoredDocument[];
  /** Documents that the offset left out. */
  readonly skipped: number;
}

/** Runs a query. Pure. One that is ordered by name alone stops as soon as it has enough. */
export function runQuery(view: DocumentView, query: CompiledQuery): QueryResult {
  const { offset, limit, scope } = query;
  const found =
    scope.collection !== undefined && query.ordering.length === 1 ? inNameOrder(view, query) : sorted(view, query);
  const skipped = Math.min(offset, found.length);
  return { documents: found.slice(offset, offset + limit), skipped };
}

function inNameOrder(view: DocumentView, query: CompiledQuery): readonly StoredDocument[] {
  const enough = query.offset + query.limit;
  const found: StoredDocument[] = [];
  if (enough === 0) return found;
  const order = query.ordering[0]?.isDescending ? 'descending' : 'ascending';
  for (const document of view.documents(query.scope.collection ?? '', order)) {
    if (!query.matches(document) || !query.isWithinCursors(positionOf(document, query.ordering) ?? [])) continue;
    found.push(document);
    if (found.length === enough) break;
  }
  return found;
}

interface Placed {
  readonly document: StoredDocument;
  readonly position: readonly Value[];
}

function sorted(view: DocumentView, query: CompiledQuery): readonly StoredDocument[] {
  const placed: Placed[] = [];
  for (const collection of collectionsOf(view, query.scope)) {
    for (const document of view.documents(collection, 'ascending')) {
      const position = query.matches(document) ? positionOf(document, query.ordering) : undefined;
      if (position && query.isWithinCursors(position)) placed.push({ document, position });
    }
  }
  return placed
    .toSorted((left, right) => comparePositions(left.position, right.position, query.ordering))
    .map(({ document }) => document);
}

function collectionsOf(view: DocumentView, scope: Scope): readonly string[] {
  if (scope.collection !== undefined) return [scope.collection];
  return [...view.collections()].filter((collection) => scope.includes(collection));
}

/** Which collections a query reads: whether it reads one of this full name. */
export interface Scope {
  /** The only collection that can be read, where it is only one. */
  readonly collection?: string;
  includes(collection: string): boolean;
}

/** The collections below a parent that a query names: one, or all of an id, or all. @throws INVALID_ARGUMENT */
export function scopeOf(parent: string, from: readonly Selector[]): Scope {
  requireParent(parent);
  const [selector, ...others] = from;
  if (others.length > 0) throw new GrpcError('INVALID_ARGUMENT', 'a query must be from one collection');
  const { collectionId, allDescendants } = selector ?? { collectionId: '', allDescendants: true };
  if (!allDescendants && collectionId !== '') {
    const collection = `${parent}/${collectionId}`;
    return { collection, includes: (name) => name === collection };
  }
  return {
    includes(name) {
      const isInside = name.startsWith(`${parent}/`);
      if (!allDescendants) return isInside && !name.slice(parent.length + 1).includes('/');
      return isInside && (collectionId === '' || lastId(name) === collectionId);
    },
  };
}
