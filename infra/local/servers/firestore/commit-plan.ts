import type { Write, WriteResult } from '../../../../shared/proto/google/firestore/v1/write.ts';
import type { StoredDocument } from './document.ts';
import type { Change, DocumentView } from './document-store.ts';
import { applyWrite, writtenDocument } from './write.ts';

/** What a commit would do. */
export interface CommitPlan {
  /** One for each document that is written. */
  readonly changes: readonly Change[];
  /** One for each write, in order. */
  readonly results: readonly WriteResult[];
}

/**
 * Plans the writes of one commit in their order, each on what those before it leave. Pure: nothing is stored, so that a
 * write that is refused leaves nothing of the others. @throws the first refusal
 */
export function planCommit(store: DocumentView, writes: readonly Write[], nowMicros: bigint): CommitPlan {
  const after = new Map<string, StoredDocument | undefined>();
  const results = writes.map((write) => {
    const name = writtenDocument(write);
    const current = after.has(name) ? after.get(name) : store.get(name);
    const { document, result } = applyWrite(write, current, nowMicros);
    after.set(name, document);
    return result;
  });
  const changes = [...after].map(([name, document]) => ({ name, before: store.get(name), after: document }));
  return { changes, results };
}
