import { MutateRowsRequest_Entry } from '../../shared/proto/google/bigtable/v2/bigtable.ts';
import { aggregate, entry } from './bigtable-raw-client.ts';
import type { StagedHarness } from './staged-harness.ts';

/** An entry that adds one to the row's sum: it counts as often as it is applied. */
export const counting = (row: string): Buffer =>
  Buffer.from(
    MutateRowsRequest_Entry.encode(
      entry(row, aggregate('addToCell', 'sums', { $case: 'intValue', value: 1n }, { qualifier: 'n', micros: 0n })),
    ).finish(),
  );

/** The sum of a row, or undefined where it has none. */
export async function sumOfRow(staged: StagedHarness, key: string): Promise<bigint | undefined> {
  const cells = (await staged.rows()).find((row) => row.key === key)?.cells ?? [];
  const cell = cells.find((text) => text.startsWith('sums:n@'));
  return cell === undefined ? undefined : Buffer.from(cell.slice(cell.indexOf('=') + 1), 'latin1').readBigInt64BE();
}
