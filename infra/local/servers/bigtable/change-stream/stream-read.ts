import type { Status } from '../../../../../shared/model/status.ts';
import type { ReadChangeStreamResponse } from '../../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { changedMessage, endMessage, heartbeatMessage } from './control-messages.ts';
import { type ChunkShape, dataMessages, smallestChunks } from './data-messages.ts';
import type { ChangeLog, LogRecord } from './log.ts';
import { expired } from './refusals.ts';
import { contains, type Nanos } from './span.ts';
import { advanced, encodeToken, type Position, sequenceOf } from './tokens.ts';
import type { Topology, TopologyChange } from './topology.ts';
import type { Troubles } from './trouble.ts';

/** What a read has to say now. */
export type ReadStep =
  | { readonly kind: 'response'; readonly response: ReadChangeStreamResponse }
  /** Nothing yet; nothing before `dueAt` unless the stream changes. Undefined: only then. */
  | { readonly kind: 'nothing'; readonly dueAt: Nanos | undefined }
  /** The call is over, with this status. It stays so. */
  | { readonly kind: 'end'; readonly status: Status };

/** What a read looks at: the stream it is of. */
export interface ReadSource {
  /** Who issues the tokens. */
  readonly id: string;
  readonly log: ChangeLog;
  readonly topology: Topology;
  readonly troubles: Troubles;
  readonly chunks: ChunkShape;
  readonly isEnabled: boolean;
  /** How far behind the arrival of changes the low watermark is told. */
  readonly watermarkLag: Nanos;
  /** No low watermark is above it; undefined: it does not stall. */
  readonly stalledAt: Nanos | undefined;
}

export interface ReadOptions {
  readonly endTime: Nanos | undefined;
  readonly heartbeat: Nanos;
}

const OK: Status = { code: 'OK', message: '' };

/**
 * A read of a partition. Records come in the order of their arrival in this cluster. It ends by itself:
 *
 * - At the first change of topology that touches its keys, when all earlier records were given: CloseStream with a token for
 *   each part, then OK. Who reads the same partition from an earlier token gets the same again, until retention.
 * - When it is past its end time: CloseStream with OK and no tokens, then OK.
 * - Where retention has overtaken it: without a close, with the status of {@link expired}.
 */
export class StreamRead {
  readonly #source: ReadSource;
  readonly #options: ReadOptions;
  #position: Position;
  /** Where the log is looked at next: everything before is delivered or of no concern. */
  #sequence: number;
  #lowWatermark: Nanos;
  #heartbeatAt: Nanos;
  #silentUntil: Nanos | 'given up' | undefined;
  #parts: ReadChangeStreamResponse[] = [];
  #end: Status | undefined;
  #responses = 0;

  constructor(source: ReadSource, position: Position, options: ReadOptions, now: Nanos) {
    this.#source = source;
    this.#position = position;
    this.#options = options;
    this.#sequence = Math.min(...position.pieces.map(({ sequence }) => sequence));
    this.#lowWatermark = 0n;
    this.#heartbeatAt = now + options.heartbeat;
  }

  /** The next response, if there is one at this time. A reader that does not ask gets nothing, and loses nothing. */
  next(now: Nanos): ReadStep {
    const step = this.#step(now);
    if (step.kind === 'response') this.#responses += 1;
    return step;
  }

  #step(now: Nanos): ReadStep {
    const part = this.#parts.shift();
    if (part) return { kind: 'response', response: part };
    if (this.#end) return { kind: 'end', status: this.#end };
    return this.#misbehave(now) ?? this.#record(now) ?? this.#heartbeat(now);
  }

