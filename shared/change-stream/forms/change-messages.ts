import { type OrderingKeys, orderingKeyOf } from '../../emission/messages/ordering-key.ts';
import type { Change } from '../../model/change.ts';
import type { OutgoingMessage } from '../../model/publishing.ts';
import type { TableName } from '../../model/table-name.ts';
import type { Restarted } from '../ledger/partition.ts';
import { changeAttributes } from './attributes.ts';
import { changeIds } from './change-id.ts';
import type { ChangeForm } from './form.ts';

export interface ChangeMessagesOptions {
  readonly table: TableName;
  readonly form: ChangeForm;
  /** The rows whose messages arrive in order. 64 groups where nothing else is asked for. */
  readonly orderingKeys: OrderingKeys;
  /** Several changes share a message: its lines have no attributes of their own. */
  readonly isPacked: boolean;
}

/** Rows whose changes arrive in order share one of so many ordering keys. */
export const DEFAULT_KEY_GROUPS = 64;

/**
 * The messages of a change in their order, for a source.
 *
 * @returns a function of the change and of how its partition began anew, if it did and its messages say so.
 */
export function changeMessages({
  table,
  form,
  orderingKeys,
  isPacked,
}: ChangeMessagesOptions): (change: Change, restarted: Restarted | undefined) => readonly OutgoingMessage[] {
  const idOf = changeIds(table);
  const keyOf = orderingKeyOf(orderingKeys);
  return (change, restarted) => {
    const id = idOf(change);
    const attributes = isPacked ? NO_ATTRIBUTES : changeAttributes(change, id, restarted);
    const orderingKey = keyOf(change.rowKey);
    return form
      .records(change, id, restarted)
      .map((data) => (orderingKey === undefined ? { data, attributes } : { data, attributes, orderingKey }));
  };
}

const NO_ATTRIBUTES: Readonly<Record<string, string>> = Object.freeze({});
