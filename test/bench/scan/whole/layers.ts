/** What is compared: a split as production reads it, from the server to the confirmed messages; and a loop of the official clients. */

export interface LayerArgument {
  readonly client: 'ours' | 'official';
  /** Rows in one message; the official loop makes a message of each row. */
  readonly perMessage: number;
  readonly address: string;
  readonly warmUpRows: number;
  readonly rows: number;
  readonly valueBytes: number;
}

export interface LayerResult {
  readonly rowsPerCpuSecond: number;
  readonly rowsPerSecond: number;
  readonly peakRssMiB: number;
}

export interface Layer {
  /** Hands on every row of a table; resolves with their number when every message is confirmed. */
  handOn(table: string): Promise<number>;
  close(): Promise<void>;
}

export const TOPIC = 'projects/p/topics/out';
