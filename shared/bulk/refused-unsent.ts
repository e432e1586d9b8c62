import type { RowEntry } from '../model/mutation.ts';
import { mutationsProblem, rowKeyRule } from '../model/mutation-rules.ts';
import type { Status } from '../model/status.ts';

/**
 * The answer that every table would give to an entry, for what is certain without asking: its row key, the names of its
 * families, the lengths and times of its cells and the ranges of its deletes. Undefined where the service is to be asked.
 * Pure. A refused entry refuses its whole request, so that asking costs requests to narrow it down, for nothing.
 */
export function refusedUnsent({ rowKey, mutations }: RowEntry): Status | undefined {
  const rule = rowKeyRule(rowKey);
  const problem = rule === undefined ? mutationsProblem(mutations, 'mutations') : `the row key ${rule}`;
  if (problem === undefined) return undefined;
  return { code: 'INVALID_ARGUMENT', message: `not sent, because no table takes it: ${problem}` };
}
