import { systemClock } from '../../../../shared/base/clock.ts';
import { createLogger } from '../../../../shared/base/logging.ts';
import { createMetrics } from '../../../../shared/base/metrics.ts';
import { systemRandom } from '../../../../shared/base/random.ts';
import { Semaphore } from '../../../../shared/base/semaphore.ts';
import { createEmission } from '../../../../shared/emission/emission.ts';
import { orderingKeyOf } from '../../../../shared/emission/messages/ordering-key.ts';
import { ClientPool } from '../../../../shared/google/bigtable/clients.ts';
import { createReadRows } from '../../../../shared/google/bigtable/read-rows.ts';
import { createPublishCalls } from '../../../../shared/google/pubsub/publish-calls.ts';
import { WHOLE_TABLE } from '../../../../shared/model/row-range.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import { rowForm } from '../../../../shared/scan/forms/json-form.ts';
import { readRange } from '../../../../shared/scan/reading/read-range.ts';
import { readSplit } from '../../../../shared/scan/read-split.ts';
import { NO_COUNTS } from '../../../../shared/scan/runs/split.ts';
import { type Layer, TOPIC } from './layers.ts';

/** A split as a slot reads it: wire → rows → JSON → messages → requests → confirmed, window, budget and position included. */
export function ourLayer(address: string, perMessage: number): Layer {
  const runtime = { clock: systemClock, random: systemRandom, metrics: createMetrics(), logger: createLogger({}) };
  const limits = { maxActiveInstances: 1, destinationIdleTimeoutMillis: 3_600_000 };
  const clients = new ClientPool({ emulatorEndpoint: address, ...limits }, runtime);
  const calls = createPublishCalls({ emulatorEndpoint: address });
  const end = new AbortController();
  const emission = createEmission({
    send: calls.send,
    runtime,
    remainingMillis: () => 60_000,
    signal: end.signal,
    maxOutstandingBytes: 64 * 1024 * 1024,
  });
  const reader = {
    readRows: createReadRows(clients),
    largeRows: new Semaphore(1),
    clock: systemClock,
    random: systemRandom,
  };
  const never = new AbortController().signal;
  return {
    async handOn(table) {
      const source = { table: tableName('p', 'i', table), appProfileId: '', idleTimeoutMillis: 300_000 };
      const bounds = { maxRowsPerFetch: 1000, maxBytesPerFetch: 8 * 1024 * 1024 };
      const split = readSplit({
        id: 'plan-0',
        held: { run: 'run', range: WHOLE_TABLE, counts: NO_COUNTS, failures: 0 },
        work: {
          run: 'run',
          form: rowForm('base64'),
          unit: { topic: TOPIC, maxRecordsPerMessage: perMessage, oversizedMessage: 'fail', failurePolicy: 'fail' },
          orderingKeyOf: orderingKeyOf('none'),
          oversizedRow: 'fail',
          open: (range, signal) => readRange({ ...source, ...bounds, range }, reader, signal),
        },
        tools: {
          openUnit: (options) => emission.open(options),
          fileLetter: () => Promise.reject(new Error('the null server refuses nothing')),
        },
        runtime,
        stop: never,
        end: never,
      });
      const ending = await split.ended;
      if (ending.kind !== 'finished') throw new Error(`the split ${ending.kind}`);
      return split.takePlace()?.counts.rows ?? 0;
    },
    close() {
      emission.close();
      calls.close();
      clients.close();
      return Promise.resolve();
    },
  };
}
