import type { Version } from '../../model/store.ts';
import type { Merge, Missing, Partition } from './partition.ts';

/** What is written of the ledger beside a slot's or the source's document, in the same commit or not at all. */

/** What the end of a partition writes. Whatever was read to decide on it has its version as a precondition. */
export type CloseWrite =
  /** Without a version the slot's own document fences it: the slot has the partition. */
  | { readonly kind: 'partition'; readonly partition: Partition; readonly version?: Version }
  /** It must not be there. */
  | { readonly kind: 'new-partition'; readonly partition: Partition }
  /** Undefined: it must not be there. */
  | { readonly kind: 'merge'; readonly merge: Merge; readonly version: Version | undefined }
  | { readonly kind: 'merge-gone'; readonly id: string; readonly version: Version }
  /** Undefined: it must not be there. */
  | { readonly kind: 'missing'; readonly missing: Missing; readonly version: Version | undefined }
  /** Adds one to the version of the topology without asking what it was: closes wait neither for each other nor for a coordinator. */
  | { readonly kind: 'topology-moved' };

export type LedgerWrite =
  | CloseWrite
  | { readonly kind: 'missing-gone'; readonly id: string; readonly version: Version }
  /** Of a generation that is nobody's. It may be gone already. */
  | { readonly kind: 'partition-gone'; readonly id: string }
  /** Adds one, and the topology must be as it was read (undefined: it has never moved). Coordinators alone ask for that. */
  | { readonly kind: 'topology-moved-from'; readonly version: Version | undefined };
