import type { Cell } from './row.ts';

/** A cell on its way to a reader, through filters that may strip or label it. Immutable. */
export interface ReadCell extends Cell {
  readonly labels?: readonly string[];
}
