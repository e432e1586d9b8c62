import type { OutgoingMessage } from '../../model/publishing.ts';
import { EMISSION_ATTRIBUTES } from './attributes.ts';
import type { PackBuffers } from './pack-buffers.ts';

const LINE_END = 0x0a;

const GROWTH = 1.5;

/** What became of a pack. */
export interface ClosedPack {
  readonly message: OutgoingMessage;
  /** To be called once the message has ended: its data is written over then. Absent where nothing is to be given back. */
  readonly release?: () => void;
}

/**
 * Records of one ordering key that become one message of NDJSON: a record a line. Such a message has the attributes of its
 * unit and the number of its records; attributes of single records are left out. Records are copied when they come, so that
 * nothing else of them is kept.
 */
export class Pack {
  readonly #orderingKey: string | undefined;
  readonly #buffers: PackBuffers;
  /** Bytes that it began with. */
  readonly #room: number;
  #lines: Buffer;
  #bytes = 0;
  #records = 0;

  constructor(orderingKey: string | undefined, buffers: PackBuffers) {
    this.#orderingKey = orderingKey;
    this.#buffers = buffers;
    this.#lines = buffers.take();
    this.#room = this.#lines.length;
  }

  get records(): number {
    return this.#records;
  }

  /** Bytes of the data, line ends included. */
  get bytes(): number {
    return this.#bytes;
  }

  add(record: Buffer): void {
    const end = this.#bytes + record.length;
    if (end >= this.#lines.length) this.#grow(end + 1);
    this.#lines.set(record, this.#bytes);
    this.#lines[end] = LINE_END;
    this.#bytes = end + 1;
    this.#records += 1;
  }

  /** The message of all records, of which there must be one at least. */
  close(): ClosedPack {
    const filled = this.#lines.subarray(0, this.#bytes);
    const isRoomy = this.#lines.length - this.#bytes > this.#bytes / 4;
    const data = isRoomy ? Buffer.from(filled) : filled;
    this.#buffers.closed(this.#bytes, this.#room);
    const lines = this.#lines;
    const release = (): void => {
      this.#buffers.give(lines);
    };
    if (isRoomy) release();
    const attributes = { [EMISSION_ATTRIBUTES.records.name]: String(this.#records) };
    const message =
      this.#orderingKey === undefined ? { data, attributes } : { data, attributes, orderingKey: this.#orderingKey };
    return isRoomy ? { message } : { message, release };
  }

  /** Its records are not sent. */
  drop(): void {
    this.#buffers.dropped(this.#lines, this.#room);
  }

  #grow(least: number): void {
    const lines = Buffer.allocUnsafeSlow(Math.max(least, Math.ceil(this.#lines.length * GROWTH)));
    lines.set(this.#lines.subarray(0, this.#bytes));
    this.#buffers.give(this.#lines);
    this.#lines = lines;
  }
}

/** Why the record cannot be a line of its own; undefined when it can. */
export const packProblem = (record: Buffer): string | undefined =>
  record.includes(LINE_END) ? 'a record that is packed with others must not contain a line end' : undefined;
