import { type BackoffSchedule, backoffDelay } from '../../base/backoff.ts';
import { ConnectorError } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import type { Bound, RowRange } from '../../model/row-range.ts';
import type { Version, Versioned } from '../../model/store.ts';
import type { GiveBack } from '../../slots/lease.ts';
import type { SlotUpdate } from '../../slots/session.ts';
import { type CloseOptions, closePartition, type PartitionClose } from './close-partition.ts';
import {
  type HeldPartition,
  type Merge,
  movedTo,
  type Partition,
  type PartitionState,
  type Position,
} from './partition.ts';
import type { LedgerWrite } from './writes.ts';

/** Everything that a slot writes of its partitions. Pure: each makes an edit of whatever the slot has by then. */

export type PartitionUpdate = SlotUpdate<HeldPartition, LedgerWrite>;

const FAILURE_BACKOFF: BackoffSchedule = { initialMillis: 10_000, maxMillis: 600_000, jitter: 0.2 };

/** Of a problem's text: a slot's document holds one for each of its partitions. */
const MAX_PROBLEM = 1000;

const written = (id: string, held: HeldPartition, state: PartitionState): LedgerWrite => ({
  kind: 'partition',
  partition: { ...held, id, state },
});

/**
 * A partition that waits in its own document, for any slot. One whose slot fell silent has failed once more: what it is read
 * for may be what ended its reader. It waits all the same, and at once; from the third time on it rests before, so that the
 * others come first.
 *
 * @param tailRound the highest round that waits, as it was read just before; absent, or undefined: as far as is known it is
 *   the one in which the partition was taken.
 */
export const giveBackTo =
  (tailRound: () => number | undefined = () => undefined): GiveBack<HeldPartition, LedgerWrite> =>
  (id, held, since, reason) => {
    if (reason === 'released') return written(id, behind(held, tailRound()), { kind: 'waiting', since });
    const failures = held.failures + 1;
    const failed = behind({ ...held, failures, problem: SILENT });
    if (!endsItsReader(failed)) return written(id, failed, { kind: 'waiting', since });
    const rest = Math.min(
      FAILURE_BACKOFF.maxMillis,
      FAILURE_BACKOFF.initialMillis * 2 ** (failures - SUSPECT_FAILURES),
    );
    return written(id, failed, { kind: 'resting', notBefore: since + rest });
  };

const SILENT = 'the invocation that read it ended without giving it back';

/** So often in a row its reader must have fallen silent. */
const SUSPECT_FAILURES = 3;

/** Whether what it is read for may be what ends its readers: it is read alone then, so that it takes no other with it. */
export const endsItsReader = ({ failures, problem }: Pick<HeldPartition, 'failures' | 'problem'>): boolean =>
  failures >= SUSPECT_FAILURES && problem === SILENT;

/** In the round after all who wait. */
const behind = (held: HeldPartition, tailRound?: number): HeldPartition => ({
  ...held,
  round: 1 + Math.max(held.round, tailRound ?? 0),
});

/** The write with which a slot has a partition that waited. @param version of its document as it was read. */
export const takePartition = (
  partition: Partition,
  held: HeldPartition,
  { slot, epoch, version }: { readonly slot: number; readonly epoch: number; readonly version: Version },
): LedgerWrite => ({
  kind: 'partition',
  partition: { ...held, id: partition.id, state: { kind: 'held', slot, epoch } },
  version,
});

/** It went on: everything before the position is confirmed. Whatever failed before it did counts no more. */
export const movePartition = (id: string, position: Position): PartitionUpdate =>
  movePartitions(new Map([[id, position]]));

/** Many at once, in one edit. */
export const movePartitions = (positions: ReadonlyMap<string, Position>): PartitionUpdate => ({
  edit: (units) => {
    const moved = [...positions].flatMap(([id, position]) => {
      const held = units[id];
      return held ? [[id, movedTo(held, position)] as const] : [];
    });
    return moved.length === 0 ? undefined : { units: { ...units, ...Object.fromEntries(moved) }, changes: [] };
  },
});

/**
 * Another slot, or this one later, goes on with it. Nothing failed.
 *
 * @param position the last confirmed one; absent: the one that is known.
 * @param tailRound the highest round that waits, as it was read just before.
 */
