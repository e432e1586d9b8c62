import { systemClock } from '../../../../shared/base/clock.ts';
import { systemRandom } from '../../../../shared/base/random.ts';
import { createLogger } from '../../../../shared/base/logging.ts';
import { createMetrics } from '../../../../shared/base/metrics.ts';
import type { Runtime } from '../../../../shared/base/runtime.ts';
import { Batcher, type BatcherOptions } from '../../../../shared/bulk/batcher.ts';
import type { Outcome } from '../../../../shared/bulk/outcome.ts';
import type { MutateRows } from '../../../../shared/bulk/ports.ts';
import { ClientPool } from '../../../../shared/google/bigtable/clients.ts';
import { createMutateRows } from '../../../../shared/google/bigtable/mutate-rows.ts';
import type { SizedEntry } from '../../../../shared/model/mutation.ts';
import { entryOf, keyOf, TABLE } from '../rows.ts';
import { BATCH_ROWS, inRanges, REQUESTS_IN_FLIGHT, valueOf, type Layer } from './layers.ts';

const runtime = (): Runtime => ({
  clock: systemClock,
  random: systemRandom,
  metrics: createMetrics(),
  logger: createLogger({}),
});

/** The data plane as the wiring of `bulkSink` makes it. */
export function openDataPlane(address: string): { readonly mutateRows: MutateRows; readonly pool: ClientPool } {
  const pool = new ClientPool(
    { emulatorEndpoint: address, maxActiveInstances: 16, destinationIdleTimeoutMillis: 3_600_000 },
    runtime(),
  );
  return { mutateRows: createMutateRows(pool, { appProfileId: '', flowControl: true }), pool };
}

export const BATCHER_OPTIONS: BatcherOptions = {
  batchElementCountThreshold: BATCH_ROWS,
  batchRequestByteThreshold: 4 * 1024 * 1024,
  maxInFlightEntries: 2 * REQUESTS_IN_FLIGHT * BATCH_ROWS,
  maxInFlightBytes: 64 * 1024 * 1024,
  maxConcurrentBatches: REQUESTS_IN_FLIGHT,
  lingerMillis: 0,
  requestTimeoutMillis: 20_000,
  retryInitialBackoffMillis: 20,
  retryMaxBackoffMillis: 2000,
};

export const createBatcher = (mutateRows: MutateRows): Batcher =>
  new Batcher(BATCHER_OPTIONS, {
    mutateRows,
    runtime: runtime(),
  });

/** Requests of 500 entries, 4 in flight, straight through `MutateRows`. */
export function dataPlaneLayer(address: string): Layer {
  const { mutateRows, pool } = openDataPlane(address);
  const sendRange = async (from: number, to: number): Promise<void> => {
    const entries: SizedEntry[] = [];
    for (let row = from; row < to; row += 1) {
      const entry = entryOf(keyOf(row), valueOf(row));
      entries.push({ entry, bytes: mutateRows.sizeOf(entry) });
    }
    const { answers } = await mutateRows.send({ table: TABLE, entries, timeoutMillis: 20_000 });
    for (const { kind } of answers) if (kind !== 'applied') throw new Error(`an entry was ${kind}`);
  };
  return {
    write: (from, to) => inRanges(from, to, BATCH_ROWS, REQUESTS_IN_FLIGHT, sendRange),
    close: () => {
      pool.close();
      return Promise.resolve(undefined);
    },
  };
}

/** Records that one message holds where many arrive at once. */
const MESSAGE_ROWS = 100;

/** The same through the batcher, fed as the sink feeds it: by concurrent messages of 100 records. */
export function batcherLayer(address: string): Layer {
  const { mutateRows, pool } = openDataPlane(address);
  const batcher = createBatcher(mutateRows);
  const deliver = async (from: number, to: number): Promise<void> => {
    const { signal } = new AbortController();
    const { promise: settled, resolve, reject } = Promise.withResolvers<undefined>();
    let open = to - from;
    const onOutcome = ({ kind }: Outcome): void => {
      if (kind !== 'applied') reject(new Error(`an entry was ${kind}`));
      open -= 1;
      if (open === 0) resolve(undefined);
    };
    for (let row = from; row < to; row += 1) {
      const admitted = batcher.submit(TABLE, entryOf(keyOf(row), valueOf(row)), signal, onOutcome);
      if (admitted) await admitted;
    }
    await settled;
  };
  const messages = BATCHER_OPTIONS.maxInFlightEntries / MESSAGE_ROWS;
  return {
    write: (from, to) => inRanges(from, to, MESSAGE_ROWS, messages, deliver),
    close: () => {
      pool.close();
      return Promise.resolve(undefined);
    },
  };
}
