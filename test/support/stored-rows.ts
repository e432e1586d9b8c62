import { Bigtable, type Row } from '@google-cloud/bigtable';
import { storedCells, storedKey } from '../../infra/local/run/official-rows.ts';
import { printableBytes } from '../../shared/model/bytes.ts';

/** Row key → cells as `family:qualifier@timestampMicros` → value, newest version first; bytes as a person reads them. */
export type StoredRows = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Every version of every cell of `projects/p/instances/i/tables/{table}`, read with the official client. */
export async function storedRows(address: string, table: string): Promise<StoredRows> {
  const client = new Bigtable({ projectId: 'p', apiEndpoint: address, metricsEnabled: false });
  try {
    const [rows] = (await client.instance('i').table(table).getRows({ decode: false })) as [Row[], unknown];
    return Object.fromEntries(
      rows.map((row) => [
        printableBytes(storedKey(row)),
        Object.fromEntries(
          storedCells(row).map(({ family, qualifier, timestampMicros, value }) => [
            `${family}:${qualifier}@${timestampMicros}`,
            printableBytes(value),
          ]),
        ),
      ]),
    );
  } finally {
    await client.close();
  }
}

/** The same with the newest version of each column alone and without its time, for cells that the server dates. */
export async function newestCells(address: string, table: string): Promise<StoredRows> {
  const rows = await storedRows(address, table);
  return Object.fromEntries(
    Object.entries(rows).map(([key, cells]) => {
      const newest = new Map<string, string>();
      for (const [at, value] of Object.entries(cells)) {
        const column = at.slice(0, at.lastIndexOf('@'));
        if (!newest.has(column)) newest.set(column, value);
      }
      return [key, Object.fromEntries(newest)];
    }),
  );
}

/** How a 64-bit integer, big-endian, is shown there. */
export function shownInt64(value: bigint): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return printableBytes(bytes);
}
