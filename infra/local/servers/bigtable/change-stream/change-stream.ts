import type { Status } from '../../../../../shared/model/status.ts';
import { type ChunkShape, USUAL_CHUNKS } from './data-messages.ts';
import { ChangeLog, type CommitStamp, type LogBounds, type LogRecord, type StreamChange } from './log.ts';
import * as refusals from './refusals.ts';
import { isEmptySpan, isSameSpan, type Nanos, type Span } from './span.ts';
import { type ReadSource, type ReadStep, StreamRead } from './stream-read.ts';
import { decodeToken, joinPositions, type OfferedToken, type Position } from './tokens.ts';
import { Topology, type TopologyChange } from './topology.ts';
import { Troubles } from './trouble.ts';

export interface ChangeStreamOptions extends LogBounds {
  /** Who it is: a token of one stream is refused by every other. */
  readonly id: string;
  /** When it begins: a start time before is refused. */
  readonly createdAt: Nanos;
  /** Keys at which partitions meet at first, as latin1. Default: none, so one partition. */
  readonly boundaries?: readonly string[];
  readonly chunks?: ChunkShape;
  /** How far behind the arrival of changes the low watermark is told. Default 0. */
  readonly watermarkLag?: Nanos;
}

/** What a read is asked for. */
export interface OpenRequest {
  readonly span: Span;
  /** Where it starts. A time is inclusive; undefined is now. */
  readonly from: { readonly tokens: readonly OfferedToken[] } | { readonly startTime: Nanos } | undefined;
  /** Inclusive. */
  readonly endTime?: Nanos | undefined;
  /** Default 5 s. */
  readonly heartbeat?: Nanos | undefined;
}

/** A read, or one that was refused: it ends at once with the status of the refusal. */
export interface OpenRead {
  next(now: Nanos): ReadStep;
}

const USUAL_HEARTBEAT = 5_000_000_000n;

/**
 * The change stream of one table in one cluster. Pure but for its own memory: it has no clock, no randomness and no timer. Times
 * are nanoseconds and arguments, row keys are latin1. The embedded server and simulations run on the same.
 */
export class ChangeStream implements ReadSource {
  readonly id: string;
  readonly createdAt: Nanos;
  readonly log: ChangeLog;
  readonly topology: Topology;
  readonly troubles = new Troubles();
  chunks: ChunkShape;
  watermarkLag: Nanos;
  stalledAt: Nanos | undefined;
  isEnabled = true;
  readonly #listeners = new Set<() => void>();

  constructor({ id, createdAt, boundaries, chunks, watermarkLag, retention, bytes }: ChangeStreamOptions) {
    this.id = id;
    this.createdAt = createdAt;
    this.log = new ChangeLog({ retention, bytes });
    this.topology = new Topology(boundaries);
    this.chunks = chunks ?? USUAL_CHUNKS;
    this.watermarkLag = watermarkLag ?? 0n;
  }

  /** Runs whenever a read may have more to say than it said. Returns how to end that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A change of this cluster, or of another with the stamp that it got there. */
  append(change: StreamChange, now: Nanos, stamp: CommitStamp = this.log.stamp(now)): LogRecord {
    const record = this.log.append(change, stamp, now);
    this.#tell();
    return record;
  }

  /** What GenerateInitialChangeStreamPartitions answers. */
  partitions(): readonly Span[] {
    return this.topology.listed;
  }

  open(request: OpenRequest, now: Nanos): OpenRead {
    this.log.trim(now);
    this.topology.trim(now - this.log.bounds.retention);
    const position = this.#positionOf(request, now);
    if ('code' in position) return { next: () => ({ kind: 'end', status: position }) };
    const { endTime, heartbeat = USUAL_HEARTBEAT } = request;
    return new StreamRead(this, position, { endTime, heartbeat }, now);
  }

