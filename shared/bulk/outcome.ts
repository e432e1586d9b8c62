import type { RedeliveryReason } from '../base/errors.ts';
import { type Status, STATUSES, type StatusName } from '../model/status.ts';
import { formatTableName, type TableName } from '../model/table-name.ts';
import type { FinalVerdict } from './verdict.ts';
import { TableAdminError } from '../model/table-admin-error.ts';
import { FamilyTypeError } from './repair/table-errors.ts';

/** What became of one entry. Nothing is thrown: an entry that cannot be written now goes back to Pub/Sub. */
export type Outcome =
  | { readonly kind: 'applied' }
  /** Bigtable refused it alone: it belongs to the failure policy. */
  | { readonly kind: 'rejected'; readonly status: Status }
  | { readonly kind: 'redeliver'; readonly reason: RedeliveryReason; readonly message: string };

/** The outcome of a decided entry. */
export function outcomeOf(verdict: FinalVerdict, table: TableName): Outcome {
  if (verdict.kind === 'applied' || verdict.kind === 'rejected') return verdict;
  const { reason, status, advice } = verdict;
  return {
    kind: 'redeliver',
    reason,
    message: `MutateRows on ${formatTableName(table)} answered ${status.code}: ${advice ?? ADVICE[reason] ?? status.message}`,
  };
}

/** What to do. In place of the service's own words where those may quote a row key. */
const ADVICE: Partial<Record<RedeliveryReason, string>> = {
  'missing-table':
    'the table does not exist and createDisposition is create-never; create the table or fix the destination, the message is redelivered until then',
  'missing-family':
    'a column family that the entry names does not exist and createDisposition is create-never; create the family or fix the serializer, the message is redelivered until then',
};

/** Why an entry is not decided yet: told if its invocation ends before it is. */
export interface Trouble {
  readonly reason: RedeliveryReason;
  readonly message: string;
  /** A failure that counts only if it is the last. */
  readonly uncounted?: StatusName;
}

export const transientTrouble = ({ code }: Status): Trouble => ({
  reason: 'transient',
  message: `the last answer was ${code}`,
  uncounted: code,
});

/** The outcome of an entry whose invocation ran out of time. */
export const deadlineOutcome = (reason: Error, trouble: Trouble | undefined): Outcome => ({
  kind: 'redeliver',
  reason: trouble?.reason ?? 'deadline',
  message: trouble ? `${reason.message}; ${trouble.message}` : reason.message,
});

/** The outcome of an entry whose table's families are of other types than declared, or could not be read. */
export function uncheckedOutcome(error: Error, table: TableName): Extract<Outcome, { readonly kind: 'redeliver' }> {
  if (error instanceof FamilyTypeError) return { kind: 'redeliver', reason: 'refused', message: error.message };
  const isRefusal = error instanceof TableAdminError && STATUSES[error.status.code].passes !== 'yes';
  return {
    kind: 'redeliver',
    reason: isRefusal ? 'refused' : 'transient',
    message: `the types of the column families of ${formatTableName(table)} could not be compared with what the pipeline declares, which comes before the first write (it needs bigtable.tables.get): ${error.message}`,
  };
}
