import { Bigtable, type Table } from '@google-cloud/bigtable';
import { FAMILY, keyOf, QUALIFIER, TABLE, TIMESTAMP_MICROS } from '../rows.ts';
import { BATCH_ROWS, inRanges, INSERTS_IN_FLIGHT, REQUESTS_IN_FLIGHT, valueOf, type Layer } from './layers.ts';

/** Without its client-side metrics, which cost it a quarter of every insert: the comparison favours it there. */
function openTable(address: string): { readonly table: Table; readonly bigtable: Bigtable } {
  process.env.BIGTABLE_EMULATOR_HOST = address;
  const bigtable = new Bigtable({ projectId: TABLE.project, metricsEnabled: false });
  return { table: bigtable.instance(TABLE.instance).table(TABLE.table), bigtable };
}

const insertOf = (row: number): object => ({
  key: keyOf(row),
  data: { [FAMILY]: { [QUALIFIER]: { value: valueOf(row), timestamp: TIMESTAMP_MICROS } } },
});

/** The best that the official client does: the same batches, as many in flight. */
export function mutateLayer(address: string): Layer {
  const { table, bigtable } = openTable(address);
  const mutateRange = async (from: number, to: number): Promise<void> => {
    const entries: object[] = [];
    for (let row = from; row < to; row += 1) entries.push({ method: 'insert', ...insertOf(row) });
    await table.mutate(entries);
  };
  return {
    write: (from, to) => inRanges(from, to, BATCH_ROWS, REQUESTS_IN_FLIGHT, mutateRange),
    close: async () => {
      await bigtable.close();
    },
  };
}

/** What a function does that inserts each record as it comes. */
export function insertLayer(address: string): Layer {
  const { table, bigtable } = openTable(address);
  return {
    write: (from, to) =>
      inRanges(from, to, 1, INSERTS_IN_FLIGHT, async (row) => {
        await table.insert([insertOf(row)]);
      }),
    close: async () => {
      await bigtable.close();
    },
  };
}
