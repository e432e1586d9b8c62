import type { LargeData } from '../../model/publishing.ts';
import type { Row } from '../../model/row.ts';

/** What is handed on of a row: the data of a message, or one line of a packed one, perhaps with attributes of its own; or more than a message holds. */
export type FormRecord = Buffer | AttributedRecord | LargeData;

/** A record that is a message of its own: the lines of a packed one have no attributes. */
export interface AttributedRecord {
  readonly data: Buffer;
  /** Beside those that the scan sets, which it does not name. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** How a row becomes what is handed on. */
export interface Form {
  /** In the attribute `form` of every message. */
  readonly name: string;
  /** In the attribute `form-version`: another one, another shape. */
  readonly version: number;
  /**
   * The records of one row, perhaps none. The same row makes the same records at every reading, as far as the form is
   * ours. Throws an Error that names family or rule where the row has no such form.
   */
  readonly records: (row: Row) => readonly FormRecord[];
}

/** A form whose records have no attributes of their own. */
export interface BareForm extends Form {
  readonly records: (row: Row) => readonly Buffer[];
}
