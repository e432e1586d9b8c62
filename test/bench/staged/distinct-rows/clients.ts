/** What is compared: a drain, and the official client as its users call it. */
export const CLIENTS = ['drain', 'checkAndMutateRow'] as const;

export type ClientName = (typeof CLIENTS)[number];

export interface ClientArgument {
  readonly client: ClientName;
  readonly address: string;
  readonly warmUpWrites: number;
  readonly writes: number;
}

export interface ClientResult {
  readonly cpuMicrosPerWrite: number;
  readonly writesPerSecond: number;
  readonly peakRssMiB: number;
}

/** Makes this many conditional writes, each on another row; resolves when every one of them is answered. */
export type Write = (writes: number) => Promise<void>;

export const VALUE = Buffer.alloc(100, 'the quick brown fox jumps over the lazy dog ');
