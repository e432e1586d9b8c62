import { describe, expect, test } from 'vitest';
import { RedeliverError } from '../../../../shared/base/errors.ts';
import { numberOf } from '../../../../shared/staged/segment-id.ts';
import type { Envelope } from '../../../../shared/staged/envelope/envelope.ts';
import { MAX_SEGMENTS_PER_COMMIT } from '../../../../shared/staged/ports.ts';
import { MAX_COMMITS, MAX_CONCURRENT_COMMITS } from '../../../../shared/staged/stage/stager.ts';
import { StoreError } from '../../../../shared/model/store.ts';
import { cell, envelopeOf, identityNumber, rowEntry } from '../../../support/envelopes.ts';
import { stagingHarness, type StagingHarness } from '../../../support/staging-harness.ts';

const envelope = (number: number, bytes = 1): Envelope => envelopeOf(number, rowEntry('k', cell('v'.repeat(bytes))));

const forEver = (): AbortSignal => new AbortController().signal;

/** Stages one envelope for each number, each as a message of its own, and notes how it ends. */
function stageEach({ stager }: StagingHarness, numbers: readonly number[], bytes = 1, signal = forEver()) {
  const outcomes: (string | undefined)[] = numbers.map(() => undefined);
  for (const [index, number] of numbers.entries()) {
    stager.stage([envelope(number, bytes)], signal).then(
      () => {
        outcomes[index] = 'stored';
      },
      (error: unknown) => {
        outcomes[index] = error instanceof RedeliverError ? error.reason : String(error);
      },
    );
  }
  return outcomes;
}

const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, index) => from + index);

test('a lone envelope is stored at once, and its message told only then', async () => {
  const harness = stagingHarness();
  harness.store.fault = () => ({ delayMillis: 30 });
  const outcomes = stageEach(harness, [1]);
  await harness.clock.advance(29);
  expect(outcomes).toEqual([undefined]);
  await harness.clock.advance(1);
  expect(outcomes).toEqual(['stored']);
  expect(await harness.storedIdentities()).toEqual([[identityNumber(1)]]);
  expect(harness.metrics.snapshot()).toMatchObject({
    counters: { segmentsStaged: 1, envelopesStaged: 1 },
    distributions: { stagingLatency: { count: 1, sum: 30 } },
  });
  expect(harness.clock.pending).toBe(0);
});

test('a message without envelopes needs no store', async () => {
  const { stager, attempts } = stagingHarness();
  await stager.stage([], forEver());
  expect(attempts).toEqual([]);
});

test('what arrives together is one segment', async () => {
  const harness = stagingHarness();
  stageEach(harness, range(1, 500));
  await harness.clock.advance(0);
  expect(harness.attempts.map((segments) => segments.map(({ envelopes }) => envelopes))).toEqual([[500]]);
});

test('what arrives while commits are in flight gathers until one returns', async () => {
  const harness = stagingHarness();
  harness.store.fault = ({ number }) => ({ delayMillis: 10 * number });
  for (const number of range(1, MAX_CONCURRENT_COMMITS)) {
    stageEach(harness, [number]);
    await harness.clock.advance(0);
  }
  const late = stageEach(harness, range(100, 50));
  await harness.clock.advance(9);
  expect(harness.attempts).toHaveLength(MAX_CONCURRENT_COMMITS);
  await harness.clock.advance(1);
  expect(harness.attempts.at(-1)).toMatchObject([{ envelopes: 50 }]);
  await harness.clock.advance(60);
  expect(new Set(late)).toEqual(new Set(['stored']));
});

test('a full commit does not wait for the others, up to twice as many', async () => {
  const harness = stagingHarness({ maxSegmentBytes: 1000 });
  harness.store.fault = () => ({ delayMillis: 10 });
  for (const number of range(1, MAX_CONCURRENT_COMMITS)) {
    stageEach(harness, [number]);
    await harness.clock.advance(0);
  }
  // Each fills a segment of its own.
  stageEach(harness, range(100, 100), 900);
  await harness.clock.advance(0);
  expect(harness.attempts).toHaveLength(MAX_COMMITS);
  expect(harness.attempts.slice(MAX_CONCURRENT_COMMITS).map(({ length }) => length)).toEqual(
    range(0, MAX_COMMITS - MAX_CONCURRENT_COMMITS).map(() => MAX_SEGMENTS_PER_COMMIT),
  );
  await harness.clock.advance(200);
  expect(harness.mostAtOnce()).toBe(MAX_COMMITS);
  expect((await harness.storedIdentities()).flat()).toHaveLength(104);
});

