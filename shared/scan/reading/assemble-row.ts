import { toError } from '../../base/errors.ts';
import { type Cell, cellBytes, type Row, textBytes } from '../../model/row.ts';
import { containsKey, type RowRange } from '../../model/row-range.ts';
import { ChunkReader, COMMIT, ProtocolError, RESET } from './chunk-wire.ts';
import { KnownNames } from './known-names.ts';
import { OpenValue } from './open-value.ts';
import type { ReadEvent } from './read-event.ts';

/**
 * Rows out of the messages of one `ReadRows`: a value may come in pieces, a row over many messages, and what came of a
 * row may be taken back. What the protocol forbids is refused, never guessed at: a row that was not committed, keys that
 * do not grow or lie outside the range, a name that is missing.
 *
 * `feed` one message, `take` until `hasMore` is false, `feed` the next; `end` when the service said OK. Buffers of rows
 * are slices of their message, and those of equal qualifiers are the same one: nobody writes into them. Pure.
 */
export class RowAssembler {
  readonly #range: RowRange;
  readonly #chunks = new ChunkReader();
  readonly #names = new KnownNames();
  readonly #openValue = new OpenValue();

  /** Every key yet to come is above this one, or equal to it where it is the closed start of the range. */
  #floor: Buffer | undefined;
  #isFloorOpen = true;
  /** The floor as the message before left it. */
  #messageFloor: Buffer | undefined;

  /** Of the row that is not committed yet. */
  #key: Buffer | undefined;
  #cells: Cell[] = [];
  #bytes = 0;
  #family = '';
  #familyBytes = 0;
  #qualifier: Buffer = NO_BYTES;

  /** What the protocol forbids, until the rows before it were taken. */
  #problem: Error | undefined;
  /** A whole row that had no room among what was taken. */
  #held: Row | undefined;
  #lastMicros = 0;
  #lastTimestamp = 0n;
  /** Whether the message that was fed has events that were not taken. */
  hasMore = false;

  constructor(range: RowRange) {
    this.#range = range;
    if (range.start.kind === 'unbounded') return;
    this.#floor = range.start.key;
    this.#isFloorOpen = range.start.kind === 'open';
  }

  /** What has come of a row that is not whole yet, the announced size of its value included; 0 between rows. */
  get openBytes(): number {
    return this.#key === undefined ? 0 : this.#bytes + this.#openValue.announced;
  }

  feed(message: Buffer): void {
    this.#openValue.letGo();
    this.#chunks.start(message);
    this.#messageFloor = this.#floor;
    this.hasMore = true;
  }

  /**
   * The next events of the message: at most `maxRows` rows, and of no more than `maxBytes` unless it is a single one.
   * Throws a {@link ProtocolError} once every row before the mistake was taken; nothing after it is of use.
   */
  take(maxRows: number, maxBytes: number): ReadEvent[] {
    if (this.#problem) throw this.#problem;
    const events: ReadEvent[] = [];
    try {
      this.#takeRows(events, maxRows, maxBytes);
      if (!this.hasMore) this.#addScanned(events);
    } catch (error) {
      this.#problem = toError(error);
    }
    // Keys grow, so that the last row answers for all.
    while (this.#isOutside(events.at(-1))) {
      events.pop();
      this.#problem = new ProtocolError('a row lies outside the range');
    }
    if (!this.#problem) return events;
    if (events.length === 0) throw this.#problem;
    this.hasMore = true;
    return events;
  }

  #takeRows(events: ReadEvent[], maxRows: number, maxBytes: number): void {
    let bytes = 0;
    for (let row = this.#nextRow(); row; row = this.#nextRow()) {
      if (events.length > 0 && row.bytes > maxBytes - bytes) {
        this.#held = row;
        return;
      }
      events.push({ kind: 'row', row });
      bytes += row.bytes;
      if (events.length >= maxRows || bytes >= maxBytes) return;
    }
  }

  #isOutside(event: ReadEvent | undefined): boolean {
    return event?.kind === 'row' && !containsKey(this.#range, event.row.key);
  }

  /** The service said OK. Throws a {@link ProtocolError} inside a row. */
  end(): void {
    if (this.#key !== undefined) throw new ProtocolError('the stream ended inside a row');
  }

  #nextRow(): Row | undefined {
    const held = this.#held;
    if (held) {
      this.#held = undefined;
      return held;
    }
    while (this.#chunks.next()) {
      const row = this.#accept(this.#chunks);
      if (row) return row;
    }
    this.hasMore = false;
    return undefined;
  }

  #accept(chunk: ChunkReader): Row | undefined {
    if (chunk.rowStatus === RESET) {
      this.#reset(chunk);
      return undefined;
    }
    if (chunk.valueSize < 0) throw new ProtocolError('a value announces a negative size');
    if (this.#openValue.isOpen) return this.#goOn(chunk);
    const { message, valueStart, valueEnd, labels } = chunk;
    this.#enterRow(chunk);
    this.#nameColumn(chunk);
    if (chunk.valueSize > 0) {
      if (chunk.rowStatus === COMMIT) throw new ProtocolError(COMMIT_IN_VALUE);
      this.#openValue.open(message.subarray(valueStart, valueEnd), chunk.valueSize, chunk.timestampMicros, labels);
      return undefined;
    }
    const value = valueEnd === valueStart ? NO_BYTES : message.subarray(valueStart, valueEnd);
    this.#addCell(chunk.timestampMicros, value, labels);
    return chunk.rowStatus === COMMIT ? this.#commit() : undefined;
  }

  #enterRow(chunk: ChunkReader): void {
    const { message, keyStart, keyEnd } = chunk;
    if (this.#key !== undefined) {
      if (keyEnd > keyStart && this.#key.compare(message, keyStart, keyEnd) !== 0) {
        throw new ProtocolError('a row began before the one before it was committed');
      }
      return;
    }
    if (keyEnd === keyStart) throw new ProtocolError('a row began without a key');
    if (chunk.familyStart < 0) throw new ProtocolError('a row began without a family');
    const order = this.#floor === undefined ? 1 : compareSlice(message, keyStart, keyEnd, this.#floor);
    if (order < 0 || (order === 0 && this.#isFloorOpen)) throw new ProtocolError('the keys of rows did not grow');
    this.#key = message.subarray(keyStart, keyEnd);
    this.#bytes = textBytes(keyEnd - keyStart);
    this.#cells = [];
  }

  #nameColumn(chunk: ChunkReader): void {
    const { message, familyStart, familyEnd, qualifierStart, qualifierEnd } = chunk;
    if (familyStart >= 0) {
      if (qualifierStart < 0) throw new ProtocolError('a family was named without a qualifier');
      const family = this.#names.family(message, familyStart, familyEnd);
      this.#family = family;
      this.#familyBytes = familyEnd - familyStart;
    }
    if (qualifierStart >= 0) this.#qualifier = this.#names.qualifier(message, qualifierStart, qualifierEnd);
  }

  /** The next piece of a value. It names nothing, because it is of the same cell. */
  #goOn(chunk: ChunkReader): Row | undefined {
    const isNamed = chunk.keyEnd > chunk.keyStart || chunk.familyStart >= 0 || chunk.qualifierStart >= 0;
    if (isNamed || chunk.timestampMicros !== 0 || chunk.labels.length > 0) {
      throw new ProtocolError('a cell began before the value of the one before it was whole');
    }
    const value = this.#openValue;
    value.add(chunk.message.subarray(chunk.valueStart, chunk.valueEnd), chunk.valueSize);
    if (chunk.valueSize > 0) {
      if (chunk.rowStatus === COMMIT) throw new ProtocolError(COMMIT_IN_VALUE);
      return undefined;
    }
    this.#addCell(value.timestampMicros, value.close(), value.labels);
    return chunk.rowStatus === COMMIT ? this.#commit() : undefined;
  }

