import { toError } from '../../base/errors.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { TableName } from '../../model/table-name.ts';
import type { Admission } from './admission.ts';
import type { FinalVerdict } from '../verdict.ts';
import { deadlineOutcome, outcomeOf, type Trouble, type Outcome } from '../outcome.ts';
import { WaitingEntry } from './waiting-entry.ts';
import type { RowEntry } from '../../model/mutation.ts';

/**
 * The ends of entries: decided, or abandoned by an invocation that ran out of time.
 *
 * What must stay true: every entry is settled exactly once and releases its admission exactly once. An abandoned one
 * tells its invocation at once; what is on the wire keeps its admission until it is answered.
 */
export class Settlement {
  readonly #admission: Admission;
  readonly #metrics: Runtime['metrics'];
  readonly #onFinished: () => void;
  readonly #waiting = new WeakMap<AbortSignal, Set<WaitingEntry>>();
  /** Entries that wait, with their rows held, for another attempt. */
  #parked = 0;

  constructor(admission: Admission, { metrics }: Runtime, onFinished: () => void) {
    this.#admission = admission;
    this.#metrics = metrics;
    this.#onFinished = onFinished;
    metrics.observe('inFlightEntries', () => admission.entries);
    metrics.observe('inFlightBytes', () => admission.bytes);
    metrics.observe('parkedEntries', () => this.#parked);
  }

  /** Takes an admitted entry in; `resolve` is called with its outcome. */
  expect(entry: RowEntry, bytes: number, signal: AbortSignal, resolve: (outcome: Outcome) => void): WaitingEntry {
    const waiting = new WaitingEntry(entry, bytes, this.#waitingFor(signal), resolve);
    // Admitted and aborted in one turn: the event is over, and nobody else would ever end this wait.
    if (signal.aborted) this.#abandon(waiting, toError(signal.reason));
    return waiting;
  }

  /**
   * The unsettled entries of one invocation, all abandoned when its signal aborts. One listener for all of them: an
   * event target compares a new listener with every one it has, which would cost a message of n records n² steps.
   */
  #waitingFor(signal: AbortSignal): Set<WaitingEntry> {
    const known = this.#waiting.get(signal);
    if (known) return known;
    const waiting = new Set<WaitingEntry>();
    this.#waiting.set(signal, waiting);
    const onAbort = (): void => {
      for (const entry of waiting) this.#abandon(entry, toError(signal.reason));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    return waiting;
  }

  settle(entry: WaitingEntry, verdict: FinalVerdict, table: TableName): void {
    if (verdict.kind === 'applied') this.#metrics.count('recordsApplied');
    else this.#metrics.count('errorClass.errors', 1, verdict.status.code);
    this.finish(entry, outcomeOf(verdict, table));
  }

  finish(entry: WaitingEntry, outcome: Outcome): void {
    if (entry.isSettled) return;
    entry.isSettled = true;
    this.#admission.release(entry.bytes);
    entry.resolve(outcome);
    this.#onFinished();
  }

  /** The entries leave the wire undecided and wait; those that nobody waits for are done with. */
  park(entries: readonly WaitingEntry[], trouble: Trouble): void {
    this.#parked += entries.length;
    for (const entry of entries) {
      entry.trouble = trouble;
      this.unhold(entry);
    }
  }

  unpark(entries: readonly WaitingEntry[]): void {
    this.#parked -= entries.length;
  }

  /** The invocation that waited has run out of time. On the wire, the entry keeps its admission until it is answered. */
  #abandon(entry: WaitingEntry, reason: Error): void {
    entry.isAbandoned = true;
    const outcome = deadlineOutcome(reason, entry.trouble);
    const { uncounted } = entry.trouble ?? {};
    if (uncounted) this.#metrics.count('errorClass.errors', 1, uncounted);
    if (entry.isHeld) entry.resolve(outcome);
    else this.finish(entry, outcome);
  }

  /** An entry that leaves the wire undecided: if its invocation is gone, it is done with. */
  unhold(entry: WaitingEntry): void {
    entry.isHeld = false;
    if (entry.isAbandoned) this.finish(entry, deadlineOutcome(new Error('abandoned'), entry.trouble));
  }
}
