import type { Document } from '../../../../../shared/proto/google/firestore/v1/document.ts';
import type {
  ListCollectionIdsResponse,
  ListDocumentsResponse,
} from '../../../../../shared/proto/google/firestore/v1/firestore.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import type { RequestOf } from '../api.ts';
import type { DocumentView } from '../documents/document-store.ts';
import { documentMessage } from '../documents/document.ts';
import { NAME_FIELD, parseFieldPath } from '../documents/field-path.ts';
import { databaseOf, lastId, orderKey, requireParent } from '../documents/names.ts';
import type { FirestoreState } from '../state.ts';
import { startReading } from './reads.ts';

/**
 * The documents of a collection in the order of their ids. With `showMissing` also ids that have collections below them
 * and no document: those are answered by name alone.
 */
export function listDocuments(
  state: FirestoreState,
  {
    parent,
    collectionId,
    pageSize,
    pageToken,
    orderBy,
    mask,
    consistencySelector,
    showMissing,
  }: RequestOf<'ListDocuments'>,
): ListDocumentsResponse {
  requireParent(parent);
  if (orderBy !== '' && orderBy !== NAME_FIELD) {
    throw new GrpcError('UNIMPLEMENTED', `order_by "${orderBy}": this local server lists documents by name only`);
  }
  const paths = mask?.fieldPaths.map(parseFieldPath);
  const { view } = startReading(state, databaseOf(parent), consistencySelector);
  const collection = `${parent}/${collectionId}`;
  const documents = new Map<string, Document>();
  for (const name of showMissing ? parentsBelow(view, collection) : []) {
    documents.set(name, { name, fields: {}, createTime: undefined, updateTime: undefined });
  }
  for (const document of view.documents(collection, 'ascending')) {
    documents.set(document.name, documentMessage(document, paths));
  }
  const page = pageOf([...documents.values()], ({ name }) => lastId(name), pageSize, pageToken);
  state.counters.queryRun(page.items.length);
  return { documents: page.items, nextPageToken: page.nextPageToken };
}

/** The names in a collection that have collections below them. */
function parentsBelow(view: DocumentView, collection: string): Set<string> {
  const names = [...view.collections()]
    .filter((below) => below.startsWith(`${collection}/`))
    .map(
      (below) =>
        `${collection}/${below
          .slice(collection.length + 1)
          .split('/', 1)
          .join('')}`,
    );
  return new Set(names);
}

/** The ids of the collections right below a document, or of a database's root. */
export function listCollectionIds(
  state: FirestoreState,
  { parent, pageSize, pageToken, consistencySelector }: RequestOf<'ListCollectionIds'>,
): ListCollectionIdsResponse {
  requireParent(parent);
  const { view } = startReading(state, databaseOf(parent), consistencySelector);
  const ids = [...view.collections()]
    .filter((collection) => collection.startsWith(`${parent}/`))
    .map((collection) =>
      collection
        .slice(parent.length + 1)
        .split('/', 1)
        .join(''),
    );
  const page = pageOf([...new Set(ids)], (id) => id, pageSize, pageToken);
  state.counters.documentsRead(1);
  return { collectionIds: page.items, nextPageToken: page.nextPageToken };
}

const DEFAULT_PAGE_SIZE = 300;

interface Page<Item> {
  readonly items: Item[];
  /** Empty on the last page, else the last id that was given out. */
  readonly nextPageToken: string;
}

function pageOf<Item>(all: readonly Item[], idOf: (item: Item) => string, pageSize: number, token: string): Page<Item> {
  if (pageSize < 0) throw new GrpcError('INVALID_ARGUMENT', `page_size: must not be negative, got ${pageSize}`);
  const size = pageSize === 0 ? DEFAULT_PAGE_SIZE : pageSize;
  const rest = all
    .map((item) => ({ item, id: idOf(item), key: orderKey(idOf(item)) }))
    .filter(({ key }) => token === '' || key > orderKey(token))
    .toSorted((left, right) => (left.key < right.key ? -1 : 1));
  const page = rest.slice(0, size);
  return { items: page.map(({ item }) => item), nextPageToken: rest.length > size ? (page.at(-1)?.id ?? '') : '' };
}
