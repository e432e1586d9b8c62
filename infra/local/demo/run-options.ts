/** What every run of the demo is told. */
export interface RunOptions {
  /** How many flights take part, from the start of the data set. */
  readonly flights: number;
  /** Where the functions come from. Default: this repository; else the folder of a bundle. */
  readonly source?: string;
  /** How much faster the clocks of the functions run, where nobody wants to sit out a lease. Default 1. */
  readonly functionTimeScale?: number;
  readonly out: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>;
  readonly signal: AbortSignal;
}
