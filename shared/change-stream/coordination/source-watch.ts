import type { Metrics } from '../../base/metrics.ts';
import { type Ledger, lowWatermarkOf, unfinishedLow } from '../ledger/ledger.ts';
import { isOpen, type Partition } from '../ledger/partition.ts';
import { heldBy, leastOf, millisOf } from '../ledger/position-of.ts';
import type { Source } from '../source.ts';

/** Measures a source by what its coordinator sees. Of an instance, over all of its invocations. */
export class SourceWatch {
  #source: Source | undefined;
  #ledger: Ledger | undefined;
  #now = 0;

  constructor(metrics: Metrics) {
    metrics.observe('changeStreamLag', () => this.#lagMillis() / 1000);
    metrics.observe('retentionHeadroom', () => this.#headroomMillis() / 1000);
    metrics.observe('partitionsOpen', () => this.#open().length);
    metrics.observe('partitionsFailing', () => this.#open().filter((each) => this.#isFailing(each)).length);
    metrics.observe('partitionsMissing', () => this.#ledger?.missing.length ?? 0);
    metrics.observe('unassignedChangeStreamPartitionLagMillis', () => this.#waitingLagMillis());
    metrics.observe('sourceStopped', () => (this.#source?.status === 'stopped' ? 1 : 0));
  }

  seesSource(source: Source | undefined): void {
    if (source?.generation !== this.#source?.generation) this.#ledger = undefined;
    this.#source = source;
  }

  seesLedger(ledger: Ledger, now: number): void {
    this.#ledger = ledger;
    this.#now = now;
  }

  #open(): readonly Partition[] {
    return (this.#ledger?.partitions ?? []).map(({ value }) => value).filter(isOpen);
  }

  #isFailing(partition: Partition): boolean {
    return (heldBy(partition, this.#ledger?.slots ?? new Map()) ?? partition).failures > 0;
  }

  /** 0 where nothing is left to be read, and where what was read does not make up the table. */
  #lagMillis(): number {
    const ledger = this.#ledger;
    if (!ledger || unfinishedLow(ledger) === undefined) return 0;
    const low = lowWatermarkOf(ledger);
    return low === undefined ? 0 : Math.max(0, this.#now - millisOf(low));
  }

  /** 0 where it is not known either. */
  #headroomMillis(): number {
    const millis = this.#source?.retention?.millis;
    const low = this.#ledger && unfinishedLow(this.#ledger);
    return millis === undefined || low === undefined ? 0 : Math.max(0, millisOf(low) + millis - this.#now);
  }

  #waitingLagMillis(): number {
    const waiting = this.#open().filter(({ state }) => state.kind !== 'held');
    const low = leastOf(waiting.map(({ position }) => position.lowWatermark));
    return low === undefined ? 0 : Math.max(0, this.#now - millisOf(low));
  }
}
