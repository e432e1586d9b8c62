/** What is compared: our way from a row's bytes to its confirmation, and `publishMessage` of the official client. */

/** By which ordering key the messages of a layer leave. `each`: every message has its own. */
export type Keys = 'none' | 'each' | number;

export interface LayerArgument {
  readonly client: 'ours' | 'official';
  readonly keys: Keys;
  readonly address: string;
  readonly warmUpMessages: number;
  readonly messages: number;
}

export interface LayerResult {
  readonly cpuMicrosPerMessage: number;
  readonly messagesPerSecond: number;
  readonly peakRssMiB: number;
}

export interface Layer {
  /** Publishes messages `from` (inclusive) to `to` (exclusive); resolves when all are confirmed. */
  publish(from: number, to: number): Promise<void>;
  close(): Promise<void>;
}

export const TOPIC = 'projects/p/topics/out';

/** 1 KiB, as in the measurements that the targets come from. */
const TEMPLATE = Buffer.alloc(1024, 'The data of a row. ');

/** In memory of its own, as what is made of a row is. */
export const dataOf = (): Buffer => Buffer.from(TEMPLATE);

export const rowKeyOf = (row: number): string => `customer-${String(row % 1_000_003).padStart(7, '0')}-order-${row}`;

/** Attributes that all messages of a split share. */
export const COMMON = { run: '2026-11-30T00:00:00Z', split: 'a1b2c3-17', form: 'row', version: '1' };
