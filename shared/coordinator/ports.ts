import type { Lease } from '../model/lease.ts';
import type { CommitResult, Version, Versioned } from '../model/store.ts';

/** The document of a pipeline: the state of its kind, and the coordinator's lease. */
export type Led<State> = State & {
  /** Its epoch grows with every change of owner: every commit of an owner is fenced by it. */
  readonly lease: Lease;
};

/** One atomic commit of a coordinator. */
export interface FencedCommit<State, Changes> {
  /**
   * Fences everything else: the pipeline's document as it was read (undefined: it must not exist) and what it becomes.
   * No two commits make it the same value: a store whose answer was lost knows its own commit by it.
   */
  readonly pipeline: { readonly version: Version | undefined; readonly value: Led<State> };
  /** What happens with it, or not at all. Absent where the lease alone is given back. */
  readonly changes?: Changes;
}

/**
 * Where the state of a pipeline is kept. Each method tells what happened or rejects with a `StoreError`, after which a
 * commit may or may not have happened; every wait ends with `signal`.
 */
export interface LedStore<State, Changes> {
  /** Undefined before the first coordinator. */
  readPipeline(signal: AbortSignal): Promise<Versioned<Led<State>> | undefined>;
  commit(commit: FencedCommit<State, Changes>, signal: AbortSignal): Promise<CommitResult>;
}
