import type { OutgoingMessage } from '../../model/publishing.ts';
import { EMISSION_ATTRIBUTES } from './attributes.ts';

const LINE_END = 0x0a;

const MIN_BYTES = 1024;
const GROWTH = 1.5;

/**
 * Records of one ordering key that become one message of NDJSON: a record a line. Such a message has the attributes of its
 * unit and the number of its records; attributes of single records are left out. Records are copied when they come, so that
 * nothing else of them is kept. Pure.
 */
export class Pack {
  readonly #orderingKey: string | undefined;
  #lines = Buffer.allocUnsafe(MIN_BYTES);
  #bytes = 0;
  #records = 0;

  constructor(orderingKey: string | undefined) {
    this.#orderingKey = orderingKey;
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
  close(): OutgoingMessage {
    const filled = this.#lines.subarray(0, this.#bytes);
    const isRoomy = this.#lines.length - this.#bytes > this.#bytes / 8;
    const data = isRoomy ? Buffer.from(filled) : filled;
    const attributes = { [EMISSION_ATTRIBUTES.records.name]: String(this.#records) };
    return this.#orderingKey === undefined
      ? { data, attributes }
      : { data, attributes, orderingKey: this.#orderingKey };
  }

  #grow(least: number): void {
    const lines = Buffer.allocUnsafe(Math.max(least, Math.ceil(this.#lines.length * GROWTH)));
    lines.set(this.#lines.subarray(0, this.#bytes));
    this.#lines = lines;
  }
}

/** Why the record cannot be a line of its own; undefined when it can. */
export const packProblem = (record: Buffer): string | undefined =>
  record.includes(LINE_END) ? 'a record that is packed with others must not contain a line end' : undefined;
