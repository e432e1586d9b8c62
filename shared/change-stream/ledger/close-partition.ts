import type { Version, Versioned } from '../../model/store.ts';
import { formatRange, type RowRange } from '../../model/row-range.ts';
import { Accumulator } from './accumulator.ts';
import { gapsIn, inOrder, isWithin, overlaps } from './cover.ts';
import { mergeId, missingId, partitionId } from './ids.ts';
import {
  type HeldPartition,
  type Merge,
  type Missing,
  movedTo,
  type Partition,
  type Position,
  type Restarted,
  type Token,
  unfailed,
} from './partition.ts';
import type { CloseWrite } from './writes.ts';

/** The end of a partition: what was held in, the writes of the one commit that ends it out. Pure. */

export interface Successor {
  /** The partition that goes on. */
  readonly target: RowRange;
  /** Where it goes on in the part of it that was read here. */
  readonly token: Token;
}

/** How the service closed a partition. */
export interface PartitionClose {
  /** Everything before it is confirmed; the last one that there will be. */
  readonly position: Position;
  /** The end time was reached. */
  readonly isEnd: boolean;
  readonly successors: readonly Successor[];
}

export interface CloseOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The source has an end time. */
  readonly isBounded: boolean;
  /** How long the document of a partition that is done is kept. See `keptMillis`. */
  readonly keptMillis: number;
}

export type ClosedPartition =
  /** It was read to the end of a bounded run. */
  | { readonly kind: 'completed'; readonly writes: readonly CloseWrite[] }
  /** Others go on. */
  | {
      readonly kind: 'done';
      readonly writes: readonly CloseWrite[];
      /** Those that wait from now on. Of one token it was split or moved; of several they were merged. */
      readonly children: readonly Partition[];
      /** Targets that were not known before. */
      readonly discovered: number;
    }
  /** Nobody was told where it goes on: it waits again, with its last token. */
  | { readonly kind: 'given-back'; readonly writes: readonly CloseWrite[] }
  /** The service said what cannot be. It is a failure, and nothing is written. */
  | { readonly kind: 'refused'; readonly problem: string };

/** The names of the merges that a close takes part in: they are to be read before it is decided. */
export const mergesOf = (generation: number, successors: readonly Successor[]): readonly string[] => [
  ...new Set(successors.map(({ target }) => mergeId(generation, target))),
];

/**
 * What becomes of a partition that was closed. Its children are made in the commit that ends it, so that none is there
 * before all of it is confirmed, and none is lost after. Each token is kept beside those that other parents brought for its
 * target; the last one makes the child. A part of it for which no token came is missing from then on, with its position.
 *
 * @param merges those of {@link mergesOf} that are there, as they were read for this attempt.
 */
export function closePartition(
  id: string,
  held: HeldPartition,
  close: PartitionClose,
  merges: ReadonlyMap<string, Versioned<Merge>>,
  { now, isBounded, keptMillis }: CloseOptions,
): ClosedPartition {
  const ended = { ...unfailed(movedTo(held, close.position)), id };
  if (close.successors.length === 0) {
    if (isBounded && close.isEnd)
      return { kind: 'completed', writes: [written({ ...ended, state: { kind: 'completed' } })] };
    const state = { kind: 'waiting', since: now } as const;
    return { kind: 'given-back', writes: [written({ ...ended, round: held.round + 1, state })] };
  }
  const problem = problemOf(held.range, close.successors);
  if (problem !== undefined) return { kind: 'refused', problem };
  const parent = { ...ended, state: { kind: 'done', keptUntil: now + keptMillis } } as const;
  const targets = [...groupsOf(held.generation, close.successors)].map(([name, successors]) =>
    accept(parent, successors, merges.get(name), now),
  );
  const lost = gapsIn(held.range, tokenRanges(close.successors)).map((range) => missingPart(parent, range, now));
  return {
    kind: 'done',
    writes: [written(parent), ...targets.flatMap(({ writes }) => writes), ...lost, { kind: 'topology-moved' }],
    children: targets.flatMap(({ child }) => child ?? []),
    discovered: targets.filter(({ isNew }) => isNew).length,
  };
}

