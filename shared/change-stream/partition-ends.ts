import { describeError } from '../base/logging.ts';
import type { Runtime } from '../base/runtime.ts';
import { formatRange } from '../model/row-range.ts';
import type { SlotSession } from '../slots/session.ts';
import { closePartition, mergesOf, type PartitionClose } from './ledger/close-partition.ts';
import type { HeldPartition, Position } from './ledger/partition.ts';
import {
  CloseRefusedError,
  endPartition,
  failPartition,
  restPartition,
  returnPartition,
} from './ledger/partition-updates.ts';
import { keptMillis } from './ledger/retention.ts';
import type { ChangeStreamStore, LedgerWrite } from './ports.ts';
import type { PartitionEnding } from './read-partition.ts';

export interface EndsDependencies {
  readonly session: SlotSession<HeldPartition, LedgerWrite>;
  readonly store: ChangeStreamStore;
  /** The source has an end time. */
  readonly isBounded: boolean;
  readonly retentionMillis: () => number | undefined;
  readonly runtime: Runtime;
  readonly stop: AbortSignal;
}

/** A close that conflicts so often in a row is given up: the partition is read again from before it. */
const MAX_CONFLICTS = 20;

/** What is written of partitions whose reading ended. Each method resolves when it is written, or moot. */
export class PartitionEnds {
  readonly counts = { partitionsClosed: 0, partitionsFailed: 0, partitionsReturned: 0 };
  readonly #deps: EndsDependencies;

  constructor(deps: EndsDependencies) {
    this.#deps = deps;
  }

  /** @param position behind everything that was confirmed of it in this reading; undefined: nothing was. */
  async ended(id: string, held: HeldPartition, position: Position | undefined, ending: PartitionEnding): Promise<void> {
    switch (ending.kind) {
      case 'closed':
        await this.#closed(id, held, { ...ending.close, position: position ?? held.position });
        return;
      case 'failed':
        await this.#failed(id, position, ending);
        return;
      case 'stopped':
        await this.returned(id, position);
        return;
      default:
        ending satisfies never;
    }
  }

  /** It waits behind all who wait. */
  async returned(id: string, position: Position | undefined): Promise<void> {
    const { session, runtime, stop } = this.#deps;
    const tail = stop.aborted ? 0 : await this.tailRound();
    const outcome = await session.update(returnPartition(id, position, tail, runtime.clock.now()));
    if (outcome !== 'written') return;
    this.counts.partitionsReturned += 1;
    runtime.metrics.count('partitionsReturned');
  }

  /** Its end and its successors, in one commit. Where a parent of the same successor was faster it is decided again. */
  async #closed(id: string, held: HeldPartition, close: PartitionClose): Promise<void> {
    const { session, store, isBounded, retentionMillis, runtime, stop } = this.#deps;
    const { clock } = runtime;
    const names = mergesOf(held.generation, close.successors);
    for (let conflicts = 0; conflicts < MAX_CONFLICTS && !stop.aborted; conflicts += 1) {
      const merges = names.length === 0 ? NO_MERGES : await store.readMerges(names, stop);
      const options = { now: clock.now(), isBounded, keptMillis: keptMillis(retentionMillis()) };
      try {
        const outcome = await session.update(endPartition(id, close, merges, options));
        if (outcome === 'conflict') continue;
        if (outcome === 'written') this.#tell(closePartition(id, held, close, merges, options), held);
        return;
      } catch (error) {
        if (!(error instanceof CloseRefusedError)) throw error;
        await this.#failed(id, close.position, { problem: error.message, isOfAll: false });
        return;
      }
    }
    // As before the close: it is read again from its position, and closed again.
    if (!stop.aborted) await this.returned(id, close.position);
  }

  #tell(closed: ReturnType<typeof closePartition>, { range }: HeldPartition): void {
    const { metrics, logger } = this.#deps.runtime;
    this.counts.partitionsClosed += 1;
    if (closed.kind === 'given-back') {
      metrics.count('successorlessCloses');
      logger.log('WARNING', 'the service ended a partition and named no successor: it is read on from its position', {
        partition: formatRange(range),
      });
    }
    if (closed.kind !== 'done') return;
    if (closed.discovered > 0) metrics.count('partitionsDiscovered', closed.discovered);
    for (const { position } of closed.children) {
      metrics.count(position.tokens.length > 1 ? 'changeStreamPartitionMerges' : 'changeStreamPartitionSplits');
    }
  }

  async #failed(
    id: string,
    position: Position | undefined,
    { problem, isOfAll }: { readonly problem: string; readonly isOfAll: boolean },
  ): Promise<void> {
    const { session, runtime } = this.#deps;
    const { clock, random, logger, metrics } = runtime;
    metrics.count('partitionFailures');
    logger.log('WARNING', 'a partition failed; it is tried again from its position', { partition: id, problem });
    const now = clock.now();
    const update = isOfAll
      ? restPartition(id, position, problem, now)
      : failPartition(id, position, problem, now, random);
    if ((await session.update(update)) === 'written') this.counts.partitionsFailed += 1;
  }

  /** The highest round that waits; 0 where that is not known. */
  async tailRound(): Promise<number> {
    const { session, store, runtime, stop } = this.#deps;
    const generation = Object.values(session.units)[0]?.generation;
    if (generation === undefined) return 0;
    try {
      return await store.readTailRound(generation, stop);
    } catch (error) {
      // It goes to the round after its own, which may be a little before its turn.
      if (!stop.aborted) {
        runtime.logger.log('WARNING', 'the end of the queue was not read', { cause: describeError(error) });
      }
      return 0;
    }
  }
}

const NO_MERGES = new Map<string, never>();
