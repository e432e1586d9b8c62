import type { Change, ChangeEntry, Nanos } from '../../model/change.ts';
import { printableBytes } from '../../model/bytes.ts';
import { cellBytes, textBytes } from '../../model/row.ts';
import {
  ReadChangeStreamResponse,
  type ReadChangeStreamResponse_DataChange as DataChange,
  ReadChangeStreamResponse_DataChange_Type as Type,
  type ReadChangeStreamResponse_Heartbeat as Heartbeat,
  type ReadChangeStreamResponse_MutationChunk as Chunk,
  type ReadChangeStreamResponse_MutationChunk_ChunkInfo as ChunkInfo,
} from '../../proto/google/bigtable/v2/bigtable.ts';
import type { Mutation_SetCell as SetCell } from '../../proto/google/bigtable/v2/data.ts';
import type { StreamEvent } from './ports.ts';
import { closeOf } from './close-stream.ts';
import { entryBytes, entryOf } from './entry-of.ts';
import { OpenValue } from './open-value.ts';
import { ChangeTooLargeError, nanosOf, StreamProtocolError } from './wire-rules.ts';

/**
 * Events out of the messages of one `ReadChangeStream`: a change may come in many messages, and one value in pieces.
 * What the protocol forbids is refused, never guessed at. Pure.
 *
 * `feed` one message after the other; `end` when the service said OK. The buffers of a change are its own.
 */
export class ChangeAssembler {
  readonly #maxMutationBytes: number;
  /** Of the change that is not done yet. */
  #first: DataChange | undefined;
  #entries: ChangeEntry[] = [];
  #bytes = 0;
  /** Of the value that is not whole yet. */
  #value: OpenValue | undefined;

  /** @param maxMutationBytes a change above it throws a {@link ChangeTooLargeError} before it is held. */
  constructor(maxMutationBytes: number) {
    this.#maxMutationBytes = maxMutationBytes;
  }

  /** What has come of a change that is not done yet, the announced size of its value included; 0 between changes. */
  get openBytes(): number {
    return this.#first === undefined ? 0 : this.#bytes;
  }

  /**
   * The event that the message completes, if it does.
   *
   * Throws a {@link StreamProtocolError} or a {@link ChangeTooLargeError}; the assembler is of no use after it.
   */
  feed(message: Buffer): StreamEvent | undefined {
    const { streamRecord: record } = decode(message);
    switch (record?.$case) {
      case 'dataChange':
        return this.#accept(record.value);
      case 'heartbeat':
        this.#refuseInside('a heartbeat came');
        return heartbeatOf(record.value);
      case 'closeStream':
        this.#refuseInside('the partition was closed');
        return closeOf(record.value);
      case undefined:
        throw new StreamProtocolError('a message holds no record that is known here');
      default:
        return record satisfies never;
    }
  }

  /** The service said OK. Throws a {@link StreamProtocolError} inside a change. */
  end(): void {
    this.#refuseInside('the stream ended');
  }

  #refuseInside(event: string): void {
    if (this.#first) throw new StreamProtocolError(`${event} inside a change`);
  }

  #accept(data: DataChange): StreamEvent | undefined {
    if (data.type === Type.CONTINUATION) this.#goOn(data);
    else this.#begin(data);
    const { chunks } = data;
    for (let index = 0; index < chunks.length; index += 1) {
      this.#add(chunks[index] as Chunk, index === chunks.length - 1);
    }
    return data.done ? { kind: 'change', change: this.#finish(data) } : undefined;
  }

