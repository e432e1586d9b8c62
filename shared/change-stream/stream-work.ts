import type { UnitEmission, UnitOptions } from '../emission/unit.ts';
import type { Change } from '../model/change.ts';
import type { OutgoingMessage } from '../model/publishing.ts';
import type { RowRange } from '../model/row-range.ts';
import type { ChangeFilter } from './change-filter.ts';
import type { HeldPartition, Position } from './ledger/partition.ts';
import type { PartitionStream } from './reading/ports.ts';

/** What the partitions of one source are read with in one session. Nothing in it belongs to a single partition. */
export interface StreamWork {
  /** The stream of a partition from a position on, with every retry inside. It ends with the signal. */
  readonly open: (range: RowRange, position: Position, signal: AbortSignal) => PartitionStream;
  /** What is left of a change, before its messages are made. Absent: everything is handed on. */
  readonly filter?: ChangeFilter;
  /**
   * The messages of a change in their order; none of one that is left out.
   *
   * @param restarted the partition began anew, and its messages say so.
   * @throws where the change has no such form, with the rule that it breaks.
   */
  readonly messagesOf: (change: Change, restarted: HeldPartition['restarted']) => readonly OutgoingMessage[];
  /** Of every partition's unit. */
  readonly unit: UnitOptions;
}

/** Opens the way of one partition to the topic, under the lease of the slot; see `Emission.open`. */
export type OpenUnit = <Position>(
  options: UnitOptions,
  onConfirmed: (position: Position) => void,
) => UnitEmission<Position>;

/** When a session ends. */
export interface SessionEnd {
  /** Reading ends, and everything is given back. */
  readonly stop: AbortSignal;
  /** Whatever is not done by then is left as it is. */
  readonly end: AbortSignal;
}
