import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type SegmentHead, scaled } from '../../../../shared/staged/state.ts';
import { MAX_WORK, workOfHeads, workOfNumber, workOfRests } from '../../../../shared/staged/checkpoint/work.ts';
import { isInRange, LANES, segmentId } from '../../../../shared/staged/segment-id.ts';

const random = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => value.toString(16).padStart(16, '0'));
const counts = fc.array(fc.nat(5000), { minLength: LANES, maxLength: LANES });
const sample = fc.record({
  segments: fc.integer({ min: 1, max: 30 }),
  envelopes: fc.nat(30_000),
  bytes: fc.nat(25_000_000),
});

test('every id of a number is in exactly one message, also one that was not there when it was counted', () => {
  fc.assert(
    fc.property(counts, sample, fc.nat(LANES - 1), random, (each, some, lane, digits) => {
      const work = workOfNumber('orders', 7, each, some);
      const id = segmentId(lane, 7, digits);
      expect(work.flatMap(({ ranges }) => ranges.filter((range) => isInRange(id, range)))).toHaveLength(1);
    }),
  );
});

test('messages are as many as the weight asks for, give or take the shares of each lane', () => {
  fc.assert(
    fc.property(counts, sample, (each, some) => {
      const all = scaled(
        some,
        each.reduce((sum, count) => sum + count, 0),
      );
      const shares = Math.max(
        all.segments / MAX_WORK.segments,
        all.envelopes / MAX_WORK.envelopes,
        all.bytes / MAX_WORK.bytes,
      );
      const { length } = workOfNumber('orders', 7, each, some);
      expect(length).toBeGreaterThanOrEqual(Math.min(Math.floor(shares), LANES));
      expect(length).toBeLessThanOrEqual(2 * Math.ceil(shares) + LANES);
    }),
  );
});

test('a number of a few segments in each lane is one message', () => {
  const [only, ...others] = workOfNumber('orders', 7, [1, 0, 2, 0, 0, 1, 0, 0], {
    segments: 4,
    envelopes: 8,
    bytes: 4000,
  });
  expect(others).toEqual([]);
  expect(only).toMatchObject({ pipeline: 'orders', segments: [], rests: [], segmentBytes: 1000 });
  expect(only?.ranges).toHaveLength(LANES);
});

test('single segments keep to the bounds of a message, and one that is larger goes alone', () => {
  const heads = fc.array(
    fc.record({ envelopes: fc.integer({ min: 1, max: 1500 }), bytes: fc.integer({ min: 1, max: 9_000_000 }) }),
    { maxLength: 300 },
  );
  fc.assert(
    fc.property(heads, (weights) => {
      const all = weights.map((weight, index): SegmentHead => ({
        id: `s${index}`,
        number: 1,
        parts: 0,
        stagedAt: 0,
        createdAt: 0,
        ...weight,
      }));
      const work = workOfHeads('orders', all);
      expect(work.flatMap(({ segments }) => segments)).toEqual(all.map(({ id }) => id));
      for (const { segments } of work) {
        const own = all.filter(({ id }) => segments.includes(id));
        if (own.length === 1) continue;
        expect(own.length).toBeLessThanOrEqual(100);
        expect(own.reduce((sum, { envelopes }) => sum + envelopes, 0)).toBeLessThanOrEqual(MAX_WORK.envelopes);
        expect(own.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(MAX_WORK.bytes);
      }
    }),
    { numRuns: 50 },
  );
});

test('rests go out eight at a time', () => {
  const ids = Array.from({ length: 17 }, (_, index) => `r${index}`);
  expect(workOfRests('orders', ids).map(({ rests }) => rests.length)).toEqual([8, 8, 1]);
});