  #begin(data: DataChange): void {
    this.#refuseInside('another change began');
    if (data.rowKey.length === 0) throw new StreamProtocolError('a change began without a row key');
    if (data.commitTimestamp === undefined) throw new StreamProtocolError('a change began without a commit time');
    if (data.chunks.length === 0) throw new StreamProtocolError('a change began without an entry');
    refuseOrigin(data);
    this.#first = data;
    this.#entries = [];
    this.#bytes = 0;
    this.#grow(textBytes(data.rowKey.length));
  }

  #goOn(data: DataChange): void {
    if (!this.#first) throw new StreamProtocolError('a change went on that had not begun');
    if (data.rowKey.length > 0) throw new StreamProtocolError('a change that goes on named a row key');
    if (data.chunks.length === 0 && !data.done) throw new StreamProtocolError('a change went on with nothing');
  }

  #add({ chunkInfo, mutation }: Chunk, isLast: boolean): void {
    const step = mutation?.mutation;
    if (step === undefined) throw new StreamProtocolError('an entry is of a kind that is not known here');
    const isPiece = chunkInfo !== undefined;
    if (this.#value && !(isPiece && step.$case === 'setCell')) {
      throw new StreamProtocolError('an entry began before the value of the one before it was whole');
    }
    if (isPiece) {
      if (step.$case !== 'setCell') throw new StreamProtocolError('an entry came in pieces that is no cell');
      this.#addPiece(step.value, chunkInfo, isLast);
      return;
    }
    const entry = entryOf(step);
    this.#grow(entryBytes(entry));
    this.#entries.push(entry);
  }

  #addPiece(cell: SetCell, info: ChunkInfo, isLast: boolean): void {
    const open = this.#value ?? this.#openValue(cell, info);
    this.#value = open;
    open.add(cell, info);
    if (!info.lastChunk) {
      if (!isLast) throw new StreamProtocolError('a message went on after a value that is not whole');
      return;
    }
    this.#entries.push(open.close());
    this.#value = undefined;
  }

  #openValue(cell: SetCell, { chunkedValueSize: size }: ChunkInfo): OpenValue {
    if (size <= 0) throw new StreamProtocolError('a value in pieces announced no size');
    const { familyName, columnQualifier, timestampMicros } = cell;
    if (familyName === '') throw new StreamProtocolError('an entry names no family');
    // Before a byte of it is held.
    this.#grow(cellBytes(Buffer.byteLength(familyName), columnQualifier.length, timestampMicros, size));
    return new OpenValue(cell, size);
  }

  #grow(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#maxMutationBytes) return;
    throw new ChangeTooLargeError(
      `a change of the row ${printableBytes((this.#first as DataChange).rowKey)} has more than ${this.#maxMutationBytes} bytes`,
    );
  }

  #finish({ token, estimatedLowWatermark }: DataChange): Change {
    if (this.#value) throw new StreamProtocolError('a change was done before its last value was whole');
    if (token === '') throw new StreamProtocolError('a change was done without a token');
    if (estimatedLowWatermark === undefined) throw new StreamProtocolError('a change was done without a low watermark');
    const { rowKey, type, sourceClusterId, commitTimestamp, tiebreaker } = this.#first as DataChange;
    const change: Change = {
      rowKey,
      type: type === Type.USER ? 'USER' : 'GARBAGE_COLLECTION',
      sourceCluster: sourceClusterId,
      commitTime: nanosOf(commitTimestamp),
      tieBreaker: tiebreaker,
      token,
      lowWatermark: nanosOf(estimatedLowWatermark),
      entries: this.#entries,
      bytes: this.#bytes,
    };
    this.#first = undefined;
    return change;
  }
}

function decode(message: Buffer): ReadChangeStreamResponse {
  try {
    return ReadChangeStreamResponse.decode(message);
  } catch (error) {
    throw new StreamProtocolError('a message cannot be decoded', { cause: error });
  }
}

function refuseOrigin({ type, sourceClusterId }: DataChange): void {
  if (type === Type.USER) {
    if (sourceClusterId === '') throw new StreamProtocolError('a change of a user names no source cluster');
  } else if (type === Type.GARBAGE_COLLECTION) {
    if (sourceClusterId !== '') throw new StreamProtocolError('a collection of garbage names a source cluster');
  } else {
    throw new StreamProtocolError('a change is of a type that is not known here');
  }
}

function heartbeatOf({ continuationToken, estimatedLowWatermark }: Heartbeat): StreamEvent {
  if (!continuationToken?.token) throw new StreamProtocolError('a heartbeat came without a token');
  if (estimatedLowWatermark === undefined) throw new StreamProtocolError('a heartbeat came without a low watermark');
  const lowWatermark: Nanos = nanosOf(estimatedLowWatermark);
  return { kind: 'heartbeat', token: continuationToken.token, lowWatermark };
}
