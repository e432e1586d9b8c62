import type { Ratio } from './statistics.ts';

export interface BenchSettings {
  /** Sizes for a look while developing: their figures are no evidence. */
  readonly isQuick: boolean;
  /** Rounds of every case, in place of the case's own number. */
  readonly runs: number | undefined;
  /** One line of progress. */
  progress(line: string): void;
}

/** One quantity of one subject, a value per round. */
export interface Series {
  readonly subject: string;
  readonly quantity: string;
  readonly values: readonly number[];
}

export type CaseReport =
  | {
      readonly kind: 'measured';
      readonly series: readonly Series[];
      readonly ratios: readonly Ratio[];
      /** Printed below the table as they are. */
      readonly notes: readonly string[];
    }
  /** The machine lacks something the case needs. */
  | { readonly kind: 'skipped'; readonly reason: string };

export interface BenchCase {
  /** For `--only`. */
  readonly name: string;
  readonly title: string;
  run(settings: BenchSettings): Promise<CaseReport>;
}
