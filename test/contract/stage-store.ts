import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type CommittingStore,
  type CoordinatorStore,
  MAX_SEGMENT_BYTES,
  type NewSegment,
  type StagingStore,
  type StatusStore,
} from '../../shared/staged/ports.ts';
import type { CheckpointState, PipelineState, SegmentHead } from '../../shared/staged/state.ts';
import type { Versioned } from '../../shared/model/store.ts';

/** All views of one staged pipeline's documents. */
export interface StageStores {
  readonly staging: StagingStore;
  readonly coordinator: CoordinatorStore;
  readonly committing: CommittingStore;
  readonly status: StatusStore;
}

export interface StageStoreBackend {
  /** A pipeline that nothing is known of yet. */
  fresh(): StageStores;
  close(): Promise<void>;
}

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0, 123);
const { signal } = new AbortController();
const ALL = 1000;

const pipelineAt = (change: Partial<PipelineState> = {}): PipelineState => ({
  lease: { owner: 'coordinator', epoch: 1, expiresAt: NOW + 25_000 },
  lastCheckpoint: 0,
  lastCompletedAt: 0,
  backlog: { segments: 0, envelopes: 0, bytes: 0 },
  countedAt: NOW,
  ...change,
});

const segment = (id: string, change: Partial<NewSegment> = {}): NewSegment => ({
  id,
  envelopes: 3,
  payload: Buffer.from(`payload of ${id} \u0000\u00ff`, 'latin1'),
  stagedAt: NOW,
  ...change,
});

const checkpointOf = (number: number, heads: readonly SegmentHead[]): CheckpointState => {
  const envelopes = heads.reduce((sum, head) => sum + head.envelopes, 0);
  const bytes = heads.reduce((sum, head) => sum + head.bytes, 0);
  return {
    number,
    state: 'completed',
    segments: heads.length,
    envelopes,
    bytes,
    remainingSegments: heads.length,
    remainingEnvelopes: envelopes,
    remainingBytes: bytes,
    oldestStagedAt: NOW,
    completedAt: NOW + 1000,
  };
};

const LEASE = { holder: '', expiresAt: NOW + 30_000, attempts: 0 };

/** Every staged segment becomes the next checkpoint's, as a tick does it. */
async function complete({ coordinator }: StageStores, number = 1): Promise<readonly Versioned<SegmentHead>[]> {
  const staged = await coordinator.readStaged(ALL, signal);
  const before = await coordinator.readPipeline(signal);
  const result = await coordinator.commit(
    {
      pipeline: { version: before?.version, value: pipelineAt({ lastCheckpoint: number, countedAt: NOW + number }) },
      changes: {
        checkpoint: checkpointOf(
          number,
          staged.map(({ value }) => value),
        ),
        own: staged.map(({ value: { id }, version }) => ({ id, version, checkpoint: number, lease: LEASE })),
      },
    },
    signal,
  );
  expect(result).toBe('committed');
  return coordinator.readOwned(number, ALL, signal);
}

const idsOf = (found: readonly Versioned<SegmentHead>[]): string[] => found.map(({ value }) => value.id).toSorted();