const written = (partition: Partition): CloseWrite => ({ kind: 'partition', partition });

const tokenRanges = (successors: readonly Successor[]): RowRange[] => successors.map(({ token }) => token.range);

/** Two partitions must never have the same key: it would be read twice, in no order. */
function problemOf(range: RowRange, successors: readonly Successor[]): string | undefined {
  const outside = successors.find(({ token }) => !isWithin(token.range, range));
  if (outside)
    return `it closed ${formatRange(range)} with a token of ${formatRange(outside.token.range)}, which lies outside`;
  const ordered = inOrder(successors, ({ token }) => token.range);
  for (const [place, { token, target }] of ordered.entries()) {
    const next = ordered[place + 1];
    const isSame = next?.token.token === token.token && mergeId(0, next.target) === mergeId(0, target);
    if (next && !isSame && overlaps(token.range, next.token.range)) {
      return `it closed ${formatRange(range)} with tokens of ${formatRange(token.range)} and ${formatRange(next.token.range)}, which overlap`;
    }
  }
  return undefined;
}

function groupsOf(generation: number, successors: readonly Successor[]): Map<string, Successor[]> {
  const groups = new Map<string, Successor[]>();
  for (const successor of successors) {
    const name = mergeId(generation, successor.target);
    groups.set(name, [...(groups.get(name) ?? []), successor]);
  }
  return groups;
}

interface Accepted {
  readonly writes: readonly CloseWrite[];
  readonly child?: Partition;
  readonly isNew: boolean;
}

/** The tokens of one target, beside those that are there. */
function accept(
  parent: Partition,
  [first, ...others]: readonly Successor[],
  read: Versioned<Merge> | undefined,
  now: number,
): Accepted {
  if (!first) return { writes: [], isNew: false };
  const accumulator = new Accumulator(first.target, read?.value.tokens);
  for (const { token } of [first, ...others]) accumulator.add(token);
  const merge = mergeWith(read?.value, parent, accumulator);
  const isNew = read === undefined;
  if (!accumulator.isComplete) return { writes: [{ kind: 'merge', merge, version: read?.version }], isNew };
  const child: Partition = {
    id: partitionId(parent.generation, merge.target, merge.tokens, parent.id),
    generation: parent.generation,
    range: merge.target,
    position: { tokens: merge.tokens, lowWatermark: merge.lowWatermark },
    round: merge.round,
    failures: 0,
    ...(merge.restarted && { restarted: merge.restarted }),
    state: { kind: 'waiting', since: now },
  };
  const gone = read ? [mergeGone(read.value.id, read.version)] : [];
  return { writes: [...gone, { kind: 'new-partition', partition: child }], child, isNew };
}

const mergeGone = (id: string, version: Version): CloseWrite => ({ kind: 'merge-gone', id, version });

function mergeWith(before: Merge | undefined, parent: Partition, { target, tokens }: Accumulator): Merge {
  const { lowWatermark } = parent.position;
  const restarted = laterOf(before?.restarted, parent.restarted);
  return {
    id: mergeId(parent.generation, target),
    ...{ generation: parent.generation, target, tokens },
    lowWatermark: before && before.lowWatermark < lowWatermark ? before.lowWatermark : lowWatermark,
    round: Math.min(before?.round ?? parent.round, parent.round),
    ...(restarted && { restarted }),
  };
}

/** Of two marks the one that stays longer. */
export function laterOf(left: Restarted | undefined, right: Restarted | undefined): Restarted | undefined {
  if (!left || !right) return left ?? right;
  return left.until < right.until ? right : left;
}

function missingPart(parent: Partition, range: RowRange, now: number): CloseWrite {
  const missing: Missing = {
    id: missingId(parent.generation, range, parent.id),
    generation: parent.generation,
    range,
    firstObserved: now,
    lowWatermark: parent.position.lowWatermark,
  };
  return { kind: 'missing', missing, version: undefined };
}
