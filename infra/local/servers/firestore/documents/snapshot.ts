import type { Change, DocumentView } from './document-store.ts';
import type { StoredDocument } from './document.ts';
import { lastId, orderKey, parentOf } from './names.ts';

/** The documents as they were when it was taken: what a read-only transaction reads. It is told of every commit. */
export class Snapshot implements DocumentView {
  readonly #now: DocumentView;
  /** What commits since then replaced; undefined for a document that was not there. */
  readonly #replaced = new Map<string, StoredDocument | undefined>();

  constructor(now: DocumentView) {
    this.#now = now;
  }

  /** Keeps the versions that a commit replaces. */
  keep(changes: readonly Change[]): void {
    for (const { name, before } of changes) if (!this.#replaced.has(name)) this.#replaced.set(name, before);
  }

  get(name: string): StoredDocument | undefined {
    return this.#replaced.has(name) ? this.#replaced.get(name) : this.#now.get(name);
  }

  collections(): Iterable<string> {
    const replaced = [...this.#replaced.values()].flatMap((document) => (document ? parentOf(document.name) : []));
    return new Set([...this.#now.collections(), ...replaced]);
  }

  documents(collection: string, order: 'ascending' | 'descending'): Iterable<StoredDocument> {
    const kept = [...this.#replaced.values()].filter((document) => document && parentOf(document.name) === collection);
    const unchanged = [...this.#now.documents(collection, order)].filter(({ name }) => !this.#replaced.has(name));
    if (kept.length === 0) return unchanged;
    const sorted = [...unchanged, ...kept].filter((document) => document !== undefined).toSorted(byId);
    return order === 'ascending' ? sorted : sorted.toReversed();
  }
}

function byId(left: StoredDocument, right: StoredDocument): number {
  const [a, b] = [orderKey(lastId(left.name)), orderKey(lastId(right.name))];
  return a < b ? -1 : a > b ? 1 : 0;
}
