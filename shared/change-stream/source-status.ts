import type { Nanos } from '../model/change.ts';
import type { RowRange } from '../model/row-range.ts';
import { hasRunOut, LEASE_MILLIS } from '../slots/lease.ts';
import type { SlotRead } from '../slots/ports.ts';
import { type Ledger, lowWatermarkOf, unfinishedLow } from './ledger/ledger.ts';
import { type HeldPartition, isOpen, type Merge, type Missing, type Partition } from './ledger/partition.ts';
import { heldBy, millisOf, positionOf } from './ledger/position-of.ts';
import { TOKEN_GRACE_MILLIS, TOKENLESS_GRACE_MILLIS } from './ledger/reconcile.ts';
import type { ChangeStreamStatusStore } from './ports.ts';
import type { Source } from './source.ts';

/** What people see of a source while it goes on, as it was at one time. Durations are milliseconds, and never below 0. */
export interface SourceOverview {
  readonly source: Source;
  /** By the clock of whoever looks, milliseconds since the epoch: lags and timers are told against it. */
  readonly now: number;
  /** Least of everything that is waiting, held, parked and missing. Absent where what was read does not make up the table. */
  readonly lowWatermark?: Nanos;
  /** Absent where nothing is left to be read, and where the low watermark is not known. */
  readonly lagMillis?: number;
  /** Until the service forgets what comes next somewhere. Absent where its retention or the position is not known. */
  readonly headroomMillis?: number;
  /** Those that are to be read on, the one that lags most first. */
  readonly partitions: readonly PartitionOverview[];
  /** Those that were read to the end of a bounded run. */
  readonly completed: number;
  readonly merges: readonly MergeOverview[];
  readonly missing: readonly MissingOverview[];
  readonly slots: readonly SlotOverview[];
}

export interface PartitionOverview {
  readonly id: string;
  readonly range: RowRange;
  readonly state: 'waiting' | 'resting' | 'held';
  /** Of one that is held. */
  readonly slot?: number;
  /** Until one that rests may be taken. */
  readonly restMillis?: number;
  readonly lowWatermark: Nanos;
  readonly lagMillis: number;
  readonly headroomMillis?: number;
  /** Times in a row that it ended in failure without having moved. */
  readonly failures: number;
  readonly problem?: string;
}

/** Tokens that wait for others. */
export interface MergeOverview {
  readonly target: RowRange;
  /** What they were issued for. */
  readonly parked: readonly RowRange[];
  readonly lagMillis: number;
}

/** A part of the table that nobody reads. */
export interface MissingOverview {
  readonly range: RowRange;
  readonly missingMillis: number;
  /** Until it is read on from tokens, where they wait for it. */
  readonly fromTokensMillis: number;
  /** Until it is read anew without any. */
  readonly tokenlessMillis: number;
  readonly lagMillis: number;
}

export interface SlotOverview {
  readonly slot: number;
  /** Empty: nobody's. */
  readonly owner: string;
  readonly epoch: number;
  /** Until the lease runs out, where somebody has it; 0 where it has. */
  readonly leaseMillis: number;
  /** Of this start of the source. */
  readonly partitions: number;
}

/** Undefined where the source was never started nor paused. */
export async function readSourceOverview(
  store: Pick<ChangeStreamStatusStore, 'readPipeline' | 'readLedger'>,
  clock: { now(): number },
  signal: AbortSignal,
): Promise<SourceOverview | undefined> {
  const source = (await store.readPipeline(signal))?.value;
  if (!source) return undefined;
  const ledger = await store.readLedger(source.generation, signal);
  return overviewOf(source, ledger, clock.now());
}

/** Every position is that of `positionOf`. Pure. */
export function overviewOf(source: Source, ledger: Ledger, now: number): SourceOverview {
  const partitions = ledger.partitions.map(({ value }) => value);
  const lowWatermark = lowWatermarkOf(ledger);
  const unfinished = unfinishedLow(ledger);
  const headroomMillis = unfinished === undefined ? undefined : headroomOf(unfinished, source, now);
  return {
    ...{ source, now },
    ...(lowWatermark !== undefined && { lowWatermark }),
    ...(lowWatermark !== undefined && unfinished !== undefined && { lagMillis: lagOf(lowWatermark, now) }),
    ...(headroomMillis !== undefined && { headroomMillis }),
    partitions: partitions.flatMap((each) => partitionOverview(each, ledger, source, now)).toSorted(byLag),
    completed: partitions.filter(({ state }) => state.kind === 'completed').length,
    merges: ledger.merges.map(({ value }) => mergeOverview(value, now)),
    missing: ledger.missing.map(({ value }) => missingOverview(value, now)),
    slots: [...ledger.slots].map(([slot, read]) => slotOverview(slot, read, source.generation)),
  };
}

const lagOf = (low: Nanos, now: number): number => Math.max(0, now - millisOf(low));

function headroomOf(low: Nanos, { retention }: Source, now: number): number | undefined {
  return retention && Math.max(0, millisOf(low) + retention.millis - now);
}

function partitionOverview(partition: Partition, ledger: Ledger, source: Source, now: number): PartitionOverview[] {
  const { id, range, state } = partition;
  if (!isOpen(partition) || state.kind === 'done' || state.kind === 'completed') return [];
  const { lowWatermark } = positionOf(partition, ledger.slots);
  const { failures, problem } = heldBy(partition, ledger.slots) ?? partition;
  const headroomMillis = headroomOf(lowWatermark, source, now);
  return [
    {
      ...{ id, range, state: state.kind },
      ...(state.kind === 'held' && { slot: state.slot }),
      ...(state.kind === 'resting' && { restMillis: Math.max(0, state.notBefore - now) }),
      ...{ lowWatermark, lagMillis: lagOf(lowWatermark, now) },
      ...(headroomMillis !== undefined && { headroomMillis }),
      failures,
      ...(problem !== undefined && { problem }),
    },
  ];
}

/** By position, and not by lag, which is 0 for all that a clock behind sees ahead of it. */
const byLag = ({ lowWatermark: left }: PartitionOverview, { lowWatermark: right }: PartitionOverview): number =>
  left < right ? -1 : left > right ? 1 : 0;

const mergeOverview = ({ target, tokens, lowWatermark }: Merge, now: number): MergeOverview => ({
  ...{ target, parked: tokens.map(({ range }) => range), lagMillis: lagOf(lowWatermark, now) },
});

function missingOverview({ range, firstObserved, lowWatermark }: Missing, now: number): MissingOverview {
  const until = (grace: number): number => Math.max(0, firstObserved + grace - now);
  return {
    range,
    missingMillis: Math.max(0, now - firstObserved),
    fromTokensMillis: until(TOKEN_GRACE_MILLIS),
    tokenlessMillis: until(TOKENLESS_GRACE_MILLIS),
    lagMillis: lagOf(lowWatermark, now),
  };
}

function slotOverview(slot: number, read: SlotRead<HeldPartition>, generation: number): SlotOverview {
  const { owner, epoch, units } = read.value;
  return {
    ...{ slot, owner, epoch },
    leaseMillis: owner === '' || hasRunOut(read) ? 0 : LEASE_MILLIS - (read.readAt - read.updatedAt),
    partitions: Object.values(units).filter((held) => held.generation === generation).length,
  };
}
