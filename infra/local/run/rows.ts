import { printableBytes } from '../../../shared/model/bytes.ts';
import { formatTableName, parseTableName } from '../../../shared/model/table-name.ts';
import { storedCells, storedKey } from './official-rows.ts';
import { LocalCloudError } from '../base/local-error.ts';

export interface PrintRowsOptions {
  /** Only row keys that start with this. */
  readonly prefix: string;
  /** At most this many rows. */
  readonly limit: number;
}

/** Prints the first rows of a table with the official client, every cell with its timestamp in microseconds. */
export async function printRows(address: string, { prefix, limit }: PrintRowsOptions): Promise<void> {
  const { BIGTABLE_EMULATOR_HOST: host = '' } = process.env;
  if (host === '')
    throw new LocalCloudError('BIGTABLE_EMULATOR_HOST: must name a local Bigtable; npm run local prints it');
  const name = parseTableName(address, undefined);
  if (!name) throw new LocalCloudError(`table: must be project.instance.table, got ${JSON.stringify(address)}`);
  // Loading the client takes a second, which only this command should cost.
  const { Bigtable } = await import('@google-cloud/bigtable');
  const bigtable = new Bigtable({ projectId: name.project, apiEndpoint: host, metricsEnabled: false });
  try {
    const table = bigtable.instance(name.instance).table(name.table);
    const [rows] = await table.getRows({ limit, decode: false, ...(prefix !== '' && { prefix }) });
    for (const row of rows) {
      process.stdout.write(`${printableBytes(storedKey(row))}\n`);
      for (const { family, qualifier, timestampMicros, value } of storedCells(row)) {
        const column = `${family}:${printableBytes(Buffer.from(qualifier))}`;
        process.stdout.write(`  ${column} @${timestampMicros} ${printableBytes(value)}\n`);
      }
    }
    process.stdout.write(`${rows.length} rows of ${formatTableName(name)}\n`);
  } finally {
    await bigtable.close();
  }
}
