import type { Runtime } from '../../base/runtime.ts';
import type { FailurePolicy } from '../../letters/policy.ts';
import type { Unfinished } from '../../markers/outcome.ts';
import type { CommittingStore } from '../ports.ts';
import type { EnvelopeWriting } from '../write/write-envelopes.ts';
import type { CompletedNumber } from './completed-number.ts';

/** Everything that draining needs; made once per instance by the wiring. */
export interface Committer extends EnvelopeWriting {
  readonly store: CommittingStore;
  readonly completed: CompletedNumber;
  /** What becomes of envelopes that can never be applied. */
  readonly onRejected: FailurePolicy;
  readonly runtime: Pick<Runtime, 'clock' | 'random' | 'metrics' | 'logger'>;
}

/** What a page of segments, or some rests, came to. */
export interface Drained {
  /** Segments that are left because something was not available. */
  readonly segments: number;
  /** What, of the first of them. */
  readonly unavailable?: Pick<Unfinished, 'reason' | 'message'>;
}
