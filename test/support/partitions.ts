import type { HeldPartition, Partition, Token } from '../../shared/change-stream/ledger/partition.ts';
import { closedBound, openBound, type RowRange } from '../../shared/model/row-range.ts';

/** Partitions of a change stream as tests write them: `range('a', 'c')` is `[a, c)`, and no text is no bound. */
export const range = (start: string, end: string): RowRange => ({
  start: closedBound(Buffer.from(start)),
  end: openBound(Buffer.from(end)),
});

export const token = (start: string, end: string, text = `${start}-${end}`): Token => ({
  range: range(start, end),
  token: text,
});

export const held = (
  start: string,
  end: string,
  tokens: readonly Token[] = [],
  lowWatermark = 100n,
  others: Partial<HeldPartition> = {},
): HeldPartition => ({
  ...{ generation: 1, range: range(start, end), position: { tokens, lowWatermark }, round: 1, failures: 0 },
  ...others,
});

export const partition = (
  id: string,
  of: HeldPartition,
  state: Partition['state'] = { kind: 'waiting', since: 0 },
): Partition => ({ ...of, id, state });
