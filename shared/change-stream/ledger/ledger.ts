import type { Nanos } from '../../model/change.ts';
import { type RowRange, WHOLE_TABLE } from '../../model/row-range.ts';
import type { Version, Versioned } from '../../model/store.ts';
import type { SlotRead } from '../../slots/ports.ts';
import { gapsIn } from './cover.ts';
import { type HeldPartition, isOpen, type Merge, type Missing, type Partition } from './partition.ts';
import { leastOf, positionOf } from './position-of.ts';

/** Everything that is known of one generation but its finished partitions, as it was at one time. */
export interface Ledger {
  readonly topology: Topology;
  /** Open and completed ones. */
  readonly partitions: readonly Versioned<Partition>[];
  readonly merges: readonly Versioned<Merge>[];
  readonly missing: readonly Versioned<Missing>[];
  /** Every slot that somebody ever had, by its number. */
  readonly slots: ReadonlyMap<number, SlotRead<HeldPartition>>;
}

/** Grows with everything that makes, ends or joins partitions. */
export interface Topology {
  /** 0: it has never moved. */
  readonly number: number;
  /** Undefined: it has never moved. */
  readonly version: Version | undefined;
}

/** Ranges that somebody reads or has read to the end. Tokens that wait do not count: a parent that is lost would keep them waiting forever. */
export const coveredBy = ({ partitions }: Pick<Ledger, 'partitions'>): RowRange[] =>
  partitions.filter(({ value }) => value.state.kind !== 'done').map(({ value }) => value.range);

/**
 * How far the whole source is: nothing that is still to be published was committed before it, as far as the service's own
 * estimates go. Undefined where what was read does not make up the key space: it tells nothing then.
 */
export function lowWatermarkOf(ledger: Ledger): Nanos | undefined {
  const { partitions, merges, missing } = ledger;
  const parked = merges.flatMap(({ value }) => value.tokens.map(({ range }) => range));
  const known = [...coveredBy(ledger), ...parked, ...missing.map(({ value }) => value.range)];
  if (gapsIn(WHOLE_TABLE, known).length > 0) return undefined;
  const completed = partitions.filter(({ value }) => value.state.kind === 'completed');
  return unfinishedLow(ledger) ?? leastOf(completed.map(({ value }) => value.position.lowWatermark));
}

/** The least low watermark of everything that is not read to its end; undefined where nothing is left. */
export const unfinishedLow = ({ partitions, merges, missing, slots }: Ledger): Nanos | undefined =>
  leastOf([
    ...partitions.filter(({ value }) => isOpen(value)).map(({ value }) => positionOf(value, slots).lowWatermark),
    ...merges.map(({ value }) => value.lowWatermark),
    ...missing.map(({ value }) => value.lowWatermark),
  ]);

/** Whether a bounded run was read to its end: nothing waits, is held, parked or missing, and all of the table was read. */
export const isReadToEnd = (ledger: Ledger): boolean =>
  ledger.merges.length === 0 &&
  ledger.missing.length === 0 &&
  !ledger.partitions.some(({ value }) => isOpen(value)) &&
  gapsIn(WHOLE_TABLE, coveredBy(ledger)).length === 0;
