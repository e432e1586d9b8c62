import type { Ledger } from '../../../shared/change-stream/ledger/ledger.ts';
import { compareBytes } from '../../../shared/model/bytes.ts';
import { formatRange, type RowRange } from '../../../shared/model/row-range.ts';

/**
 * What is wrong with a ledger: partitions of which two have the same key, and keys that nobody has. By hand, and not by the
 * arithmetic that the ledger itself uses.
 */
export function gapsAndOverlaps({ partitions, merges, missing }: Ledger): string[] {
  const owned = partitions.filter(({ value }) => value.state.kind !== 'done').map(({ value }) => value.range);
  const parked = merges.flatMap(({ value }) => value.tokens.map(({ range }) => range));
  const problems: string[] = [];
  const inOrder = owned.toSorted((left, right) => compareBytes(startOf(left), startOf(right)));
  for (const [place, range] of inOrder.entries()) {
    const next = inOrder[place + 1];
    const end = endOf(range);
    if (next && (end === undefined || compareBytes(end, startOf(next)) > 0)) {
      problems.push(`${formatRange(range)} and ${formatRange(next)} are both somebody's`);
    }
  }
  const all = [...inOrder, ...parked, ...missing.map(({ value }) => value.range)].toSorted((left, right) =>
    compareBytes(startOf(left), startOf(right)),
  );
  let reached: Buffer | undefined = Buffer.alloc(0);
  for (const range of all) {
    if (reached === undefined) break;
    if (compareBytes(startOf(range), reached) > 0) {
      problems.push(`nobody has the keys from ${reached.toString()} to ${startOf(range).toString()}`);
    }
    const end = endOf(range);
    reached = end === undefined || compareBytes(end, reached) > 0 ? end : reached;
  }
  if (reached !== undefined) problems.push(`nobody has the keys from ${reached.toString()} on`);
  return problems;
}

const startOf = ({ start }: RowRange): Buffer => (start.kind === 'unbounded' ? Buffer.alloc(0) : start.key);
const endOf = ({ end }: RowRange): Buffer | undefined => (end.kind === 'unbounded' ? undefined : end.key);