/** What every implementation of the ports keeps. */
export function stageStoreContract(title: string, open: () => Promise<StageStoreBackend>): void {
  describe(title, () => {
    let backend: StageStoreBackend;
    let stores: StageStores;
    beforeAll(async () => {
      backend = await open();
    });
    afterAll(() => backend.close());
    beforeEach(() => {
      stores = backend.fresh();
    });

    describe('of a pipeline that nothing is known of', () => {
      test('there is nothing to read', async () => {
        expect(await stores.staging.readPipeline(signal)).toBeUndefined();
        expect(await stores.coordinator.readPipeline(signal)).toBeUndefined();
        expect(await stores.coordinator.readStaged(ALL, signal)).toEqual([]);
        expect(await stores.coordinator.countStagedSegments(signal)).toBe(0);
        expect(await stores.coordinator.readOpenCheckpoints(ALL, signal)).toEqual([]);
        expect(await stores.coordinator.readOwned(1, ALL, signal)).toEqual([]);
        expect(await stores.committing.readSegments(['none'], signal)).toEqual([]);
        expect(await stores.status.readCheckpoints(ALL, signal)).toEqual([]);
        expect(await stores.status.readProblems(ALL, signal)).toEqual([]);
        expect(await stores.status.countStaged(signal)).toEqual({ segments: 0, envelopes: 0, bytes: 0 });
      });
    });

    describe('staging', () => {
      test('a segment is found as it was stored, without its payload', async () => {
        const stored = segment('a');
        await stores.staging.stage([stored], signal);
        const [found] = await stores.coordinator.readStaged(ALL, signal);
        expect(found?.value).toEqual({
          id: 'a',
          state: 'staged',
          envelopes: 3,
          bytes: stored.payload.length,
          parts: 0,
          stagedAt: NOW,
        });
      });

      test('four segments of the full size are stored at once, and their payloads are what they were', async () => {
        const full = ['a', 'b', 'c', 'd'].map((id) =>
          segment(id, { payload: Buffer.alloc(MAX_SEGMENT_BYTES, id), envelopes: 850 }),
        );
        await stores.staging.stage(full, signal);
        expect(await stores.coordinator.countStagedSegments(signal)).toBe(4);
        const read = await stores.committing.readSegments(['a', 'b', 'c', 'd'], signal);
        for (const { id, payload } of full) {
          expect(read.find(({ head }) => head.id === id)?.payload.equals(payload)).toBe(true);
        }
        expect(await stores.status.countStaged(signal)).toEqual({
          segments: 4,
          envelopes: 3400,
          bytes: 4 * MAX_SEGMENT_BYTES,
        });
      });

      test('a payload that no document can hold is stored whole', async () => {
        const payload = Buffer.alloc(9_900_000, 'large ');
        await stores.staging.stage([segment('large', { payload, envelopes: 1 }), segment('small')], signal);
        const read = await stores.committing.readSegments(['large', 'small'], signal);
        const large = read.find(({ head }) => head.id === 'large');
        expect(large?.head).toMatchObject({ bytes: 9_900_000, parts: 11, envelopes: 1 });
        expect(large?.payload.equals(payload)).toBe(true);
        expect(read.find(({ head }) => head.id === 'small')?.payload).toEqual(segment('small').payload);
      });

      test('what is stored already is success, and what is not is stored, in one call', async () => {
        const large = segment('large', { payload: Buffer.alloc(2_000_000, 1) });
        await stores.staging.stage([segment('a'), large], signal);
        const [before] = await stores.coordinator.readStaged(1, signal);
        await stores.staging.stage([segment('a'), segment('b'), large], signal);
        const found = await stores.coordinator.readStaged(ALL, signal);
        expect(idsOf(found)).toEqual(['a', 'b', 'large']);
        expect(found.find(({ value }) => value.id === before?.value.id)?.version).toBe(before?.version);
        const [read] = await stores.committing.readSegments(['large'], signal);
        expect(read?.payload.equals(large.payload)).toBe(true);
      });

      test('no more is read than was asked for', async () => {
        await stores.staging.stage([segment('a'), segment('b'), segment('c')], signal);
        expect(await stores.coordinator.readStaged(2, signal)).toHaveLength(2);
      });
    });

    describe("the coordinator's commit", () => {
      test('makes the pipeline, and both views read it', async () => {
        const value = pipelineAt({ backlog: { segments: 1, envelopes: 2, bytes: 3 } });
        expect(await stores.coordinator.commit({ pipeline: { version: undefined, value } }, signal)).toBe('committed');
        expect((await stores.coordinator.readPipeline(signal))?.value).toEqual(value);
        expect(await stores.staging.readPipeline(signal)).toEqual(value);
        expect((await stores.status.readPipeline(signal))?.value).toEqual(value);
      });

      test('of two that make the pipeline one wins', async () => {
        const commit = (owner: string): Promise<string> =>
          stores.coordinator.commit(
            {
              pipeline: { version: undefined, value: pipelineAt({ lease: { owner, epoch: 1, expiresAt: NOW } }) },
            },
            signal,
          );
        const results = await Promise.all([commit('one'), commit('other')]);
        expect(results.toSorted()).toEqual(['committed', 'conflict']);
      });

      test('of two that read the same pipeline one wins', async () => {
        await complete(stores);
        const version = (await stores.coordinator.readPipeline(signal))?.version;
        const commit = (owner: string): Promise<string> =>
          stores.coordinator.commit(
            { pipeline: { version, value: pipelineAt({ lease: { owner, epoch: 2, expiresAt: NOW } }) } },
            signal,
          );
        const results = await Promise.all([commit('one'), commit('other')]);
        expect(results.toSorted()).toEqual(['committed', 'conflict']);
      });

      test('gives segments to a checkpoint, which is open until nothing of it remains', async () => {
        await stores.staging.stage([segment('a'), segment('b')], signal);
        const owned = await complete(stores);
        expect(idsOf(owned)).toEqual(['a', 'b']);
        expect(owned[0]?.value).toMatchObject({ state: 'owned', checkpoint: 1, lease: LEASE });
        expect(await stores.coordinator.readStaged(ALL, signal)).toEqual([]);
        const [open] = await stores.coordinator.readOpenCheckpoints(ALL, signal);
        expect(open?.value).toEqual(
          checkpointOf(
            1,
            owned.map(({ value }) => value),
          ),
        );
        expect(await stores.coordinator.readOwned(2, ALL, signal)).toEqual([]);
      });

      test('a segment is given to one checkpoint only, and a commit that comes second changes nothing', async () => {
        await stores.staging.stage([segment('a')], signal);
        const [read] = await stores.coordinator.readStaged(ALL, signal);
        await complete(stores);
        await stores.staging.stage([segment('b')], signal);
        const [fresh] = await stores.coordinator.readStaged(ALL, signal);
        const before = await stores.coordinator.readPipeline(signal);
        const own = [read, fresh].map((each) => ({
          id: each!.value.id,
          version: each!.version,
          checkpoint: 2,
          lease: LEASE,
        }));
        const result = await stores.coordinator.commit(
          {
            pipeline: { version: before?.version, value: pipelineAt({ lastCheckpoint: 2, countedAt: NOW + 9 }) },
            changes: { checkpoint: checkpointOf(2, []), own },
          },
          signal,
        );
        expect(result).toBe('conflict');
        expect(await stores.coordinator.readPipeline(signal)).toEqual(before);
        expect(idsOf(await stores.coordinator.readStaged(ALL, signal))).toEqual(['b']);
        expect(await stores.status.readCheckpoints(ALL, signal)).toHaveLength(1);
      });

      test('a checkpoint of a number is made once', async () => {
        await complete(stores);
        const before = await stores.coordinator.readPipeline(signal);
        const again = {
          pipeline: { version: before?.version, value: pipelineAt({ countedAt: NOW + 9 }) },
          changes: { checkpoint: checkpointOf(1, []) },
        };
        expect(await stores.coordinator.commit(again, signal)).toBe('conflict');
      });

      test('a segment is sent out again as it was read', async () => {
        await stores.staging.stage([segment('a')], signal);
        const [owned] = await complete(stores);
        const before = await stores.coordinator.readPipeline(signal);
        const lease = { holder: '', expiresAt: NOW + 90_000, attempts: 1 };
        const again = { id: 'a', version: owned!.version, lease };
        const value = pipelineAt({ countedAt: NOW + 5 });
        const commit = { pipeline: { version: before?.version, value }, changes: { redispatch: [again] } };
        expect(await stores.coordinator.commit(commit, signal)).toBe('committed');
        const [after] = await stores.coordinator.readOwned(1, ALL, signal);
        expect(after?.value).toEqual({ ...owned?.value, lease });

        const next = await stores.coordinator.readPipeline(signal);
        const stale = {
          pipeline: { version: next?.version, value: pipelineAt({ countedAt: NOW + 6 }) },
          changes: { redispatch: [again] },
        };
        expect(await stores.coordinator.commit(stale, signal)).toBe('conflict');
      });

      test('a checkpoint is marked committed as it was read, and is open no more', async () => {
        await stores.staging.stage([segment('a')], signal);
        const [owned] = await complete(stores);
        const [stale] = await stores.coordinator.readOpenCheckpoints(ALL, signal);
        await stores.committing.finish([owned!.value], NOW + 4000, signal);
        const [open] = await stores.coordinator.readOpenCheckpoints(ALL, signal);
        const mark = async (version: string, countedAt: number): Promise<string> => {
          const before = await stores.coordinator.readPipeline(signal);
          const pipeline = { version: before?.version, value: pipelineAt({ countedAt }) };
          const markCommitted = [{ number: 1, version, committedAt: NOW + 4000 }];
          return stores.coordinator.commit({ pipeline, changes: { markCommitted } }, signal);
        };
        expect(await mark(stale!.version, NOW + 5)).toBe('conflict');
        expect(await mark(open!.version, NOW + 6)).toBe('committed');
        expect(await stores.coordinator.readOpenCheckpoints(ALL, signal)).toEqual([]);
        const [committed] = await stores.status.readCheckpoints(ALL, signal);
        expect(committed).toEqual({
          ...checkpointOf(1, [owned!.value]),
          state: 'committed',
          remainingSegments: 0,
          remainingEnvelopes: 0,
          remainingBytes: 0,
          lastFinishedAt: NOW + 4000,
          committedAt: NOW + 4000,
        });
      });

      test('open checkpoints come in the order of their numbers, also beyond 9', async () => {
        for (let number = 1; number <= 11; number += 1) await complete(stores, number);
        const open = await stores.coordinator.readOpenCheckpoints(10, signal);
        expect(open.map(({ value }) => value.number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        const last = await stores.status.readCheckpoints(2, signal);
        expect(last.map(({ number }) => number)).toEqual([11, 10]);
      });
    });

    describe('committing', () => {
      test('a lease is taken by one, and renewed by its holder', async () => {
        await stores.staging.stage([segment('a'), segment('b')], signal);
        const owned = await complete(stores);
        const takenBy = (holder: string): Promise<readonly string[] | undefined> =>
          stores.committing.lease(
            owned.map(({ value: { id }, version }) => ({
              id,
              version,
              lease: { holder, expiresAt: NOW + 60_000, attempts: 0 },
            })),
            signal,
          );
        const results = await Promise.all([takenBy('one'), takenBy('other')]);
        const winner = results[0] ? 'one' : 'other';
        const versions = results.find((result) => result !== undefined);
        expect(results.filter((result) => result === undefined)).toHaveLength(1);
        for (const { value } of await stores.coordinator.readOwned(1, ALL, signal)) {
          expect(value.lease?.holder).toBe(winner);
        }
        const lease = { holder: winner, expiresAt: NOW + 90_000, attempts: 0 };
        const renewed = await stores.committing.lease(
          owned.map(({ value: { id } }, index) => ({ id, version: versions![index]!, lease })),
          signal,
        );
        expect(renewed).toHaveLength(2);
        expect(new Set([...renewed!, ...versions!]).size).toBeGreaterThan(1);
      });

      test('a problem is told to people, and stays while the next attempt holds the segment', async () => {
        await stores.staging.stage([segment('a'), segment('b')], signal);
        const owned = await complete(stores);
        const { version } = owned.find(({ value }) => value.id === 'a')!;
        const back = { holder: '', expiresAt: NOW, attempts: 1 };
        const [next] =
          (await stores.committing.lease(
            [{ id: 'a', version, lease: back, problem: 'the family is missing' }],
            signal,
          )) ?? [];
        expect(await stores.status.readProblems(ALL, signal)).toMatchObject([
          { id: 'a', problem: 'the family is missing', lease: back, checkpoint: 1 },
        ]);
        const held = { holder: 'one', expiresAt: NOW + 60_000, attempts: 1 };
        await stores.committing.lease([{ id: 'a', version: next!, lease: held }], signal);
        expect(await stores.status.readProblems(ALL, signal)).toMatchObject([
          { problem: 'the family is missing', lease: held },
        ]);
      });

      test('finished segments are gone, and their checkpoint is counted down by each once', async () => {
        await stores.staging.stage([segment('a'), segment('b'), segment('c', { envelopes: 10 })], signal);
        const owned = await complete(stores);
        const head = (id: string): SegmentHead => owned.find(({ value }) => value.id === id)!.value;
        expect(await stores.committing.finish([head('a'), head('c')], NOW + 3000, signal)).toBe('committed');
        const counted = { remainingSegments: 1, remainingEnvelopes: 3, remainingBytes: head('b').bytes };
        expect((await stores.coordinator.readOpenCheckpoints(ALL, signal))[0]?.value).toMatchObject({
          ...counted,
          lastFinishedAt: NOW + 3000,
        });
        // Another invocation that drained the same: nothing of its commit happens, that of the new segment neither.
        expect(await stores.committing.finish([head('b'), head('c')], NOW + 3500, signal)).toBe('conflict');
        expect((await stores.coordinator.readOpenCheckpoints(ALL, signal))[0]?.value).toMatchObject(counted);
        expect(idsOf(await stores.coordinator.readOwned(1, ALL, signal))).toEqual(['b']);
        expect(await stores.committing.readSegments(['a', 'b', 'c'], signal)).toHaveLength(1);
      });

      test('segments of two checkpoints are finished together', async () => {
        await stores.staging.stage([segment('a')], signal);
        const [first] = await complete(stores, 1);
        await stores.staging.stage([segment('b')], signal);
        const [second] = await complete(stores, 2);
        expect(await stores.committing.finish([first!.value, second!.value], NOW + 1, signal)).toBe('committed');
        const open = await stores.coordinator.readOpenCheckpoints(ALL, signal);
        expect(open.map(({ value }) => value.remainingSegments)).toEqual([0, 0]);
      });

      test('a large segment is finished with its parts', async () => {
        const large = segment('large', { payload: Buffer.alloc(2_000_000, 1) });
        await stores.staging.stage([large], signal);
        const [owned] = await complete(stores);
        expect(await stores.committing.finish([owned!.value], NOW + 1, signal)).toBe('committed');
        // Stored again under its id, as a stager does that never heard of its success: whole, and of the new payload.
        const other = { ...large, payload: Buffer.alloc(2_000_000, 2) };
        await stores.staging.stage([other], signal);
        const [read] = await stores.committing.readSegments(['large'], signal);
        expect(read?.payload.equals(other.payload)).toBe(true);
      });
    });

    test('a call whose signal has ended rejects with the reason, and does nothing', async () => {
      const ended = AbortSignal.abort(new Error('the time is used up'));
      await expect(stores.staging.stage([segment('a')], ended)).rejects.toThrow('the time is used up');
      await expect(stores.coordinator.readPipeline(ended)).rejects.toThrow('the time is used up');
      expect(await stores.coordinator.countStagedSegments(signal)).toBe(0);
    });
  });
}
