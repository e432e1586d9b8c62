import { systemClock } from '../../../../shared/base/clock.ts';
import { createLogger } from '../../../../shared/base/logging.ts';
import { createMetrics } from '../../../../shared/base/metrics.ts';
import { systemRandom } from '../../../../shared/base/random.ts';
import { Semaphore } from '../../../../shared/base/semaphore.ts';
import { ClientPool } from '../../../../shared/google/bigtable/clients.ts';
import { createReadRows } from '../../../../shared/google/bigtable/read-rows.ts';
import type { Cell } from '../../../../shared/model/row.ts';
import { WHOLE_TABLE } from '../../../../shared/model/row-range.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import { ReadRowsResponse } from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import type { ReadRows } from '../../../../shared/scan/ports.ts';
import { readRange } from '../../../../shared/scan/reading/read-range.ts';
import type { Layer, Seen } from './layers.ts';

const { signal } = new AbortController();

/** What production reads a split by. */
export const ourLayer = (address: string): Layer =>
  layerOver(address, (readRows) => async (table) => {
    let rows = 0;
    let valueBytes = 0;
    const reading = readRange(
      {
        table: tableName('p', 'i', table),
        appProfileId: '',
        range: WHOLE_TABLE,
        idleTimeoutMillis: 300_000,
        maxRowsPerFetch: 1000,
        maxBytesPerFetch: 8 * 1024 * 1024,
      },
      { readRows, largeRows: new Semaphore(1), clock: systemClock, random: systemRandom },
      signal,
    );
    for await (const events of reading) {
      for (const event of events) {
        if (event.kind !== 'row') continue;
        rows += 1;
        for (const { value } of event.row.cells) valueBytes += value.length;
      }
    }
    return { rows, valueBytes };
  });

/** The same messages by the generated decoder, assembled as simply as their chunks allow. */
export const generatedDecoderLayer = (address: string): Layer =>
  layerOver(address, (readRows) => async (table) => {
    let rows = 0;
    let valueBytes = 0;
    let cells: Cell[] = [];
    const call = { table: tableName('p', 'i', table), appProfileId: '', range: WHOLE_TABLE, signals: [signal] };
    const messages = readRows(call);
    for (let reply = await messages.next(); reply.kind !== 'finished'; reply = await messages.next()) {
      if (reply.kind === 'failed') throw new Error(reply.status.message);
      for (const chunk of ReadRowsResponse.decode(reply.message).chunks) {
        const { familyName = '', qualifier = NO_BYTES, timestampMicros, value, labels } = chunk;
        cells.push({ family: familyName, qualifier, timestampMicros, value, labels });
        if (chunk.rowStatus?.$case !== 'commitRow') continue;
        rows += 1;
        for (const cell of cells) valueBytes += cell.value.length;
        cells = [];
      }
    }
    return { rows, valueBytes };
  });

const NO_BYTES = Buffer.alloc(0);

function layerOver(address: string, reader: (readRows: ReadRows) => (table: string) => Promise<Seen>): Layer {
  const runtime = { clock: systemClock, random: systemRandom, metrics: createMetrics(), logger: createLogger({}) };
  const limits = { maxActiveInstances: 1, destinationIdleTimeoutMillis: 3_600_000 };
  const clients = new ClientPool({ emulatorEndpoint: address, ...limits }, runtime);
  return {
    read: reader(createReadRows(clients)),
    close() {
      clients.close();
      return Promise.resolve();
    },
  };
}
