import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideCheckpoint, type TickView } from '../../../../shared/staged/checkpoint/decide-checkpoint.ts';
import { dispatchLease, packWork, ranOut } from '../../../../shared/staged/checkpoint/dispatch.ts';
import type { CheckpointState, SegmentHead } from '../../../../shared/staged/state.ts';
import type { Versioned } from '../../../../shared/model/store.ts';
import { OPTIONS } from '../../../support/tick-world.ts';

const NOW = Date.UTC(2026, 0, 1);

/** Printed by fast-check with a counterexample; pinned so that a run repeats. */
const RUN = { seed: 20260101, numRuns: 300 };

const amounts = { envelopes: fc.integer({ min: 1, max: 5_000 }), bytes: fc.integer({ min: 1, max: 12_000_000 }) };

const stagedHeads = (maxLength: number): fc.Arbitrary<Versioned<SegmentHead>[]> =>
  fc.array(fc.record({ ...amounts, age: fc.integer({ min: 0, max: 60_000 }) }), { maxLength }).map((heads) =>
    heads.map(({ envelopes, bytes, age }, index) => ({
      version: `staged-${index}`,
      value: { id: `s${index}`, state: 'staged', envelopes, bytes, parts: 0, stagedAt: NOW - age },
    })),
  );

const ownedHeads: fc.Arbitrary<Versioned<SegmentHead>[]> = fc
  .array(
    fc.record({
      ...amounts,
      checkpoint: fc.integer({ min: 1, max: 3 }),
      endsIn: fc.integer({ min: -60_000, max: 60_000 }),
    }),
    { maxLength: 250 },
  )
  .map((heads) =>
    heads.map(({ envelopes, bytes, checkpoint, endsIn }, index) => ({
      version: `owned-${index}`,
      value: {
        ...{ id: `o${index}`, state: 'owned', checkpoint, envelopes, bytes, parts: 0, stagedAt: NOW - index },
        lease: { holder: '', expiresAt: NOW + endsIn, attempts: index % 5 },
      },
    })),
  );

const openCheckpoints: fc.Arbitrary<Versioned<CheckpointState>[]> = fc
  .array(fc.record({ ...amounts, remaining: fc.integer({ min: 0, max: 2 }) }), { maxLength: 100 })
  .map((checkpoints) =>
    checkpoints.map(({ envelopes, bytes, remaining }, index) => ({
      version: `checkpoint-${index}`,
      value: {
        ...{ number: index + 1, state: 'completed', segments: 2, envelopes, bytes },
        ...{ remainingSegments: remaining, remainingEnvelopes: remaining * 3, remainingBytes: remaining * 50 },
        ...{ oldestStagedAt: NOW - 90_000, completedAt: NOW - 60_000 },
        ...(remaining < 2 && { lastFinishedAt: NOW - 5_000 }),
      },
    })),
  );

const views: fc.Arbitrary<TickView> = fc
  .record({
    staged: stagedHeads(300),
    more: fc.nat(500),
    owned: ownedHeads,
    open: openCheckpoints,
    isDue: fc.boolean(),
  })
  .map(({ staged, more, owned, open, isDue }) => ({
    name: 'orders',
    pipeline: {
      ...{ lastCheckpoint: 100, lastCompletedAt: NOW - 5_000, countedAt: NOW - 10_000 },
      backlog: { segments: 0, envelopes: 0, bytes: 0 },
    },
    isDue,
    staged,
    stagedInAll: { segments: staged.length + more, envelopes: staged.length * 10, bytes: staged.length * 100 },
    owned,
    open,
  }));

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

test('a checkpoint takes every segment that was read, or there is none', () => {
  fc.assert(
    fc.property(views, (view) => {
      const { changes, pipeline } = decideCheckpoint(view, OPTIONS, NOW);
      const { checkpoint, own = [] } = changes;
      if (!checkpoint) {
        expect(own).toEqual([]);
        expect(pipeline).toMatchObject({ lastCheckpoint: 100, lastCompletedAt: NOW - 5_000 });
        return;
      }
      expect(own.map(({ id, version }) => [id, version])).toEqual(
        view.staged.map(({ value, version }) => [value.id, version]),
      );
      expect(own.every(({ checkpoint: number }) => number === 101)).toBe(true);
      expect(checkpoint).toMatchObject({
        number: 101,
        segments: own.length,
        remainingSegments: own.length,
        envelopes: sum(view.staged.map(({ value }) => value.envelopes)),
        remainingBytes: sum(view.staged.map(({ value }) => value.bytes)),
        oldestStagedAt: Math.min(...view.staged.map(({ value }) => value.stagedAt)),
      });
      expect(pipeline).toMatchObject({ lastCheckpoint: 101, lastCompletedAt: NOW });
    }),
    RUN,
  );
});

