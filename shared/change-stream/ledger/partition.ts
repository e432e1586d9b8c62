import type { Nanos } from '../../model/change.ts';
import type { RowRange } from '../../model/row-range.ts';

/** A continuation token, and the partition that it was issued for: it is good for that one alone. */
export interface Token {
  readonly range: RowRange;
  readonly token: string;
}

/** Where to go on in a partition: at all of its tokens, or without any from the low watermark as start time. */
export interface Position {
  readonly tokens: readonly Token[];
  readonly lowWatermark: Nanos;
}
