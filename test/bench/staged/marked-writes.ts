import { systemClock } from '../../../shared/base/clock.ts';
import { systemRandom } from '../../../shared/base/random.ts';
import { createLogger } from '../../../shared/base/logging.ts';
import { createMetrics, type MetricsRegistry } from '../../../shared/base/metrics.ts';
import { ClientPool } from '../../../shared/google/bigtable/clients.ts';
import { createReadMarkers } from '../../../shared/google/bigtable/read-markers.ts';
import { createRowCalls } from '../../../shared/google/bigtable/row-calls.ts';
import type { SendRowCall } from '../../../shared/model/row-call.ts';
import { MAX_COALESCED_ENVELOPES } from '../../../shared/staged/write/coalesce.ts';
import { MarkedWrites } from '../../../shared/staged/write/marked-writes.ts';

/** What people get who set nothing. */
export const REQUESTS_IN_FLIGHT = 100;
export const REQUEST_TIMEOUT_MILLIS = 20_000;

export interface OpenedWrites {
  readonly send: SendRowCall;
  readonly writes: MarkedWrites;
  readonly metrics: MetricsRegistry;
  close(): void;
}

/** Conditional writes as the wiring of `commitStaged` makes them. */
export function openWrites(address: string): OpenedWrites {
  const metrics = createMetrics();
  const runtime = { clock: systemClock, random: systemRandom, metrics, logger: createLogger({}) };
  const pool = new ClientPool(
    { emulatorEndpoint: address, maxActiveInstances: 16, destinationIdleTimeoutMillis: 3_600_000 },
    runtime,
  );
  const send = createRowCalls(pool);
  const writes = new MarkedWrites(
    {
      maxInFlightRequests: REQUESTS_IN_FLIGHT,
      requestTimeoutMillis: REQUEST_TIMEOUT_MILLIS,
      maxCoalescedEnvelopes: MAX_COALESCED_ENVELOPES,
      perDestinationMetrics: false,
    },
    {
      send,
      readMarkers: createReadMarkers(pool),
      runtime,
    },
  );
  return {
    send,
    writes,
    metrics,
    close: () => {
      pool.close();
    },
  };
}