  #addCell(micros: number | bigint, value: Buffer, labels: readonly string[]): void {
    const qualifier = this.#qualifier;
    this.#cells.push({ family: this.#family, qualifier, timestampMicros: this.#timestamp(micros), value, labels });
    this.#bytes += cellBytes(this.#familyBytes, qualifier.length, micros, value.length);
    for (const label of labels) this.#bytes += textBytes(Buffer.byteLength(label));
  }

  /** Cells that were written together have the same time, and a bigint costs an object. */
  #timestamp(micros: number | bigint): bigint {
    if (typeof micros === 'bigint') return micros;
    if (micros !== this.#lastMicros) {
      this.#lastMicros = micros;
      this.#lastTimestamp = BigInt(micros);
    }
    return this.#lastTimestamp;
  }

  #commit(): Row {
    const row: Row = { key: this.#key as Buffer, cells: this.#cells, bytes: this.#bytes };
    this.#rise(row.key);
    this.#key = undefined;
    return row;
  }

  #rise(key: Buffer): void {
    this.#floor = key;
    this.#isFloorOpen = true;
  }

  #reset(chunk: ChunkReader): void {
    if (this.#key === undefined) throw new ProtocolError('a row was reset before it began');
    const isNamed = chunk.keyEnd > chunk.keyStart || chunk.familyStart >= 0 || chunk.qualifierStart >= 0;
    const hasCell = chunk.valueEnd > chunk.valueStart || chunk.timestampMicros !== 0 || chunk.labels.length > 0;
    if (isNamed || hasCell || chunk.valueSize !== 0) throw new ProtocolError('a reset came with data');
    this.#openValue.drop();
    this.#key = undefined;
  }

  /**
   * How far the service has scanned, where the message says so: what lies between the last row and there passed no
   * filter. A message with rows may say it before or behind them.
   */
  #addScanned(events: ReadEvent[]): void {
    const { message, lastScannedStart, lastScannedEnd } = this.#chunks;
    if (lastScannedEnd === lastScannedStart) return;
    // A copy: it outlives the message as a position.
    const key = Buffer.from(message.subarray(lastScannedStart, lastScannedEnd));
    if (this.#messageFloor !== undefined && key.compare(this.#messageFloor) < 0) {
      throw new ProtocolError('the service has scanned backwards');
    }
    if (this.#key !== undefined && key.compare(this.#key) >= 0) {
      throw new ProtocolError('the service has scanned past a row that it has not committed');
    }
    if (this.#floor !== undefined && this.#isFloorOpen && key.compare(this.#floor) <= 0) return;
    events.push({ kind: 'scanned', key });
    this.#rise(key);
  }
}

const NO_BYTES = Buffer.alloc(0);
const COMMIT_IN_VALUE = 'a row was committed inside a value';

/** Order of the slice and the key: negative, zero or positive. A loop, because most keys differ within a few bytes. */
function compareSlice(message: Buffer, start: number, end: number, key: Buffer): number {
  const length = Math.min(end - start, key.length);
  for (let index = 0; index < length; index += 1) {
    const difference = (message[start + index] as number) - (key[index] as number);
    if (difference !== 0) return difference;
  }
  return end - start - key.length;
}
