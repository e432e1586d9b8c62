import type { RowEntry } from '../model/mutation.ts';
import type { TableName } from '../model/table-name.ts';
import { Lane, type LaneEntry } from './lane.ts';
import type { Trouble, Outcome } from './outcome.ts';

/** One admitted entry and the invocation that waits for it. */
export class WaitingEntry implements LaneEntry {
  readonly entry: RowEntry;
  readonly bytes: number;
  /** All unsettled entries of its invocation. */
  readonly #siblings: Set<WaitingEntry>;
  readonly #onOutcome: (outcome: Outcome) => void;
  /** In a request, or between the requests that narrow a refusal down. */
  isHeld = false;
  isAbandoned = false;
  isSettled = false;
  trouble: Trouble | undefined;

  constructor(entry: RowEntry, bytes: number, siblings: Set<WaitingEntry>, onOutcome: (outcome: Outcome) => void) {
    this.entry = entry;
    this.bytes = bytes;
    this.#siblings = siblings;
    this.#onOutcome = onOutcome;
    siblings.add(this);
  }

  /** Tells the invocation, the first time only: an entry abandoned on the wire is answered to nobody. */
  resolve(outcome: Outcome): void {
    if (this.#siblings.delete(this)) this.#onOutcome(outcome);
  }
}

/** A table that is being written: its waiting room, and what the batcher keeps beside it. */
export class TableLane {
  readonly queue = new Lane<WaitingEntry>();
  readonly key: string;
  readonly table: TableName;
  /** Batches in flight, their isolation included. */
  requests = 0;
  isPumpDue = false;
  gatheringSince: number | undefined;
  throttledSince: number | undefined;
  wake: (() => void) | undefined;
  /** Batches that were parked and wait for a request slot, longest first. */
  readonly resuming: (() => void)[] = [];

  constructor(key: string, table: TableName) {
    this.key = key;
    this.table = table;
  }

  cancelWake(): void {
    this.wake?.();
    this.wake = undefined;
  }
}
