import { describeError } from '../base/logging.ts';
import type { Runtime } from '../base/runtime.ts';
import type { Nanos } from '../model/change.ts';
import { formatRange } from '../model/row-range.ts';
import type { ClaimSource, WaitingUnit } from '../slots/claims.ts';
import type { SlotSession } from '../slots/session.ts';
import type { HeldPartition } from './ledger/partition.ts';
import { heldOf } from './ledger/partition.ts';
import { setAsidePartition, takePartition } from './ledger/partition-updates.ts';
import { checkExpiry } from './ledger/retention.ts';
import type { ChangeStreamStore, LedgerWrite, Source, WaitingPartition } from './ports.ts';

/** Partitions are counted so often: how many there are changes with the topology alone. */
const COUNTED_EVERY_MILLIS = 10_000;

export interface PartitionClaimsDependencies {
  readonly session: SlotSession<HeldPartition, LedgerWrite>;
  readonly store: ChangeStreamStore;
  /** Where a partition goes on whose position is no longer kept. Absent: nowhere, it stands still. */
  readonly fallback: ((now: number) => Nanos) | undefined;
  readonly runtime: Runtime;
}

/** Where the partitions of a source wait, as one slot claims them. For one session. */
export class PartitionClaims implements ClaimSource<HeldPartition, LedgerWrite> {
  readonly #deps: PartitionClaimsDependencies;
  #source: Source;
  /** Of what the last look told, since when each waits. */
  #since: ReadonlyMap<string, number> = new Map();
  #open = 0;
  #countedAt = -Infinity;

  constructor(source: Source, deps: PartitionClaimsDependencies) {
    this.#source = source;
    this.#deps = deps;
  }

  /** Partitions that wait, rest or are held, by the last count. */
  get open(): number {
    return this.#open;
  }

  /** The source as it is by now: what is kept of its stream may have changed. */
  sees(source: Source): void {
    this.#source = source;
  }

  /**
   * Those that wait and can be read on. One whose position the service no longer keeps is set aside, so that it takes
   * nobody's place: it rests, and says why.
   */
  async readWaiting(limit: number, signal: AbortSignal): Promise<readonly WaitingUnit<HeldPartition, LedgerWrite>[]> {
    const { store, runtime } = this.#deps;
    const now = runtime.clock.now();
    const found = await store.readWaiting(this.#source.generation, now, limit, signal);
    const units: WaitingUnit<HeldPartition, LedgerWrite>[] = [];
    for (const waiting of found) {
      const unit = await this.#unitOf(waiting, now);
      if (unit) units.push(unit);
    }
    this.#since = new Map(units.map(({ id, since }) => [id, since]));
    return units;
  }

  /** Since when a partition of the last look waits. */
  waitedSince(id: string): number | undefined {
    return this.#since.get(id);
  }

  /** How many others wait for a place. @param limit of what is told. */
  async countWaiting(limit: number, signal: AbortSignal): Promise<number> {
    const { store, runtime } = this.#deps;
    return (await store.readWaiting(this.#source.generation, runtime.clock.now(), limit, signal)).length;
  }

  /** A partition ended, perhaps in others: the next share is by a new count. */
  forgetCount(): void {
    this.#countedAt = -Infinity;
  }

  async countOpen(signal: AbortSignal): Promise<number> {
    const { store, runtime } = this.#deps;
    if (runtime.clock.now() - this.#countedAt < COUNTED_EVERY_MILLIS) return this.#open;
    this.#open = await store.countOpen(this.#source.generation, signal);
    this.#countedAt = runtime.clock.now();
    return this.#open;
  }

  async #unitOf(waiting: WaitingPartition, now: number): Promise<WaitingUnit<HeldPartition, LedgerWrite> | undefined> {
    const { partition, version } = waiting;
    const { state, id } = partition;
    const since = state.kind === 'waiting' ? state.since : state.notBefore;
    const held = await this.#readable(waiting, now);
    return held && { id, since, held, take: (slot, epoch) => takePartition(partition, held, { slot, epoch, version }) };
  }

  async #readable({ partition, version }: WaitingPartition, now: number): Promise<HeldPartition | undefined> {
    const { fallback, session, runtime } = this.#deps;
    const { logger, metrics } = runtime;
    const retentionMillis = this.#source.retention?.millis;
    const retained = { now, ...(retentionMillis !== undefined && { retentionMillis }) };
    const expiry = checkExpiry(heldOf(partition), fallback?.(now), retained);
    switch (expiry.kind) {
      case 'live':
        return heldOf(partition);
      case 'restarted':
        metrics.count('partitionsRestartedByFallback');
        logger.log('WARNING', 'a partition goes on from the fallback: its changes in between are lost', {
          partition: formatRange(partition.range),
          lostMillis: expiry.lostMillis,
        });
        return expiry.held;
      case 'expired': {
        metrics.count('partitionsExpired');
        logger.log('ERROR', 'a partition stands still: the service no longer keeps what comes next', {
          problem: expiry.problem,
        });
        await session.update(setAsidePartition(partition, version, expiry.problem, now)).catch((error: unknown) => {
          logger.log('WARNING', 'an expired partition was not set aside', { cause: describeError(error) });
        });
        return undefined;
      }
      default:
        return expiry satisfies never;
    }
  }
}
