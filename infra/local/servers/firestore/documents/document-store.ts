import { OrderedIndex } from '../../../base/ordered-index.ts';
import type { StoredDocument } from './document.ts';
import { lastId, orderKey, parentOf } from './names.ts';

/** A place for a document in its collection, kept while there is one. */
export interface Slot {
  readonly key: string;
  document: StoredDocument | undefined;
}

/** What a write leaves of a document: the version before it, and the one after it. */
export interface Change {
  readonly name: string;
  readonly before: StoredDocument | undefined;
  readonly after: StoredDocument | undefined;
}

/** What queries read: the documents of the store as they are, or as they were. */
export interface DocumentView {
  get(name: string): StoredDocument | undefined;
  /** Full names of the collections that hold a document, in no order. */
  collections(): Iterable<string>;
  /** The documents of a collection in the order of their ids, from one id on, where one is named. */
  documents(collection: string, order: 'ascending' | 'descending'): Iterable<StoredDocument>;
}

/** The current documents of every database, by collection and id. `apply` is the only way that they change. */
export class DocumentStore implements DocumentView {
  readonly #collections = new Map<string, OrderedIndex<Slot>>();

  get(name: string): StoredDocument | undefined {
    return this.#collections.get(parentOf(name))?.get(orderKey(lastId(name)))?.document;
  }

  collections(): Iterable<string> {
    return this.#collections.keys();
  }

  *documents(collection: string, order: 'ascending' | 'descending'): Generator<StoredDocument> {
    const slots = this.#collections.get(collection);
    if (!slots) return;
    for (const { document } of order === 'ascending'
      ? slots.ascending('', false)
      : slots.descending(undefined, false)) {
      if (document) yield document;
    }
  }

  /** Makes all changes at once. */
  apply(changes: readonly Change[]): void {
    for (const { name, after } of changes) {
      if (after) this.#put(after);
      else this.#remove(name);
    }
  }

  #put(document: StoredDocument): void {
    const collection = parentOf(document.name);
    let slots = this.#collections.get(collection);
    if (!slots) {
      slots = new OrderedIndex((key) => ({ key, document: undefined }));
      this.#collections.set(collection, slots);
    }
    slots.getOrInsert(orderKey(lastId(document.name))).document = document;
  }

  #remove(name: string): void {
    const collection = parentOf(name);
    const slots = this.#collections.get(collection);
    slots?.delete(orderKey(lastId(name)));
    if (slots?.size === 0) this.#collections.delete(collection);
  }
}