test('a message whose envelopes need several commits is told once all are stored', async () => {
  const harness = stagingHarness({ maxSegmentBytes: 1000 });
  harness.store.fault = ({ number }) => ({ delayMillis: number * 10 });
  const stored = harness.stager.stage(
    range(1, 10).map((number) => envelope(number, 900)),
    forEver(),
  );
  let isStored = false;
  const told = stored.then(() => {
    isStored = true;
  });
  await harness.clock.advance(29);
  expect(isStored).toBe(false);
  await harness.clock.advance(1);
  await told;
});

test('an envelope larger than a segment has one of its own', async () => {
  const harness = stagingHarness({ maxSegmentBytes: 1000 });
  const outcomes = [...stageEach(harness, [1]), ...stageEach(harness, [2], 5000), ...stageEach(harness, [3])];
  await harness.clock.advance(0);
  expect(outcomes).toHaveLength(3);
  expect(await harness.storedIdentities()).toEqual([1, 2, 3].map((number) => [identityNumber(number)]));
});

describe('a commit that fails', () => {
  test.each(['error-before', 'error-after'] as const)('in passing (%s) is sent again as it was', async (fault) => {
    const harness = stagingHarness();
    harness.store.fault = ({ number }) => (number === 1 ? fault : undefined);
    const outcomes = stageEach(harness, [1, 2]);
    await harness.clock.advance(1000);
    expect(outcomes).toEqual(['stored', 'stored']);
    expect(harness.attempts).toHaveLength(2);
    expect(harness.attempts[1]).toEqual(harness.attempts[0]);
    expect(await harness.storedIdentities()).toEqual([[identityNumber(1), identityNumber(2)]]);
    expect(harness.metrics.snapshot().counters).toMatchObject({ stagingRetries: 1, envelopesStaged: 2 });
  });

  test('without a word is given up after 15 s and sent again', async () => {
    const harness = stagingHarness();
    harness.store.fault = ({ number }) => (number === 1 ? { delayMillis: 600_000 } : undefined);
    const outcomes = stageEach(harness, [1]);
    await harness.clock.advance(14_999);
    expect(outcomes).toEqual([undefined]);
    await harness.clock.advance(101);
    expect(outcomes).toEqual(['stored']);
    expect(harness.clock.pending).toBe(0);
  });

  test('for good is told to every message of it, and the next is another', async () => {
    const harness = stagingHarness();
    const denied = new StoreError('store 1 segments', 'PERMISSION_DENIED', 'no');
    harness.refuseWith(denied);
    const refused = stageEach(harness, [1, 2]);
    await harness.clock.advance(0);
    expect(refused).toEqual(['staging', 'staging']);
    expect(harness.lines.join()).toContain('PERMISSION_DENIED');
    harness.refuseWith(undefined);
    const next = stageEach(harness, [3]);
    await harness.clock.advance(0);
    expect(next).toEqual(['stored']);
  });
});

describe('an invocation that ends', () => {
  test('is told at once, with what kept it', async () => {
    const harness = stagingHarness();
    harness.store.fault = () => 'error-before';
    const invocation = new AbortController();
    const staging = harness.stager.stage([envelope(1)], invocation.signal);
    const told = expect(staging).rejects.toMatchObject({
      reason: 'transient',
      message: expect.stringMatching(/^time is up; could not stage .*UNAVAILABLE/) as string,
    });
    await harness.clock.advance(100);
    invocation.abort(new Error('time is up'));
    await told;
    const { length } = harness.attempts;
    await harness.clock.advance(60_000);
    // Nobody waits: nothing is tried again.
    expect(harness.attempts).toHaveLength(length);
    expect(harness.clock.pending).toBe(0);
  });

  test('before its turn is not stored at all', async () => {
    const harness = stagingHarness();
    harness.store.fault = () => ({ delayMillis: 10 });
    for (const number of range(1, MAX_CONCURRENT_COMMITS)) {
      stageEach(harness, [number]);
      await harness.clock.advance(0);
    }
    const invocation = new AbortController();
    const early = stageEach(harness, [10], 1, invocation.signal);
    const other = stageEach(harness, [11]);
    await harness.clock.advance(0);
    invocation.abort(new Error('time is up'));
    await harness.clock.advance(50);
    expect([...early, ...other]).toEqual(['deadline', 'stored']);
    expect((await harness.storedIdentities()).flat()).not.toContain(identityNumber(10));
  });

  test('does not end the commit that others wait for', async () => {
    const harness = stagingHarness();
    harness.store.fault = () => ({ delayMillis: 10 });
    const invocation = new AbortController();
    const leaving = stageEach(harness, [1], 1, invocation.signal);
    const staying = stageEach(harness, [2]);
    await harness.clock.advance(5);
    invocation.abort(new Error('time is up'));
    await harness.clock.advance(5);
    expect([...leaving, ...staying]).toEqual(['deadline', 'stored']);
  });

  test('before it began stages nothing', async () => {
    const harness = stagingHarness();
    await expect(harness.stager.stage([envelope(1)], AbortSignal.abort(new Error('late')))).rejects.toMatchObject({
      reason: 'deadline',
    });
    expect(harness.attempts).toEqual([]);
    expect(harness.clock.pending).toBe(0);
  });
});

