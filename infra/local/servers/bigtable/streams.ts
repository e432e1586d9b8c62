import type { Clock } from '../../../../shared/base/clock.ts';
import type { ChangeStreamConfig } from '../../../../shared/proto/google/bigtable/admin/v2/table.ts';
import { GrpcError } from '../rpc/grpc.ts';
import { ChangeStream } from './change-stream/change-stream.ts';
import { type ChunkShape, USUAL_CHUNKS } from './change-stream/data-messages.ts';
import { type Nanos, nanosOf } from './change-stream/span.ts';
import type { ChangeFeed, FedChange } from './rows/change-feed.ts';
import type { StoredTable } from './rows/table-store.ts';

/** What change streams of a server have in common. */
export interface StreamSettings {
  /** How changes are put into messages. Default: values in pieces of 1 MiB, messages of as much. */
  readonly chunks: ChunkShape;
  /** What the log of one table may hold in one cluster; beyond it the oldest changes go as if expired. Default 256 MiB. */
  readonly logBytes: number;
  /** How often condemned cells are collected, in milliseconds of the server's clock. Default 60,000. */
  readonly collectionMillis: number;
}

export const USUAL_STREAMS: StreamSettings = {
  chunks: USUAL_CHUNKS,
  logBytes: 256 * 1024 * 1024,
  collectionMillis: 60_000,
};

const NANOS_PER_MILLI = 1_000_000n;
const DAY: Nanos = 86_400_000n * NANOS_PER_MILLI;

/** The service's clock as change streams measure it. */
export const streamTime = (clock: Clock): Nanos => BigInt(clock.now()) * NANOS_PER_MILLI;

/** The change streams of all tables: one for each cluster. A table without one has no log, and its writes pass by. */
export class TableStreams {
  readonly #clock: Clock;
  readonly #settings: StreamSettings;
  readonly #watermarkLag: Nanos;
  readonly #streams = new Map<StoredTable, ReadonlyMap<string, ChangeStream>>();
  #made = 0;
  #cancel: (() => void) | undefined;

  /** @param delayMillis after which a change of one cluster is known in the others: no low watermark is told earlier. */
  constructor(clock: Clock, settings: StreamSettings, delayMillis: number) {
    this.#clock = clock;
    this.#settings = settings;
    this.#watermarkLag = BigInt(Math.ceil(delayMillis)) * NANOS_PER_MILLI;
  }

  /** The stream of a cluster, or undefined where the table has none. */
  of(table: StoredTable, cluster: string): ChangeStream | undefined {
    return this.#streams.get(table)?.get(cluster);
  }

  /**
   * The table's stream is kept for so long from now on; without a retention, it is disabled, and its log is gone. Throws
   * INVALID_ARGUMENT for a retention outside 1 to 7 days.
   */
  configure(table: StoredTable, config: ChangeStreamConfig | undefined): void {
    const retention = retentionOf(config);
    table.changeStreamConfig = retention === undefined ? undefined : config;
    if (retention === undefined) this.drop(table);
    else if (this.#streams.has(table)) this.#keep(table, retention);
    else this.#start(table, retention);
  }

  /** Ends the streams of a table. */
  drop(table: StoredTable): void {
    for (const stream of this.#streams.get(table)?.values() ?? []) stream.disable();
    for (const copy of table.copies.values()) copy.feed = undefined;
    this.#streams.delete(table);
    if (this.#streams.size === 0) this.close();
  }

  /** Garbage collection of one table, in all clusters, now. */
  collect(table: StoredTable): void {
    const nowMicros = BigInt(this.#clock.now()) * 1000n;
    for (const copy of table.copies.values()) copy.collect(nowMicros);
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #keep(table: StoredTable, retention: Nanos): void {
    for (const { log } of this.#streams.get(table)?.values() ?? []) log.bounds = { ...log.bounds, retention };
  }

  #start(table: StoredTable, retention: Nanos): void {
    const now = streamTime(this.#clock);
    const streams = new Map<string, ChangeStream>();
    this.#made += 1;
    for (const [cluster, copy] of table.copies) {
      const stream = new ChangeStream({
        id: `${now}.${this.#made}.${cluster}`,
        createdAt: now,
        boundaries: table.splits,
        chunks: this.#settings.chunks,
        watermarkLag: table.copies.size > 1 ? this.#watermarkLag : 0n,
        retention,
        bytes: this.#settings.logBytes,
      });
      streams.set(cluster, stream);
      copy.feed = feedOf(stream, cluster, this.#clock);
    }
    this.#streams.set(table, streams);
    if (!this.#cancel) this.#collectLater();
  }

  #collectLater(): void {
    this.#cancel = this.#clock.after(this.#settings.collectionMillis, () => {
      for (const table of this.#streams.keys()) this.collect(table);
      this.#collectLater();
    });
  }
}

function retentionOf(config: ChangeStreamConfig | undefined): Nanos | undefined {
  if (!config?.retentionPeriod) return undefined;
  const retention = nanosOf(config.retentionPeriod);
  if (retention < DAY || retention > 7n * DAY) {
    throw new GrpcError('INVALID_ARGUMENT', 'change_stream_config.retention_period must be from 1 to 7 days');
  }
  return retention - (retention % 1000n);
}

const feedOf = (stream: ChangeStream, cluster: string, clock: Clock): ChangeFeed => ({
  committed(rowKey, mutations): FedChange {
    const change = { rowKey, type: 'USER', sourceCluster: cluster, mutations } as const;
    const { commitTime, tieBreaker } = stream.append(change, streamTime(clock));
    return { rowKey, mutations, sourceCluster: cluster, commitTime, tieBreaker };
  },
  arrived({ rowKey, mutations, sourceCluster, commitTime, tieBreaker }) {
    const change = { rowKey, type: 'USER', sourceCluster, mutations } as const;
    stream.append(change, streamTime(clock), { commitTime, tieBreaker });
  },
  collected(rowKey, mutations) {
    stream.append({ rowKey, type: 'GARBAGE_COLLECTION', sourceCluster: '', mutations }, streamTime(clock));
  },
});
