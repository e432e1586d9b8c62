import type { Table } from '@google-cloud/bigtable';
import { sleep, systemClock } from '../../../../shared/base/clock.ts';
import { quantileOf, sortedNumbers } from '../../../../shared/base/quantile.ts';

export interface Latency {
  /** Rows that could not be read within a minute; they are not among the samples. */
  readonly unreadable: number;
  readonly samples: number;
  readonly p50Millis: number;
  readonly p95Millis: number;
}

const POLL_MILLIS = 5;
const MAX_WATCHED = 2;
const LIMIT_MILLIS = 60_000;

/**
 * Measures from handing a record to the publisher until the official client reads its row. It reads a row every 5 ms
 * until it is there, two rows at a time, so that measuring does not become the load.
 */
export class LatencyProbe {
  readonly #table: Table;
  readonly #signal: AbortSignal;
  readonly #millis: number[] = [];
  #unreadable = 0;
  readonly #watched = new Set<Promise<void>>();

  constructor(table: Table, signal: AbortSignal) {
    this.#table = table;
    this.#signal = signal;
  }

  /** Call just before the record is published. Skips it when enough rows are watched already. */
  watch(rowKey: string): void {
    if (this.#watched.size >= MAX_WATCHED) return;
    const watching = this.#untilReadable(rowKey, performance.now()).finally(() => this.#watched.delete(watching));
    this.#watched.add(watching);
    // Whoever asks for the result hears of a failure.
    watching.catch(() => undefined);
  }

  /** Resolves when every watched row was read or given up. Rejects when reading fails, or the signal aborted. */
  async result(): Promise<Latency> {
    await Promise.all(this.#watched);
    const sorted = sortedNumbers(this.#millis);
    return {
      unreadable: this.#unreadable,
      samples: sorted.length,
      p50Millis: quantileOf(sorted, 0.5) ?? 0,
      p95Millis: quantileOf(sorted, 0.95) ?? 0,
    };
  }

  async #untilReadable(rowKey: string, startedAt: number): Promise<void> {
    while (!(await this.#isReadable(rowKey))) {
      if (performance.now() - startedAt > LIMIT_MILLIS) {
        this.#unreadable += 1;
        return;
      }
      await sleep(systemClock, POLL_MILLIS, this.#signal);
    }
    this.#millis.push(performance.now() - startedAt);
  }

  async #isReadable(rowKey: string): Promise<boolean> {
    const [rows] = await this.#table.getRows({ keys: [rowKey] });
    return rows.length > 0;
  }
}