describe('what waits for company', () => {
  const stageOne = (harness: ReturnType<typeof stagingHarness>, number: number): Promise<void> =>
    harness.stager.stage([envelopeOf(number, rowEntry(`row-${number}`))], new AbortController().signal);

  test('leaves after the linger, together, however little it is', async () => {
    const harness = stagingHarness({ lingerMillis: 100 });
    const first = stageOne(harness, 1);
    await harness.clock.advance(60);
    const second = stageOne(harness, 2);
    await harness.clock.advance(39);
    expect(harness.attempts).toHaveLength(0);
    await harness.clock.advance(1);
    await Promise.all([first, second]);
    expect(harness.attempts.map((segments) => segments.map(({ envelopes }) => envelopes))).toEqual([[2]]);
  });

  test('leaves at once when enough messages wait', async () => {
    const harness = stagingHarness({ lingerMillis: 100, maxWaitingMessages: 3 });
    const staged = [1, 2, 3].map((number) => stageOne(harness, number));
    await harness.clock.advance(0);
    await Promise.all(staged);
    expect(harness.attempts).toHaveLength(1);
    expect(harness.clock.pending).toBe(0);
  });

  test('leaves at once when a segment is full, and what is over it waits on', async () => {
    const harness = stagingHarness({ lingerMillis: 100, maxSegmentBytes: 400 });
    const staged = [1, 2, 3].map((number) => stageOne(harness, number));
    await harness.clock.advance(1);
    expect(harness.attempts.flat().length).toBeGreaterThan(0);
    expect(harness.attempts.flat().reduce((sum, { envelopes }) => sum + envelopes, 0)).toBeLessThan(3);
    await harness.clock.advance(100);
    await Promise.all(staged);
  });

  test('leaves at once when the instance ends', async () => {
    const harness = stagingHarness({ lingerMillis: 100 });
    const staged = stageOne(harness, 1);
    harness.stager.drain();
    await harness.clock.advance(0);
    await staged;
    expect(harness.clock.pending).toBe(0);
  });

  test.each([
    [200, 15],
    [400, 20],
    [1000, 20],
  ])('shares a segment: %i messages a second, a commit of %i ms', async (perSecond, latencyMillis) => {
    const harness = stagingHarness({ lingerMillis: 100 });
    harness.store.fault = () => ({ delayMillis: latencyMillis });
    const SECONDS = 5;
    for (let number = 0; number < perSecond * SECONDS; number += 1) {
      harness.clock.after((number * 1000) / perSecond, () => {
        stageOne(harness, number + 1).catch(() => undefined);
      });
    }
    await harness.clock.advance(SECONDS * 1000 + 500);
    const segments = harness.attempts.flat().length;
    // Ten gatherings a second, or one for each forty messages.
    expect(segments).toBeLessThanOrEqual(SECONDS * Math.max(10, perSecond / 40) + 2);
    expect(harness.store.segments).toHaveLength(segments);
  });
});

test('a segment bears the number after the last completed checkpoint, and keeps it for all of its attempts', async () => {
  const harness = stagingHarness();
  harness.complete(6);
  harness.refuseWith(new StoreError('stage', 'UNAVAILABLE', 'away'));
  const staged = harness.stager.stage([envelopeOf(1, rowEntry('row'))], new AbortController().signal);
  await harness.clock.advance(200);
  harness.complete(9);
  await harness.clock.advance(200);
  harness.refuseWith(undefined);
  await harness.clock.advance(5000);
  await staged;
  const ids = new Set(harness.attempts.flat().map(({ id }) => id));
  expect([...ids].map(numberOf)).toEqual([7]);
});
