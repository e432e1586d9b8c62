/** What is compared, one RPC at a time: our executor, and the methods of the official client's `Row`. */
export const LAYERS = ['executor conditional', 'row.filter', 'executor increment', 'row.increment'] as const;

export type LayerName = (typeof LAYERS)[number];

export interface LayerArgument {
  readonly layer: LayerName;
  readonly address: string;
  readonly warmUpRequests: number;
  readonly requests: number;
}

export interface LayerResult {
  readonly cpuMicrosPerRequest: number;
  readonly requestsPerSecond: number;
  readonly peakRssMiB: number;
}

/** One request on the row of this number; resolves with its answer. Throws when it was not answered as it must be. */
export type Ask = (row: number) => Promise<void>;

export interface Layer {
  readonly ask: Ask;
  close(): Promise<void>;
}

export const REQUESTS_IN_FLIGHT = 100;

/** 100 bytes, as in the measurement that the target comes from. */
export const VALUE = Buffer.alloc(100, 'v');

export const keyOf = (row: number): string => `row-${row}`;

/** Requests `from` (inclusive) to `to` (exclusive), `REQUESTS_IN_FLIGHT` at a time. */
export async function askAll(ask: Ask, from: number, to: number): Promise<void> {
  let next = from;
  const worker = async (): Promise<void> => {
    while (next < to) {
      const row = next;
      next += 1;
      await ask(row);
    }
  };
  await Promise.all(Array.from({ length: REQUESTS_IN_FLIGHT }, worker));
}
