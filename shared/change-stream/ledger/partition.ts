import type { Nanos } from '../../model/change.ts';
import { formatRange, type RowRange } from '../../model/row-range.ts';

/**
 * What the ledger of a change stream holds: partitions, tokens that wait for others before a partition is whole, and parts
 * of the key space that nobody has. Plain values. Times are milliseconds since the epoch where nothing else is said.
 */

/** A continuation token, and the part of the key space that it was issued for: it is good for that one alone. */
export interface Token {
  readonly range: RowRange;
  readonly token: string;
}

/** Where to go on in a partition: at all of its tokens, or without any from the low watermark as start time. */
export interface Position {
  readonly tokens: readonly Token[];
  readonly lowWatermark: Nanos;
}

/** A partition that was read anew from a time: what it gives may have been given before, or a part of it is missing. */
export interface Restarted {
  /** Without the tokens, which were lost; or because its position was older than what the service keeps. */
  readonly how: 'tokenless' | 'fallback';
  /** Its messages say so until its low watermark has passed this. */
  readonly until: Nanos;
}

/** What a slot knows of a partition that it has. */
export interface HeldPartition {
  /** Of the source. What belongs to another one is nobody's: no query finds it. */
  readonly generation: number;
  /** From a key or from the start of the table, before a key or to its end. It never changes. */
  readonly range: RowRange;
  readonly position: Position;
  /** The round of the queue in which it waits or was taken. A child has that of its parent. */
  readonly round: number;
  /** Times in a row that it ended in failure without having moved. */
  readonly failures: number;
  /** Why it failed last: what was refused and what to do. For people. */
  readonly problem?: string;
  readonly restarted?: Restarted;
}

export type PartitionState =
  /** Anybody may take it, in its turn. @see HeldPartition.round */
  | { readonly kind: 'waiting'; /** From this time on. */ readonly since: number }
  /** It failed, and may be taken from this time on. */
  | { readonly kind: 'resting'; readonly notBefore: number }
  | { readonly kind: 'held'; readonly slot: number; readonly epoch: number }
  /** Others go on where it ended. Its position tells how far its part of the table was read. */
  | { readonly kind: 'done'; /** A TTL policy deletes it then. */ readonly keptUntil: number }
  /** It was read to the end of a bounded run. It covers its part of the table for as long as the run lasts. */
  | { readonly kind: 'completed'; /** Once the run is done. */ readonly keptUntil?: number };

/** A partition's own document: written when it changes hands or ends, and at no other time. */
export interface Partition extends HeldPartition {
  /** See `partitionId`. */
  readonly id: string;
  readonly state: PartitionState;
}

/** Tokens that wait for others: together they will tile the target, and then it is a partition. */
export interface Merge {
  /** See `mergeId`. */
  readonly id: string;
  readonly generation: number;
  readonly target: RowRange;
  /** In the order of their ranges, then of their texts. At least one. */
  readonly tokens: readonly Token[];
  /** The least of those that came with a token. */
  readonly lowWatermark: Nanos;
  /** The round of whichever parent closed first. */
  readonly round: number;
  /** Of a parent, where the child has not passed it yet. */
  readonly restarted?: Restarted;
}

/** A part of a partition of the service that nobody of the ledger has. */
export interface Missing {
  /** See `missingId`. */
  readonly id: string;
  readonly generation: number;
  readonly range: RowRange;
  /** Since when it is known to be nobody's. */
  readonly firstObserved: number;
  /** How far it was read before it was lost, or the least that it can have been. */
  readonly lowWatermark: Nanos;
}

/** What a slot knows of a partition that it takes. */
export const heldOf = ({
  generation,
  range,
  position,
  round,
  failures,
  problem,
  restarted,
}: Partition): HeldPartition => ({
  ...{ generation, range, position, round, failures },
  ...(problem !== undefined && { problem }),
  ...(restarted && { restarted }),
});

/** Neither done nor completed: somebody is to read on in it. */
export const isOpen = ({ state: { kind } }: Pick<Partition, 'state'>): boolean =>
  kind !== 'done' && kind !== 'completed';

/** Whether a range has the form of a partition: its start is in it, and its end is not. */
export const isPartitionRange = ({ start, end }: RowRange): boolean => start.kind !== 'open' && end.kind !== 'closed';

/** @throws RangeError of a range that no partition can have. */
export function requirePartitionRange(range: RowRange): RowRange {
  if (isPartitionRange(range)) return range;
  throw new RangeError(`${formatRange(range)} is no partition: a partition holds its start and not its end`);
}

/**
 * A partition that went on. Failures count anew where it did; its low watermark never moves back, because what was read once
 * was read.
 */
export function movedTo(before: HeldPartition, { tokens, lowWatermark: told }: Position): HeldPartition {
  const { position, restarted } = before;
  const lowWatermark = told > position.lowWatermark ? told : position.lowWatermark;
  if (lowWatermark === position.lowWatermark && areSame(tokens, position.tokens)) return before;
  const isMarked = restarted !== undefined && lowWatermark <= restarted.until;
  const { generation, range, round } = before;
  return {
    ...{ generation, range, position: { tokens, lowWatermark }, round, failures: 0 },
    ...(isMarked && { restarted }),
  };
}

/** The same as if it had never failed. */
export const unfailed = ({ generation, range, position, round, restarted }: HeldPartition): HeldPartition => ({
  ...{ generation, range, position, round, failures: 0 },
  ...(restarted && { restarted }),
});

const areSame = (left: readonly Token[], right: readonly Token[]): boolean =>
  left.length === right.length && left.every(({ token }, place) => token === right[place]?.token);