  #positionOf({ span, from, heartbeat }: OpenRequest, now: Nanos): Position | Status {
    if (!this.isEnabled) return refusals.STREAM_DISABLED;
    if (isEmptySpan(span)) return refusals.WRONG_PARTITION;
    if (heartbeat !== undefined && heartbeat <= 0n) return refusals.WRONG_HEARTBEAT;
    return from && 'tokens' in from
      ? this.#fromTokens(span, from.tokens, now)
      : this.#fromTime(span, from?.startTime, now);
  }

  #fromTokens(span: Span, tokens: readonly OfferedToken[], now: Nanos): Position | Status {
    const [only] = tokens;
    if (!only) return refusals.NO_TOKENS;
    if (tokens.length === 1 && !isSameSpan(only.span, span)) return refusals.WRONG_TOKEN;
    const positions: Position[] = [];
    for (const [index, token] of tokens.entries()) {
      const position = decodeToken(this.id, token);
      if (!position) return refusals.foreignToken(index);
      positions.push(position);
    }
    const joined = joinPositions(span, positions);
    if (!joined) return refusals.NO_TILES;
    return this.#isKept(joined, now) ? joined : refusals.expired('continuation token');
  }

  #isKept({ pieces, at, change }: Position, now: Nanos): boolean {
    const { log, topology } = this;
    const isInside = at >= now - log.bounds.retention && change >= topology.oldest;
    return isInside && pieces.every(({ sequence }) => sequence >= log.start);
  }

  /**
   * A partition is read as it was made last, whatever the start: changes of topology before that are not told. Where it has
   * closed since it was listed, the close comes when what was committed before was read.
   */
  #fromTime(span: Span, startTime: Nanos | undefined, now: Nanos): Position | Status {
    const start = startTime ?? now;
    if (start > now) return refusals.inTheFuture(start, now);
    if (start < now - this.log.bounds.retention || start < this.createdAt) return refusals.expired('start_time');
    const sequence = this.log.firstSince(start);
    const change = this.topology.changesAfterBirth(span) ?? this.topology.next;
    return { span, pieces: [{ end: span.end, sequence }], change, since: start, at: start };
  }

  /** The partition of this key becomes several, which meet at these keys. */
  split(keys: readonly string[], now: Nanos): TopologyChange {
    const { start, end } = this.topology.partitionOf(keys[0]!);
    return this.rearrange({ start, end }, keys, now);
  }

  /** The two partitions that meet at this key become one. */
  merge(key: string, now: Nanos): TopologyChange {
    const { partitions } = this.topology;
    const left = partitions.find(({ end }) => end === key && end !== '');
    const right = partitions.find(({ start }) => start === key);
    if (!left || !right) throw new RangeError(`No partitions meet at '${key}'`);
    return this.rearrange({ start: left.start, end: right.end }, [], now);
  }

  /** The partition of this key closes, and goes on elsewhere as it is. */
  move(key: string, now: Nanos): TopologyChange {
    return this.rearrange(this.topology.partitionOf(key), [], now);
  }

  /** Split and merge at once: the partitions of the span, which must begin and end where some do, meet at other keys. */
  rearrange({ start, end }: Span, boundaries: readonly string[], now: Nanos): TopologyChange {
    const change = this.topology.rearrange(start, end, boundaries, this.log.end, now);
    this.#tell();
    return change;
  }

  /**
   * The partition of this key is not listed any more, and each read of it ends with a close without successors, until it
   * reappears or changes. Tokens of it stay good.
   */
  vanish(key: string): Span {
    const span = this.topology.vanish(key);
    this.#tell();
    return span;
  }

  reappear(key: string): void {
    this.topology.reappear(key);
    this.#tell();
  }

  /** From now on no low watermark is told above this; records go on. Undefined: it goes on. */
  stallWatermark(at: Nanos | undefined): void {
    this.stalledAt = at;
  }

  /** Reads that are open end with FAILED_PRECONDITION, and none opens. */
  disable(): void {
    this.isEnabled = false;
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
