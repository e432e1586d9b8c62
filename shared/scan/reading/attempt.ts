import type { Clock } from '../../base/clock.ts';
import type { Semaphore } from '../../base/semaphore.ts';
import { type RowRange, truncateAfter } from '../../model/row-range.ts';
import { LARGE_ROW_BYTES } from '../../model/row.ts';
import type { Status } from '../../model/status.ts';
import type { TableName } from '../../model/table-name.ts';
import type { ReadRows, RowMessage, RowMessages } from '../ports.ts';
import { RowAssembler } from './assemble-row.ts';
import { ProtocolError } from './chunk-wire.ts';
import type { ReadEvent } from './read-event.ts';
import type { ReadPace } from './read-pace.ts';

/** Which rows are read, and how much of them is handed on at once. */
export interface RangeRead {
  readonly table: TableName;
  /** Empty is the instance's default profile. */
  readonly appProfileId: string;
  readonly range: RowRange;
  /** The encoded `google.bigtable.v2.RowFilter`; absent: every cell. */
  readonly filter?: Buffer;
  /** So long the service may say nothing, not even how far it has scanned, before the range is opened anew. */
  readonly idleTimeoutMillis: number;
  /** Rows in one hand-over. */
  readonly maxRowsPerFetch: number;
  /** Bytes in one hand-over, by the estimate of a row's size; a single row may have more. */
  readonly maxBytesPerFetch: number;
}

/** What reads run by. */
export interface Reader {
  readonly readRows: ReadRows;
  /** One permit for the instance: rows above {@link LARGE_ROW_BYTES} are assembled one at a time. */
  readonly largeRows: Semaphore;
  /** Shared by the reads of a slot. Absent: as fast as rows come. */
  readonly pace?: ReadPace;
  readonly clock: Clock;
}

/** How one `ReadRows` ended. */
export type Ending =
  /** Everything of its range was read. */
  { readonly kind: 'finished' } | Extract<RowMessage, { readonly kind: 'failed' }>;

/**
 * One `ReadRows`: its messages, assembled to events and handed on in the order of the keys. It asks for a message when
 * the events of the one before were taken. Retries nothing.
 */
export class Attempt {
  readonly #read: RangeRead;
  readonly #reader: Reader;
  readonly #signal: AbortSignal;
  readonly #messages: RowMessages;
  readonly #assembler: RowAssembler;
  #lastKey: Buffer | undefined;
  #leaveGate: (() => void) | undefined;
  /** There as soon as `next` has given undefined. */
  ending: Ending | undefined;

  constructor(read: RangeRead, reader: Reader, signal: AbortSignal) {
    const { table, appProfileId, range, filter } = read;
    this.#read = read;
    this.#reader = reader;
    this.#signal = signal;
    this.#messages = reader.readRows({ table, appProfileId, range, ...(filter && { filter }), signals: [signal] });
    this.#assembler = new RowAssembler(range);
  }

  /** What is left after the last event that was handed on; it may be empty. */
  get rest(): RowRange {
    const { range } = this.#read;
    return this.#lastKey === undefined ? range : truncateAfter(range, this.#lastKey);
  }

  /**
   * The next events, at least one; undefined at the end. Asking for more says that those before are done with: what
   * still holds a large row then has it beside the next one. Rejects with the signal's reason when that aborts in a wait
   * of our own; when it cut the call short, `ending` is a failure like any other.
   */
  async next(): Promise<readonly ReadEvent[] | undefined> {
    if (this.#assembler.openBytes <= LARGE_ROW_BYTES) this.#passGate();
    while (!this.ending) {
      if (!this.#assembler.hasMore) {
        await this.#receive();
        continue;
      }
      const events = this.#take();
      if (events.length > 0) return events;
    }
    return undefined;
  }

  async close(): Promise<void> {
    this.#passGate();
    await this.#messages.close();
  }

  #take(): readonly ReadEvent[] {
    const { maxRowsPerFetch, maxBytesPerFetch } = this.#read;
    try {
      const events = this.#assembler.take(maxRowsPerFetch, maxBytesPerFetch);
      this.#account(events);
      return events;
    } catch (error) {
      this.#breakOff(error);
      return [];
    }
  }

  #account(events: readonly ReadEvent[]): void {
    const last = events.at(-1);
    if (!last) return;
    this.#lastKey = last.kind === 'row' ? last.row.key : last.key;
    if (!this.#reader.pace) return;
    let rows = 0;
    let bytes = 0;
    for (const event of events) {
      if (event.kind !== 'row') continue;
      rows += 1;
      bytes += event.row.bytes;
    }
    this.#reader.pace.spend(rows, bytes);
  }

  async #receive(): Promise<void> {
    const { pace, largeRows } = this.#reader;
    await pace?.turn(this.#signal);
    if (this.#assembler.openBytes > LARGE_ROW_BYTES) this.#leaveGate ??= await largeRows.acquire(this.#signal);
    const reply = await this.#ask();
    if (reply.kind === 'message') this.#assembler.feed(reply.message);
    else if (reply.kind === 'failed') this.ending = reply;
    else this.#finish();
  }

  /** The next message, unless the service is silent for too long. */
  async #ask(): Promise<RowMessage> {
    const { idleTimeoutMillis } = this.#read;
    let closing: Promise<void> | undefined;
    const cancel = this.#reader.clock.after(idleTimeoutMillis, () => {
      closing = this.#messages.close(true);
      // Awaited below: until then its failure is nobody's.
      closing.catch(() => undefined);
    });
    const reply = await this.#messages.next();
    cancel();
    if (!closing) return reply;
    await closing;
    return failed('UNAVAILABLE', `the service said nothing for ${idleTimeoutMillis} ms`);
  }

  #finish(): void {
    try {
      this.#assembler.end();
      this.ending = { kind: 'finished' };
    } catch (error) {
      this.#breakOff(error);
    }
  }

  #breakOff(error: unknown): void {
    if (!(error instanceof ProtocolError)) throw error;
    this.ending = failed('INTERNAL', error.message);
  }

  #passGate(): void {
    this.#leaveGate?.();
    this.#leaveGate = undefined;
  }
}

const failed = (code: Status['code'], message: string): Extract<Ending, { kind: 'failed' }> => ({
  kind: 'failed',
  status: { code, message },
});
