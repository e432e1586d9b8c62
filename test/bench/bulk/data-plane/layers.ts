/** What is compared: our two layers and the two ways the official client is used. */
export const LAYERS = ['data plane', 'batcher', 'Table.mutate', 'table.insert'] as const;

export type LayerName = (typeof LAYERS)[number];

export interface LayerArgument {
  readonly layer: LayerName;
  readonly address: string;
  readonly warmUpRows: number;
  readonly rows: number;
}

export interface LayerResult {
  readonly cpuMicrosPerEntry: number;
  readonly entriesPerSecond: number;
  readonly peakRssMiB: number;
}

/** Writes rows `from` (inclusive) to `to` (exclusive); resolves when every one of them is acknowledged. */
export type WriteRows = (from: number, to: number) => Promise<void>;

export interface Layer {
  readonly write: WriteRows;
  close(): Promise<void>;
}

export const BATCH_ROWS = 500;
export const REQUESTS_IN_FLIGHT = 4;
/** What people do who await each insert of a loop that runs this many at a time. */
export const INSERTS_IN_FLIGHT = 100;

const VALUE_BYTES = 1024;

/** Different bytes for neighbouring rows, without the cost of making them. */
const pool = Buffer.alloc(1 << 20, 'the quick brown fox jumps over the lazy dog ');

export function valueOf(row: number): Buffer {
  const at = (row * 37) % (pool.length - VALUE_BYTES);
  return pool.subarray(at, at + VALUE_BYTES);
}

/** Runs `work` on consecutive ranges of `size` rows, `inFlight` of them at a time. */
export async function inRanges(
  from: number,
  to: number,
  size: number,
  inFlight: number,
  work: (from: number, to: number) => Promise<void>,
): Promise<void> {
  let next = from;
  const worker = async (): Promise<void> => {
    while (next < to) {
      const start = next;
      next = Math.min(to, start + size);
      await work(start, next);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}
