/** What every run of the demo is told. */
export interface RunOptions {
  /** How many flights take part, from the start of the data set. */
  readonly flights: number;
  /** Where the functions come from. Default: this repository; else the folder of a bundle. */
  readonly source?: string;
  readonly out: NodeJS.WriteStream;
  readonly signal: AbortSignal;
}
