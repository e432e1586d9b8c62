import { createEmission, type Emission, type UnitEmission, type UnitOptions } from '../../shared/emission/emission.ts';
import { FakeTopic } from './fake-topic.ts';
import { ManualClock } from './manual-clock.ts';
import { testRuntime, type TestRuntime } from './runtime.ts';

export const OUT = 'projects/p/topics/out';

export interface EmissionHarness {
  readonly clock: ManualClock;
  readonly topic: FakeTopic;
  readonly runtime: TestRuntime;
  readonly emission: Emission;
  /** Ends the slot. */
  readonly end: AbortController;
  /** How long the lease lasts: forever, unless a test says otherwise. */
  lease: { remainingMillis: number };
  readonly open: (options?: Partial<UnitOptions>) => UnitEmission<number>;
}

/** An emission before a topic in memory, on a clock that the test moves. */
export function startEmission(maxOutstandingBytes = 64 * 1024 * 1024): EmissionHarness {
  const clock = new ManualClock();
  const topic = new FakeTopic(clock);
  const runtime = testRuntime({ clock });
  const end = new AbortController();
  const lease = { remainingMillis: Infinity };
  const emission = createEmission({
    send: topic.send,
    runtime,
    remainingMillis: () => lease.remainingMillis,
    signal: end.signal,
    maxOutstandingBytes,
  });
  return {
    ...{ clock, topic, runtime, end, lease, emission },
    open: (options) =>
      emission.open<number>({
        topic: OUT,
        attributes: {},
        maxRecordsPerMessage: 1,
        oversizedMessage: 'fail',
        failurePolicy: 'fail',
        setApart: () => Promise.reject(new Error('nothing is set apart here')),
        ...options,
      }),
  };
}

/** Emits texts of one ordering key, each of which is a position; none of them may have to wait. */
export function emitAll(unit: UnitEmission<number>, texts: readonly string[], orderingKey?: string): void {
  for (const text of texts) {
    const message = { data: Buffer.from(text), attributes: {} };
    const waiting = unit.emit(orderingKey === undefined ? message : { ...message, orderingKey });
    if (waiting) throw new Error('there was no room');
    unit.pass(Number(/\d+/.exec(text)?.[0] ?? 0));
  }
}

/** `prefix1`, `prefix2`, … */
export const numbered = (prefix: string, count: number, from = 1): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${from + index}`);
