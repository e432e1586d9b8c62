import type { Change } from '../../model/change.ts';
import type { Restarted } from '../ledger/partition.ts';

/** How a change becomes what is handed on. */
export interface ChangeForm {
  /** In the attribute `form` of every message. */
  readonly name: string;
  /** In the attribute `form-version`: another one, another shape. */
  readonly version: number;
  /** In the attribute `content-type` of every message that is no pack. */
  readonly contentType: string;
  /**
   * The records of one change, each a message or a line of a packed one; perhaps none. The same change makes the same
   * records at every reading. Throws an Error that names the rule where a change has no such form.
   */
  readonly records: (change: Change, id: string, restarted: Restarted | undefined) => readonly Buffer[];
}
