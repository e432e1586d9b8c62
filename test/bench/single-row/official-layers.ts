import { Bigtable, type Table } from '@google-cloud/bigtable';
import { keyOf, type Layer, VALUE } from './layers.ts';

/** Without its client-side metrics, which favours it. */
function openTable(address: string): { readonly table: Table; readonly bigtable: Bigtable } {
  process.env.BIGTABLE_EMULATOR_HOST = address;
  const bigtable = new Bigtable({ projectId: 'p', metricsEnabled: false });
  return { table: bigtable.instance('i').table('t'), bigtable };
}

/** The same conditional request as ours, by `row.filter`. */
export function filterLayer(address: string): Layer {
  const { table, bigtable } = openTable(address);
  return {
    async ask(row) {
      const [isMatched] = await table.row(keyOf(row)).filter([{ family: 'f' }, { column: 'q' }], {
        onNoMatch: [{ method: 'insert', data: { f: { q: { value: VALUE, timestamp: 1000 } } } }],
      });
      if (isMatched !== false) throw new Error('the null server matches nothing');
    },
    close: async () => {
      await bigtable.close();
    },
  };
}

export function incrementLayer(address: string): Layer {
  const { table, bigtable } = openTable(address);
  return {
    async ask(row) {
      await table.row(keyOf(row)).increment('f:q', 1);
    },
    close: async () => {
      await bigtable.close();
    },
  };
}
