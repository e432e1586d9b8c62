import type { Row } from '../../model/row.ts';

/** How a row becomes what is handed on. */
export interface Form {
  /** In the attribute `form` of every message. */
  readonly name: string;
  /** In the attribute `form-version`: another one, another shape. */
  readonly version: number;
  /**
   * The records of one row, perhaps none: each the data of a message, or one line of it. The same row makes the same
   * records at every reading. Throws an Error that names family or rule where the row has no such form.
   */
  readonly records: (row: Row) => readonly Buffer[];
}
