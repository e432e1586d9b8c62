import type { Message, PubSub } from '@google-cloud/pubsub';
import { Collector } from '../base/collector.ts';
import { bigEndianHex } from '../base/read-back.ts';
import { type ComparedCell, rowText, type Snapshot } from './cells.ts';
import type { Received } from './repeats.ts';
import type { Totals } from './scan-state.ts';

/** What a line holds, as `export-flight.ts` writes it. */
interface ExportedFlight {
  readonly flight: string;
  readonly delays: readonly { readonly at: string; readonly minutes: number }[];
  readonly distances: readonly { readonly at: string; readonly miles: number }[];
  readonly summaries: readonly { readonly at: string; readonly text: string }[];
}

/**
 * Reads the topic with the official client, as whoever uses an export would, and holds every row against the table. A
 * message that Pub/Sub delivers again is not a row that was handed on again: messages are told apart by their ids.
 */
export class Consumer {
  /** Rows that came, repeats counted. */
  rows = 0;
  /** Rows that the table has not. */
  unexpected = 0;
  /** Rows whose cells are not those of the table. */
  different = 0;
  /** By each message that told the end of the run. */
  readonly completed: Totals[] = [];
  /** When the last message of rows was published, and the first that told the end: nanoseconds since the epoch. */
  lastRowsAt = 0n;
  firstToldAt: bigint | undefined;
  readonly #table: Snapshot;
  readonly #messages = new Set<string>();
  readonly #splits = new Map<string, Map<string, number>>();
  readonly #collector: Collector;

  constructor(pubsub: PubSub, subscription: string, table: Snapshot) {
    this.#table = table;
    this.#collector = new Collector(pubsub, subscription, (message) => {
      this.#take(message);
    });
  }

  /** Messages of rows. */
  get messages(): number {
    return this.#messages.size - this.completed.length;
  }

  /** Rows that came, each once. */
  get distinct(): number {
    let sum = 0;
    for (const keys of this.#splits.values()) sum += keys.size;
    return sum;
  }

  /** How often each row came, by its split. */
  get received(): Received {
    return this.#splits;
  }

  until(isComplete: () => boolean, signal: AbortSignal): Promise<void> {
    return this.#collector.until(isComplete, signal);
  }

  stop(): Promise<void> {
    return this.#collector.stop();
  }

  #take({ id, data, attributes, publishTime }: Message): void {
    if (this.#messages.has(id)) return;
    this.#messages.add(id);
    const at = publishTime.getFullTime();
    if (attributes.kind === 'run-completed') {
      this.completed.push((JSON.parse(data.toString()) as { readonly totals: Totals }).totals);
      if (this.firstToldAt === undefined || at < this.firstToldAt) this.firstToldAt = at;
      return;
    }
    if (at > this.lastRowsAt) this.lastRowsAt = at;
    const keys = this.#keysOf(attributes.split ?? '');
    for (const line of data.toString().split('\n')) this.#takeRow(JSON.parse(line) as ExportedFlight, keys);
  }

  #takeRow(flight: ExportedFlight, keys: Map<string, number>): void {
    const key = flight.flight;
    this.rows += 1;
    keys.set(key, (keys.get(key) ?? 0) + 1);
    const expected = this.#table.get(key);
    if (expected === undefined) this.unexpected += 1;
    else if (expected !== rowText(cellsOf(flight))) this.different += 1;
  }

  #keysOf(split: string): Map<string, number> {
    const known = this.#splits.get(split);
    if (known) return known;
    const keys = new Map<string, number>();
    this.#splits.set(split, keys);
    return keys;
  }
}

/** The cells that the row must have had. */
const cellsOf = ({ delays, distances, summaries }: ExportedFlight): ComparedCell[] => [
  ...delays.map(({ at, minutes }) => cell('delay', at, Buffer.from(bigEndianHex(minutes), 'hex'))),
  ...distances.map(({ at, miles }) => cell('distance', at, Buffer.from(bigEndianHex(miles), 'hex'))),
  ...summaries.map(({ at, text }) => cell('summary', at, Buffer.from(text))),
];

const cell = (qualifier: string, timestampMicros: string, value: Buffer): ComparedCell => ({
  ...{ qualifier, timestampMicros, value },
});
