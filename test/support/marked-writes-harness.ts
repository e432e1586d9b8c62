import { createMetrics, type MetricsRegistry } from '../../shared/base/metrics.ts';
import type { Envelope } from '../../shared/staged/envelope/envelope.ts';
import { MarkedWrites, type MarkedWritesOptions } from '../../shared/staged/write/marked-writes.ts';
import { MAX_COALESCED_ENVELOPES } from '../../shared/staged/write/coalesce.ts';
import type { Outcome } from '../../shared/markers/outcome.ts';
import { FakeMarkedTable, type FakeTableOptions } from './fake-marked-table.ts';
import { ManualClock } from './manual-clock.ts';
import { seededRandom } from './seeded-random.ts';
import { testRuntime } from './runtime.ts';

export interface MarkedWritesHarness {
  readonly clock: ManualClock;
  readonly metrics: MetricsRegistry;
  readonly table: FakeMarkedTable;
  readonly writes: MarkedWrites;
  /** Another instance over the same table and clock. */
  readonly another: () => MarkedWrites;
}

/** What people get who set nothing. */
export const WRITES_OPTIONS: MarkedWritesOptions = {
  maxInFlightRequests: 100,
  requestTimeoutMillis: 20_000,
  maxCoalescedEnvelopes: MAX_COALESCED_ENVELOPES,
  perDestinationMetrics: false,
};

/** The engine of conditional writes over the fake table, on a clock that the test moves. */
export function markedWrites(
  table: Omit<FakeTableOptions, 'clock'> = {},
  options: Partial<MarkedWritesOptions> = {},
  seed = 1,
): MarkedWritesHarness {
  const clock = new ManualClock();
  const metrics = createMetrics();
  const fake = new FakeMarkedTable({ ...table, clock });
  const another = (): MarkedWrites =>
    new MarkedWrites(
      { ...WRITES_OPTIONS, ...options },
      {
        send: fake.send,
        readMarkers: fake.readMarkers,
        runtime: testRuntime({ clock, random: seededRandom(seed), metrics }),
      },
    );
  return { clock, metrics, table: fake, writes: another(), another };
}

/** Submits one envelope by itself. */
export async function submitOne(writes: MarkedWrites, envelope: Envelope, signal: AbortSignal): Promise<Outcome> {
  const [result] = await writes.submit([envelope], signal);
  if (!result) throw new Error('an envelope without a result');
  return result;
}

/** A signal that never aborts. */
export const forEver = (): AbortSignal => new AbortController().signal;