  #misbehave(now: Nanos): ReadStep | undefined {
    const { troubles, topology, isEnabled } = this.#source;
    const { span } = this.#position;
    if (!isEnabled) return this.#finish({ code: 'FAILED_PRECONDITION', message: 'The change stream was disabled' });
    if (this.#silentUntil !== undefined) {
      if (this.#silentUntil === 'given up') return { kind: 'nothing', dueAt: undefined };
      if (now < this.#silentUntil) return { kind: 'nothing', dueAt: this.#silentUntil };
      this.#silentUntil = undefined;
    }
    if (topology.hasVanished(span)) return this.#close(endMessage());
    const trouble = troubles.take(['end', 'silence', 'close-without-successors'], span, this.#responses);
    switch (trouble?.kind) {
      case 'end':
        return this.#finish(trouble.status ?? OK);
      case 'silence':
        this.#silentUntil = trouble.duration === undefined ? 'given up' : now + trouble.duration;
        return { kind: 'nothing', dueAt: trouble.duration === undefined ? undefined : (this.#silentUntil as Nanos) };
      case 'close-without-successors':
        return this.#close(endMessage());
      case undefined:
        return undefined;
    }
  }

  /** The next record or the close that comes first. */
  #record(now: Nanos): ReadStep | undefined {
    const { log, topology } = this.#source;
    const { span, change, since } = this.#position;
    const { endTime } = this.#options;
    if (this.#sequence < log.start) return this.#finish(expired('continuation token'));
    const closing = topology.firstTouching(span, change);
    const limit = closing ? Math.min(closing.sequence, log.end) : log.end;
    for (; this.#sequence < limit; this.#sequence += 1) {
      const record = log.at(this.#sequence);
      if (!record) break;
      if (endTime !== undefined && record.arrivedAt - this.#source.watermarkLag > endTime) {
        return this.#close(endMessage());
      }
      if (!contains(span, record.rowKey) || record.sequence < sequenceOf(this.#position, record.rowKey)) continue;
      if (record.commitTime < since || (endTime !== undefined && record.commitTime > endTime)) continue;
      return this.#deliver(record);
    }
    if (closing) return this.#closeFor(closing);
    return endTime !== undefined && now - this.#source.watermarkLag > endTime ? this.#close(endMessage()) : undefined;
  }

  #deliver(record: LogRecord): ReadStep {
    const { id, troubles, chunks } = this.#source;
    this.#sequence = record.sequence + 1;
    this.#position = { ...advanced(this.#position, this.#sequence), at: record.arrivedAt };
    const cut = troubles.take(['cut'], this.#position.span, this.#responses);
    const messages = dataMessages(
      record,
      encodeToken(id, this.#position),
      this.#watermark(record.arrivedAt),
      cut ? smallestChunks(record) : chunks,
    );
    if (cut) {
      messages.pop();
      this.#end = cut.status ?? OK;
      if (messages.length === 0) return { kind: 'end', status: this.#end };
    }
    const response = messages.shift()!;
    this.#parts = messages;
    return { kind: 'response', response };
  }

  #closeFor(change: TopologyChange): ReadStep {
    const lost = this.#source.troubles.take(['lose-close'], this.#position.span, this.#responses);
    if (lost) return this.#finish(lost.status ?? OK);
    return this.#close(changedMessage(this.#source.id, this.#position, change));
  }

  #heartbeat(now: Nanos): ReadStep {
    const { endTime, heartbeat } = this.#options;
    if (now >= this.#heartbeatAt) {
      this.#heartbeatAt = now + heartbeat;
      this.#position = { ...advanced(this.#position, this.#sequence), at: now };
      const response = heartbeatMessage(this.#source.id, this.#position, this.#watermark(now));
      return { kind: 'response', response };
    }
    const endsAt = endTime === undefined ? undefined : endTime + this.#source.watermarkLag + 1n;
    const dueAt = endsAt !== undefined && endsAt < this.#heartbeatAt ? endsAt : this.#heartbeatAt;
    return { kind: 'nothing', dueAt };
  }

  /** @param reached the time up to which everything that has arrived was given. */
  #watermark(reached: Nanos): Nanos {
    const { watermarkLag, stalledAt } = this.#source;
    const behind = reached - watermarkLag;
    const low = stalledAt !== undefined && stalledAt < behind ? stalledAt : behind;
    if (low > this.#lowWatermark) this.#lowWatermark = low;
    return this.#lowWatermark;
  }

  #close(response: ReadChangeStreamResponse): ReadStep {
    this.#end = OK;
    return { kind: 'response', response };
  }

  #finish(status: Status): ReadStep {
    this.#end = status;
    return { kind: 'end', status };
  }
}