test('there is one exactly when something is staged, there is room, and it is due', () => {
  fc.assert(
    fc.property(views, (view) => {
      const { changes } = decideCheckpoint(view, OPTIONS, NOW);
      const isExpected = view.staged.length > 0 && view.open.length < 100 && view.isDue;
      expect(changes.checkpoint !== undefined).toBe(isExpected);
    }),
    RUN,
  );
});

test('what is sent is what was given to the checkpoint and what ran out, each once, within the bounds of a message', () => {
  fc.assert(
    fc.property(views, (view) => {
      const { changes, messages } = decideCheckpoint(view, OPTIONS, NOW);
      const ids = [...(changes.own ?? []), ...(changes.redispatch ?? [])].map(({ id }) => id);
      expect(messages.flatMap(({ segments }) => segments).toSorted()).toEqual(ids.toSorted());
      const heads = new Map([...view.staged, ...view.owned].map(({ value }) => [value.id, value]));
      for (const { segments, checkpoint } of messages) {
        expect(segments.length).toBeLessThanOrEqual(8);
        const bytes = sum(segments.map((id) => heads.get(id)?.bytes ?? 0));
        if (segments.length > 1) expect(bytes).toBeLessThanOrEqual(8 * 1024 * 1024);
        for (const id of segments) expect(heads.get(id)?.checkpoint ?? 101).toBe(checkpoint);
      }
    }),
    RUN,
  );
});

test('only what ran out is sent again, one attempt further, and the rest is left for the next commit', () => {
  fc.assert(
    fc.property(views, (view) => {
      const { changes, hasMore } = decideCheckpoint(view, OPTIONS, NOW);
      const lost = ranOut(view.owned, NOW);
      const again = changes.redispatch ?? [];
      expect(again).toHaveLength(Math.min(lost.length, 100));
      for (const { id, lease } of again) {
        const before = view.owned.find(({ value }) => value.id === id)?.value.lease;
        expect(before?.expiresAt).toBeLessThan(NOW);
        expect(lease).toEqual(dispatchLease((before?.attempts ?? 0) + 1, NOW));
      }
      if (lost.length > 100) expect(hasMore).toBe(true);
    }),
    RUN,
  );
});

test('a checkpoint is marked exactly when nothing of it remains, at the time of its last answer', () => {
  fc.assert(
    fc.property(views, (view) => {
      const { changes } = decideCheckpoint(view, OPTIONS, NOW);
      const finished = view.open.filter(({ value }) => value.remainingSegments === 0).slice(0, 90);
      expect(changes.markCommitted).toEqual(
        finished.map(({ value, version }) => ({ number: value.number, version, committedAt: NOW - 5_000 })),
      );
    }),
    RUN,
  );
});

test('a commit stays below 500 writes, and its backlog is what is staged and what remains', () => {
  fc.assert(
    fc.property(views, (view) => {
      const { changes, pipeline } = decideCheckpoint(view, OPTIONS, NOW);
      const { own = [], redispatch = [], markCommitted = [] } = changes;
      expect(2 + own.length + redispatch.length + markCommitted.length).toBeLessThanOrEqual(500);
      expect(pipeline.backlog.segments).toBe(
        view.stagedInAll.segments + sum(view.open.map(({ value }) => value.remainingSegments)),
      );
      expect(pipeline.countedAt).toBe(NOW);
    }),
    RUN,
  );
});

test('work goes out in the order in which it was staged, and a large segment alone', () => {
  const head = (id: string, stagedAt: number, bytes = 1): SegmentHead => ({
    ...{ id, state: 'owned', checkpoint: 4, envelopes: 1, bytes, parts: 0, stagedAt },
  });
  const heads = [head('c', 3), head('a', 1), head('large', 2, 9_900_000), head('b', 2)];
  expect(packWork('orders', heads)).toEqual([
    { pipeline: 'orders', checkpoint: 4, segments: ['a'] },
    { pipeline: 'orders', checkpoint: 4, segments: ['large'] },
    { pipeline: 'orders', checkpoint: 4, segments: ['b', 'c'] },
  ]);
});

test.each([
  [0, 30_000],
  [1, 60_000],
  [4, 480_000],
  [5, 600_000],
  [500, 600_000],
])('after attempt %i the work is given %i ms', (attempts, millis) => {
  expect(dispatchLease(attempts, NOW)).toEqual({ holder: '', expiresAt: NOW + millis, attempts });
});