export const returnPartition = (
  id: string,
  position: Position | undefined,
  tailRound: number,
  now: number,
): PartitionUpdate =>
  ending(id, (held) => written(id, behind(moved(held, position), tailRound), { kind: 'waiting', since: now }));

/**
 * It ended in failure. It rests, longer each time that it fails without having gone on, 10 s to 10 minutes; never does it
 * end: a partition that is given up is lost once the service forgets it.
 *
 * @param problem why, and what to do.
 */
export const failPartition = (
  id: string,
  position: Position | undefined,
  problem: string,
  now: number,
  random: Random,
): PartitionUpdate =>
  ending(id, (before) => {
    const held = moved(before, position);
    const failures = held.failures + 1;
    const failed = { ...held, failures, problem: problem.slice(0, MAX_PROBLEM) };
    const notBefore = now + backoffDelay(FAILURE_BACKOFF, failures, random);
    return written(id, behind(failed), { kind: 'resting', notBefore });
  });

/** What is wrong with table, rights or topic is tried again so soon. */
const SETUP_PAUSE_MILLIS = 60_000;

/** It cannot be read for a reason that is not its own: it rests for a minute, and that is no failure of it. */
export const restPartition = (
  id: string,
  position: Position | undefined,
  problem: string,
  now: number,
): PartitionUpdate =>
  ending(id, (held) => {
    const rested = { ...moved(held, position), problem: problem.slice(0, MAX_PROBLEM) };
    return written(id, behind(rested), { kind: 'resting', notBefore: now + SETUP_PAUSE_MILLIS });
  });

/**
 * It waited and cannot be read on: it rests, and is looked at again after ten minutes.
 *
 * @param version of its document as it was read.
 */
export const setAsidePartition = (
  partition: Partition,
  version: Version,
  problem: string,
  now: number,
): PartitionUpdate => ({
  isClaim: true,
  edit: (units) => {
    const state = { kind: 'resting', notBefore: now + FAILURE_BACKOFF.maxMillis } as const;
    const rested = { ...partition, problem: problem.slice(0, MAX_PROBLEM), state };
    return { units, changes: [{ kind: 'partition', partition: rested, version }] };
  },
});

const moved = (held: HeldPartition, position: Position | undefined): HeldPartition =>
  position ? movedTo(held, position) : held;

const ending = (id: string, write: (held: HeldPartition) => LedgerWrite): PartitionUpdate => ({
  edit: (units) => {
    const { [id]: held, ...others } = units;
    return held && { units: others, changes: [write(held)] };
  },
});

/** The service closed a partition with what cannot be. Nothing was written: it is a failure of the partition. */
export class CloseRefusedError extends ConnectorError {
  override readonly name = 'CloseRefusedError';
}

/**
 * It was closed: its end, and whatever goes on, in one commit. A claim: where another parent of a child was faster it is a
 * conflict, and then the merges are read again and it is decided again. Moot where it was done before.
 *
 * Its edit throws a {@link CloseRefusedError} where the service said what cannot be.
 */
export const endPartition = (
  id: string,
  close: PartitionClose,
  merges: ReadonlyMap<string, Versioned<Merge>>,
  options: CloseOptions,
): PartitionUpdate => ({
  isClaim: true,
  edit: (units) => {
    const { [id]: held, ...others } = units;
    if (!held) return undefined;
    const closed = closePartition(id, held, close, merges, options);
    if (closed.kind === 'refused') throw new CloseRefusedError(closed.problem);
    return { units: others, changes: closed.writes };
  },
});

/** About what a partition takes in its slot's document. */
export const bytesOfPartition = (id: string, { range, position, problem }: HeldPartition): number =>
  FIXED_BYTES +
  id.length +
  rangeBytes(range) +
  3 * (problem?.length ?? 0) +
  position.tokens.reduce((sum, { range: part, token }) => sum + TOKEN_BYTES + rangeBytes(part) + 3 * token.length, 0);

/** Names of fields, numbers, kinds, the mark of a restart. */
const FIXED_BYTES = 250;
const TOKEN_BYTES = 50;

const rangeBytes = ({ start, end }: RowRange): number => keyBytes(start) + keyBytes(end);

const keyBytes = (bound: Bound): number => (bound.kind === 'unbounded' ? 0 : bound.key.length);
