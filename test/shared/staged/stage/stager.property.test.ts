import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RedeliverError } from '../../../../shared/base/errors.ts';
import { MAX_SEGMENTS_PER_COMMIT } from '../../../../shared/staged/ports.ts';
import { MAX_COMMITS } from '../../../../shared/staged/stage/stager.ts';
import { cell, envelopeOf, rowEntry } from '../../../support/envelopes.ts';
import { seededRandom } from '../../../support/seeded-random.ts';
import { stagingHarness } from '../../../support/staging-harness.ts';

const MAX_SEGMENT_BYTES = 2000;
const MESSAGES = 40;

interface Schedule {
  readonly seed: number;
  /** Share of store calls that go wrong, before or after they are done. */
  readonly failureShare: number;
  /** Share of invocations that end early. */
  readonly aborts: number;
  readonly longestCallMillis: number;
}

interface Message {
  readonly identities: readonly string[];
  outcome: 'stored' | 'told' | undefined;
  settlements: number;
}

/** Runs one schedule to its end. */
async function run({ seed, failureShare, aborts, longestCallMillis }: Schedule) {
  const random = seededRandom(seed);
  const harness = stagingHarness({ seed, maxSegmentBytes: MAX_SEGMENT_BYTES });
  const { clock, stager, store } = harness;
  store.fault = () => {
    const drawn = random();
    if (drawn < failureShare / 2) return 'error-before';
    if (drawn < failureShare) return 'error-after';
    return { delayMillis: Math.floor(random() * longestCallMillis) };
  };
  let next = 0;
  const messages: Message[] = [];
  for (let index = 0; index < MESSAGES; index += 1) {
    const envelopes = Array.from({ length: 1 + Math.floor(random() * 6) }, () =>
      envelopeOf((next += 1), rowEntry(`k${next % 5}`, cell('v'.repeat(Math.floor(random() ** 3 * 4000))))),
    );
    const message: Message = {
      identities: envelopes.map(({ identity }) => identity),
      outcome: undefined,
      settlements: 0,
    };
    messages.push(message);
    const invocation = new AbortController();
    if (random() < aborts) {
      clock.after(random() * 100, () => {
        invocation.abort(new Error('time is up'));
      });
    }
    const settle = (outcome: Message['outcome']): void => {
      message.outcome = outcome;
      message.settlements += 1;
    };
    stager.stage(envelopes, invocation.signal).then(
      () => {
        settle('stored');
      },
      (error: unknown) => {
        if (error instanceof RedeliverError) settle('told');
      },
    );
    await clock.advance(Math.floor(random() * 20));
  }
  await clock.advance(120_000);
  return { ...harness, messages, stored: await harness.storedIdentities() };
}

test('every acknowledged envelope is in exactly one stored segment, within the bounds of segments and commits', async () => {
  const schedules = fc.record({
    seed: fc.integer({ min: 0, max: 2 ** 31 }),
    failureShare: fc.constantFrom(0, 0.2, 0.6),
    aborts: fc.constantFrom(0, 0.3, 1),
    longestCallMillis: fc.constantFrom(1, 30, 300),
  });
  await fc.assert(
    fc.asyncProperty(schedules, async (schedule) => {
      const { messages, stored, attempts, mostAtOnce, clock, store } = await run(schedule);
      const places = new Map<string, number>();
      for (const identity of stored.flat()) places.set(identity, (places.get(identity) ?? 0) + 1);
      for (const { identities, outcome, settlements } of messages) {
        expect(settlements).toBe(1);
        if (outcome === 'stored') for (const identity of identities) expect(places.get(identity)).toBe(1);
      }
      if (schedule.aborts === 0) expect(messages.every(({ outcome }) => outcome === 'stored')).toBe(true);
      expect(Math.max(...places.values(), 0)).toBeLessThanOrEqual(1);

      expect(mostAtOnce()).toBeLessThanOrEqual(MAX_COMMITS);
      const contents = new Map<string, Buffer>();
      for (const segments of attempts) {
        expect(segments.length).toBeLessThanOrEqual(MAX_SEGMENTS_PER_COMMIT);
        for (const { id, envelopes, payload } of segments) {
          if (envelopes > 1) expect(payload.length).toBeLessThanOrEqual(MAX_SEGMENT_BYTES);
          expect(contents.get(id) ?? payload).toEqual(payload);
          contents.set(id, payload);
        }
      }
      expect(store.segments.reduce((sum, { envelopes }) => sum + envelopes, 0)).toBe(stored.flat().length);
      expect(clock.pending).toBe(0);
    }),
    { numRuns: 60, seed: 20261130 },
  );
});

test('the schedules do go wrong: there are retries, abandoned messages, and segments with several envelopes', async () => {
  const { messages, attempts, metrics } = await run({ seed: 7, failureShare: 0.6, aborts: 0.5, longestCallMillis: 30 });
  const outcomes = new Set(messages.map(({ outcome }) => outcome));
  expect(outcomes).toEqual(new Set(['stored', 'told']));
  expect(metrics.snapshot().counters.stagingRetries).toBeGreaterThan(5);
  expect(attempts.some((segments) => segments.some(({ envelopes }) => envelopes > 1))).toBe(true);
});
