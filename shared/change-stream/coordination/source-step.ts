import type { Nanos } from '../../model/change.ts';
import type { Reconciliation } from '../ledger/reconcile.ts';
import type { LedgerWrite } from '../ledger/writes.ts';
import type { Source } from '../source.ts';

/** What the deployment asks for. */
export interface AskedSource {
  /** As JSON. They are the source's from its start on. */
  readonly options: string;
  /** Absent: it goes on. */
  readonly endTime?: Nanos;
}

/** What becomes of a source, in one commit. */
export type SourceEvent = 'batch' | 'started' | 'stopped' | 'resumed' | 'reconciled' | 'done' | 'noted' | 'cleaned';

export interface SourceStep {
  readonly event: SourceEvent;
  readonly source: Source;
  readonly changes: readonly LedgerWrite[];
  /** Another one is to be made at once. */
  readonly hasMore: boolean;
  readonly reconciliation?: Reconciliation;
}
