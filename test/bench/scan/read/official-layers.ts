import { Bigtable, type Row, v2 } from '@google-cloud/bigtable';
import { credentials } from '@grpc/grpc-js';
import type { Layer, Seen } from './layers.ts';

/** A read stream that decodes no values, without client-side metrics: the fastest that the official client has. */
export function readStreamLayer(address: string): Layer {
  process.env.BIGTABLE_EMULATOR_HOST = address;
  const bigtable = new Bigtable({ projectId: 'p', metricsEnabled: false });
  return {
    read: (table) =>
      new Promise<Seen>((resolve, reject) => {
        let rows = 0;
        let valueBytes = 0;
        bigtable
          .instance('i')
          .table(table)
          .createReadStream({ decode: false })
          .on('error', reject)
          .on('data', ({ data }: Row) => {
            rows += 1;
            const families = data as Record<string, Record<string, { value: Buffer }[]>>;
            for (const family of Object.values(families)) {
              for (const cells of Object.values(family)) for (const { value } of cells) valueBytes += value.length;
            }
          })
          .on('end', () => {
            resolve({ rows, valueBytes });
          });
      }),
    close: async () => {
      await bigtable.close();
    },
  };
}

interface Chunk {
  readonly value: Buffer;
  readonly commitRow?: boolean;
}

/** The client that is generated of the API, its chunks assembled as simply as they allow. */
export function generatedClientLayer(address: string): Layer {
  const [servicePath = '', port = ''] = address.split(':');
  const client = new v2.BigtableClient({
    servicePath,
    port: Number(port),
    sslCreds: credentials.createInsecure(),
    projectId: 'p',
    universeDomain: 'googleapis.com',
  });
  return {
    read: (table) =>
      new Promise<Seen>((resolve, reject) => {
        let rows = 0;
        let valueBytes = 0;
        let cells: Buffer[] = [];
        client
          .readRows({ tableName: `projects/p/instances/i/tables/${table}` })
          .on('error', reject)
          .on('data', ({ chunks }: { chunks: Chunk[] }) => {
            for (const { value, commitRow } of chunks) {
              cells.push(value);
              if (commitRow !== true) continue;
              rows += 1;
              for (const cell of cells) valueBytes += cell.length;
              cells = [];
            }
          })
          .on('end', () => {
            resolve({ rows, valueBytes });
          });
      }),
    close: () => client.close(),
  };
}
