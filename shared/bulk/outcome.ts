import type { RedeliveryReason } from '../base/errors.ts';
import type { Status } from '../model/status.ts';
import { formatTableName, type TableName } from '../model/table-name.ts';
import type { FinalVerdict } from './deliver.ts';

/** What became of one entry. Nothing is thrown: an entry that cannot be written now goes back to Pub/Sub. */
export type WriteOutcome =
  | { readonly kind: 'applied' }
  /** Bigtable refused it alone: it belongs to the failure policy. */
  | { readonly kind: 'rejected'; readonly status: Status }
  | { readonly kind: 'redeliver'; readonly reason: RedeliveryReason; readonly message: string };

/** The outcome of a decided entry. */
export function outcomeOf(verdict: FinalVerdict, table: TableName): WriteOutcome {
  if (verdict.kind === 'applied' || verdict.kind === 'rejected') return verdict;
  const { reason, status } = verdict;
  return {
    kind: 'redeliver',
    reason,
    message: `MutateRows on ${formatTableName(table)} answered ${status.code}: ${ADVICE[reason] ?? status.message}`,
  };
}

/** What to do. In place of the service's own words where those may quote a row key. */
const ADVICE: Partial<Record<RedeliveryReason, string>> = {
  'missing-table':
    'the table does not exist and createDisposition is create-never; create the table or fix the destination, the message is redelivered until then',
  'missing-family':
    'a column family that the entry names does not exist and createDisposition is create-never; create the family or fix the serializer, the message is redelivered until then',
};

/** The outcome of an entry whose invocation ran out of time; `last` is the weather it met, if it met any. */
export function deadlineOutcome(reason: Error, last: Status | undefined): WriteOutcome {
  const lastAnswer = last ? `; the last answer was ${last.code}` : '';
  return { kind: 'redeliver', reason: last ? 'transient' : 'deadline', message: `${reason.message}${lastAnswer}` };
}
