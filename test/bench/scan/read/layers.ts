/**
 * What is compared, each from the wire to whole rows: ours; the same channel with the generated decoder; a read stream of
 * the official client; and the generated client that it stands on.
 */
export const LAYERS = ['ours', 'generated decoder', 'createReadStream', 'generated client'] as const;

export type LayerName = (typeof LAYERS)[number];

export interface LayerArgument {
  readonly layer: LayerName;
  readonly address: string;
  readonly warmUpRows: number;
  readonly rows: number;
  readonly valueBytes: number;
}

export interface LayerResult {
  readonly cpuMicrosPerRow: number;
  readonly rowsPerSecond: number;
  readonly peakRssMiB: number;
}

/** What a reader saw of a scan, so that nothing of it is left out. */
export interface Seen {
  readonly rows: number;
  readonly valueBytes: number;
}

export interface Layer {
  /** Reads the whole table. */
  read(table: string): Promise<Seen>;
  close(): Promise<void>;
}
