import type { OutgoingMessage } from '../../model/publishing.ts';
import { EMISSION_ATTRIBUTES } from './attributes.ts';

const LINE_END = 0x0a;

/**
 * Records of one ordering key that become one message of NDJSON: a record a line. Such a message has the attributes of its
 * unit and the number of its records; attributes of single records are left out. Pure.
 */
export class Pack {
  readonly #records: Buffer[] = [];
  readonly #orderingKey: string | undefined;
  #bytes = 0;

  constructor(orderingKey: string | undefined) {
    this.#orderingKey = orderingKey;
  }

  get records(): number {
    return this.#records.length;
  }

  /** Bytes of the data, line ends included. */
  get bytes(): number {
    return this.#bytes;
  }

  add(record: Buffer): void {
    this.#records.push(record);
    this.#bytes += record.length + 1;
  }

  /** The message of all records, of which there must be one at least. */
  close(): OutgoingMessage {
    const data = Buffer.allocUnsafe(this.#bytes);
    let at = 0;
    for (const record of this.#records) {
      data.set(record, at);
      at += record.length;
      data[at++] = LINE_END;
    }
    return {
      data,
      attributes: { [EMISSION_ATTRIBUTES.records.name]: String(this.#records.length) },
      ...(this.#orderingKey !== undefined && { orderingKey: this.#orderingKey }),
    };
  }
}

/** Why the record cannot be a line of its own; undefined when it can. */
export const packProblem = (record: Buffer): string | undefined =>
  record.includes(LINE_END) ? 'a record that is packed with others must not contain a line end' : undefined;
