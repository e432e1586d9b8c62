/** What a document was when it was read. Opaque; a commit that names it happens only if the document is still that. */
export type Version = string;

export interface Versioned<Value> {
  readonly value: Value;
  readonly version: Version;
}

/** `conflict`: a document was no longer what was read, and nothing at all was changed. */
export type CommitResult = 'committed' | 'conflict';
