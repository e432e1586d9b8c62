import { formatRange, type RowRange } from '../../model/row-range.ts';
import { inOrder } from './cover.ts';
import type { Ledger } from './ledger.ts';
import type { PartitionState } from './partition.ts';

/** Of each kind, so many ranges are named. */
const MAX_NAMED = 20;

/** Which part of the table is in which state, for a person: it tells tokens that wait, finished ranges and holes apart. */
export function describeLedger({ partitions, merges }: Ledger): Readonly<Record<string, string>> {
  const of = (...kinds: readonly PartitionState['kind'][]): string =>
    named(partitions.filter(({ value }) => kinds.includes(value.state.kind)).map(({ value }) => value.range));
  return {
    waiting: of('waiting', 'resting'),
    held: of('held'),
    completed: of('completed'),
    parked: named(merges.flatMap(({ value }) => value.tokens.map(({ range }) => range))),
  };
}

function named(ranges: readonly RowRange[]): string {
  if (ranges.length === 0) return 'none';
  const texts = inOrder(ranges, (range) => range).map(formatRange);
  const more = texts.length - MAX_NAMED;
  return [...texts.slice(0, MAX_NAMED), ...(more > 0 ? [`and ${more} more`] : [])].join(' ');
}
