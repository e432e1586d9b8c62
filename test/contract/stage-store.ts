import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type CheckpointState, NO_AMOUNT, type PipelineState, type RestHead } from '../../shared/staged/state.ts';
import {
  laneBelow,
  LANES,
  MAX_NUMBER,
  numbersOfLane,
  OUTSIDE_LANES,
  segmentId,
} from '../../shared/staged/segment-id.ts';
import {
  type CommittingStore,
  type CoordinatorStore,
  type MarkerCluster,
  MAX_SEGMENT_BYTES,
  type NewRest,
  type NewSegment,
  type StagingStore,
  type StatusStore,
} from '../../shared/staged/ports.ts';

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
const NUMBER_ONE = Array.from({ length: LANES }, (_, lane) => numbersOfLane(lane, 1, 1));

const idOf = (lane: number, number: number, place = 0): string =>
  segmentId(lane, number, place.toString(16).padStart(16, '0'));

const pipelineAt = (change: Partial<PipelineState> = {}): PipelineState => ({
  lease: { owner: 'coordinator', epoch: 1, expiresAt: NOW + 25_000 },
  completed: 0,
  lastCompletedAt: 0,
  backlog: NO_AMOUNT,
  rests: NO_AMOUNT,
  countedAt: NOW,
  marks: [],
  ...change,
});

const segment = (id: string, change: Partial<NewSegment> = {}): NewSegment => ({
  id,
  envelopes: 3,
  payload: Buffer.from(`payload of ${id} \u0000\u00ff`, 'latin1'),
  stagedAt: NOW,
  ...change,
});

const checkpoint = (number: number): CheckpointState => ({
  number,
  completedAt: NOW + number,
  amount: { segments: 2, envelopes: 6, bytes: 100 },
  oldestStagedAt: NOW,
});

const rest = (id: string, change: Partial<RestHead> = {}, payload: Buffer = Buffer.from('what is open')): NewRest => ({
  head: {
    id,
    problem: 'the family is missing',
    attempts: 0,
    tryAt: NOW + 30_000,
    envelopes: 1,
    bytes: payload.length,
    parts: 0,
    stagedAt: NOW,
    ...change,
  },
  payload,
});

/** The next checkpoint is complete, as a tick makes it. */
async function complete({ coordinator }: StageStores, number: number): Promise<void> {
  const before = await coordinator.readPipeline(signal);
  const value = pipelineAt({ completed: number, countedAt: NOW + number });
  const changes = { complete: checkpoint(number), committed: [] };
  expect(await coordinator.commit({ pipeline: { version: before?.version, value }, changes }, signal)).toBe(
    'committed',
  );
}

/** Stores a segment and gives back what a committer reads of it. */
async function stored({ staging, committing }: StageStores, one: NewSegment) {
  await staging.stage([one], signal);
  const [read] = await committing.readSegments([one.id], signal);
  if (!read) throw new Error(`${one.id} is not there`);
  return read;
}

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

    test('of a pipeline that nothing is known of there is nothing to read', async () => {
      const { staging, coordinator, committing, status } = stores;
      expect(await staging.readPipeline(signal)).toBeUndefined();
      expect(await staging.countBacklog(signal)).toEqual({ backlog: NO_AMOUNT, rests: NO_AMOUNT });
      expect(await coordinator.readPipeline(signal)).toBeUndefined();
      expect((await coordinator.countSegments(undefined, signal)).count).toBe(0);
      expect(await coordinator.readHeads(numbersOfLane(0, 0, MAX_NUMBER), ALL, signal)).toEqual([]);
      expect(await coordinator.readCheckpoints([1, 2], signal)).toEqual([]);
      expect(await coordinator.readHighestNumber(signal)).toBe(0);
      expect(await coordinator.countRests(signal)).toBe(0);
      expect(await coordinator.readDueRests(NOW, ALL, signal)).toEqual([]);
      expect(await coordinator.sampleRests(ALL, signal)).toEqual([]);
      expect(await committing.readPipeline(signal)).toBeUndefined();
      expect(await committing.readRange(numbersOfLane(0, 0, MAX_NUMBER), ALL, signal)).toEqual([]);
      expect(await committing.readSegments(['none'], signal)).toEqual([]);
      expect(await committing.readRests(['none'], signal)).toEqual([]);
      expect(await status.readCheckpoints(ALL, signal)).toEqual([]);
      expect(await status.readRests(ALL, signal)).toEqual([]);
      expect(await status.readLowest(ALL, signal)).toEqual([]);
    });

    describe('staging', () => {
      test('a segment is found as it was stored, with its number and the time of the store', async () => {
        const one = segment(idOf(3, 42));
        const before = (await stores.coordinator.countSegments(undefined, signal)).readAt;
        await stores.staging.stage([one], signal);
        const [found] = await stores.coordinator.readHeads(numbersOfLane(3, 42, 42), ALL, signal);
        const after = (await stores.coordinator.countSegments(undefined, signal)).readAt;
        expect(found).toEqual({
          id: one.id,
          number: 42,
          envelopes: 3,
          bytes: one.payload.length,
          parts: 0,
          stagedAt: NOW,
          createdAt: expect.any(Number) as number,
        });
        expect(found?.createdAt).toBeGreaterThanOrEqual(before);
        expect(found?.createdAt).toBeLessThanOrEqual(after);
      });

      test('four segments of the full size are stored at once, and their payloads are what they were', async () => {
        const full = [0, 1, 2, 3].map((lane) =>
          segment(idOf(lane, 1), { payload: Buffer.alloc(MAX_SEGMENT_BYTES, lane + 1), envelopes: 850 }),
        );
        await stores.staging.stage(full, signal);
        const read = await stores.committing.readSegments(
          full.map(({ id }) => id),
          signal,
        );
        for (const { id, payload } of full) {
          expect(read.find(({ head }) => head.id === id)?.payload.equals(payload)).toBe(true);
        }
        expect(await stores.staging.countBacklog(signal)).toEqual({
          backlog: { segments: 4, envelopes: 3400, bytes: 4 * MAX_SEGMENT_BYTES },
          rests: NO_AMOUNT,
        });
      });

      test('a payload that no document can hold is stored whole', async () => {
        const payload = Buffer.alloc(9_900_000, 'large ');
        const [large, small] = [segment(idOf(0, 1), { payload, envelopes: 1 }), segment(idOf(0, 1, 1))];
        await stores.staging.stage([large, small], signal);
        const read = await stores.committing.readRange(numbersOfLane(0, 1, 1), ALL, signal);
        expect(read.map(({ head }) => head.id)).toEqual([large.id, small.id]);
        expect(read[0]?.head).toMatchObject({ bytes: 9_900_000, parts: 11, envelopes: 1 });
        expect(read[0]?.payload.equals(payload)).toBe(true);
        expect(read[1]?.payload).toEqual(small.payload);
      });

      test('what is stored already is success, and what is not is stored, in one call', async () => {
        const [a, b] = [segment(idOf(0, 1)), segment(idOf(1, 1))];
        const large = segment(idOf(2, 1), { payload: Buffer.alloc(2_000_000, 1) });
        await stores.staging.stage([a, large], signal);
        const [before] = await stores.coordinator.readHeads(NUMBER_ONE[0]!, ALL, signal);
        await stores.staging.stage([a, b, large], signal);
        expect(await stores.coordinator.readHeads(NUMBER_ONE[0]!, ALL, signal)).toEqual([before]);
        expect((await stores.coordinator.countSegments(undefined, signal)).count).toBe(3);
        const [read] = await stores.committing.readSegments([large.id], signal);
        expect(read?.payload.equals(large.payload)).toBe(true);
      });
    });

    describe('ranges', () => {
      test('hold the segments of a lane by their numbers, in order and as many as were asked for', async () => {
        for (const number of [1, 2, 9, 10, 123_456]) await stores.staging.stage([segment(idOf(4, number))], signal);
        await stores.staging.stage([segment(idOf(3, 2)), segment(idOf(5, 2))], signal);
        const numbers = async (range: ReturnType<typeof laneBelow>, limit = ALL): Promise<readonly number[]> =>
          (await stores.coordinator.readHeads(range, limit, signal)).map(({ number }) => number);
        expect(await numbers(numbersOfLane(4, 2, 10))).toEqual([2, 9, 10]);
        expect(await numbers(numbersOfLane(4, 2, 10), 2)).toEqual([2, 9]);
        expect(await numbers(laneBelow(4, 9))).toEqual([1, 2]);
        expect((await stores.coordinator.countSegments(numbersOfLane(4, 2, MAX_NUMBER), signal)).count).toBe(4);
        const page = await stores.committing.readRange(numbersOfLane(4, 0, MAX_NUMBER), 2, signal);
        expect(page.map(({ head }) => head.number)).toEqual([1, 2]);
      });

      test('outside of the lanes are the segments of the format before, and no others', async () => {
        const old = ['0b8e4d0a-93d5-4c4e-8d0f-5a5b1d0c7a11', '7f8e4d0a-93d5-4c4e-8d0f-5a5b1d0c7a11', 'ffff'];
        for (const id of old) await stores.staging.stage([segment(id)], signal);
        for (let lane = 0; lane < LANES; lane += 1) await stores.staging.stage([segment(idOf(lane, 7))], signal);
        const found = await Promise.all(OUTSIDE_LANES.map((range) => stores.coordinator.readHeads(range, ALL, signal)));
        expect(found.flat().map(({ id, number }) => [id, number])).toEqual(old.map((id) => [id, 0]));
      });

      test('tell the highest number: of a checkpoint, or what a segment must have been staged after', async () => {
        await stores.staging.stage([segment(idOf(6, 1_000_003)), segment(idOf(2, 7))], signal);
        expect(await stores.coordinator.readHighestNumber(signal)).toBe(1_000_002);
        const pipeline = { version: undefined, value: pipelineAt() };
        const changes = { complete: checkpoint(2_000_000), committed: [] };
        await stores.coordinator.commit({ pipeline, changes }, signal);
        expect(await stores.coordinator.readHighestNumber(signal)).toBe(2_000_000);
      });
    });

    describe("the coordinator's commit", () => {
      test('makes the pipeline, and all views read it', async () => {
        const value = pipelineAt({
          completed: 7,
          committed: 5,
          lookFrom: 4,
          lastCompletedAt: NOW - 5,
          backlog: { segments: 1, envelopes: 2, bytes: 3 },
          rests: { segments: 4, envelopes: 5, bytes: 6 },
          marks: [{ number: 3, at: NOW - 60_000 }],
          fingerprint: { markerFamily: 'markers', subscription: 's' },
        });
        expect(await stores.coordinator.commit({ pipeline: { version: undefined, value } }, signal)).toBe('committed');
        expect((await stores.coordinator.readPipeline(signal))?.value).toEqual(value);
        expect(await stores.staging.readPipeline(signal)).toEqual(value);
        expect(await stores.committing.readPipeline(signal)).toEqual(value);
        expect((await stores.status.readPipeline(signal))?.value).toEqual(value);
      });

      test('of two that make the pipeline one wins', async () => {
        const commit = (owner: string): Promise<string> => {
          const value = pipelineAt({ lease: { owner, epoch: 1, expiresAt: NOW } });
          return stores.coordinator.commit({ pipeline: { version: undefined, value } }, signal);
        };
        const results = await Promise.all([commit('one'), commit('other')]);
        expect(results.toSorted()).toEqual(['committed', 'conflict']);
      });

      test('of two that read the same pipeline one wins', async () => {
        await complete(stores, 1);
        const version = (await stores.coordinator.readPipeline(signal))?.version;
        const commit = (owner: string): Promise<string> => {
          const value = pipelineAt({ lease: { owner, epoch: 2, expiresAt: NOW } });
          return stores.coordinator.commit({ pipeline: { version, value } }, signal);
        };
        const results = await Promise.all([commit('one'), commit('other')]);
        expect(results.toSorted()).toEqual(['committed', 'conflict']);
      });

      test('completes a checkpoint, writes to no segment, and a checkpoint of a number is made once', async () => {
        await stores.staging.stage([segment(idOf(0, 1))], signal);
        const before = await stores.coordinator.readHeads(NUMBER_ONE[0]!, ALL, signal);
        await complete(stores, 1);
        expect(await stores.coordinator.readCheckpoints([1, 2], signal)).toEqual([checkpoint(1)]);
        expect(await stores.coordinator.readHeads(NUMBER_ONE[0]!, ALL, signal)).toEqual(before);
        const pipeline = await stores.coordinator.readPipeline(signal);
        const again = {
          pipeline: { version: pipeline?.version, value: pipelineAt({ countedAt: NOW + 9 }) },
          changes: { complete: checkpoint(1), committed: [] },
        };
        expect(await stores.coordinator.commit(again, signal)).toBe('conflict');
        expect(await stores.coordinator.readPipeline(signal)).toEqual(pipeline);
      });

      test('marks checkpoints as sent and as committed, also one whose document was deleted', async () => {
        await complete(stores, 1);
        await stores.coordinator.markSent([1, 9], NOW + 77, signal);
        const pipeline = await stores.coordinator.readPipeline(signal);
        const commit = {
          pipeline: { version: pipeline?.version, value: pipelineAt({ countedAt: NOW + 9 }) },
          changes: {
            committed: [
              { number: 1, committedAt: NOW + 99 },
              { number: 8, committedAt: NOW + 99 },
            ],
          },
        };
        expect(await stores.coordinator.commit(commit, signal)).toBe('committed');
        const found = await stores.coordinator.readCheckpoints([1, 8, 9], signal);
        expect(found).toContainEqual({ ...checkpoint(1), sentAt: NOW + 77, committedAt: NOW + 99 });
        expect(found.find(({ number }) => number === 8)).toMatchObject({ committedAt: NOW + 99 });
        expect(found.find(({ number }) => number === 9)).toMatchObject({ sentAt: NOW + 77 });
      });

      test('checkpoints are told highest number first, also beyond 9', async () => {
        for (let number = 1; number <= 11; number += 1) await complete(stores, number);
        const last = await stores.status.readCheckpoints(3, signal);
        expect(last.map(({ number }) => number)).toEqual([11, 10, 9]);
      });
    });

    describe('the end of a segment', () => {
      test('is its deletion, with its parts, and once more changes nothing', async () => {
        const large = await stored(stores, segment(idOf(0, 1), { payload: Buffer.alloc(2_000_000, 1) }));
        const other = await stored(stores, segment(idOf(1, 1)));
        await stores.committing.finish([{ head: large.head }, { head: other.head }], signal);
        expect((await stores.coordinator.countSegments(undefined, signal)).count).toBe(0);
        await stores.committing.finish([{ head: large.head }, { head: other.head }], signal);
        // Stored again under its id, by a commit that came late: whole, and of the same bytes.
        const again = await stored(stores, segment(large.head.id, { payload: Buffer.alloc(2_000_000, 1) }));
        expect(again.payload.equals(large.payload)).toBe(true);
      });

      test('may set apart what is open, in the same commit', async () => {
        const one = await stored(stores, segment(idOf(0, 1)));
        const apart = rest(one.head.id);
        await stores.committing.finish([{ head: one.head, rest: apart }], signal);
        expect((await stores.coordinator.countSegments(undefined, signal)).count).toBe(0);
        expect(await stores.coordinator.countRests(signal)).toBe(1);
        expect(await stores.committing.readRests([one.head.id], signal)).toMatchObject([apart]);
        expect(await stores.status.readRests(ALL, signal)).toEqual([apart.head]);
        expect(await stores.staging.countBacklog(signal)).toEqual({
          backlog: NO_AMOUNT,
          rests: { segments: 1, envelopes: 1, bytes: apart.payload.length },
        });
      });

      test('of many segments, some set apart, is told for each', async () => {
        const many = await Promise.all(
          Array.from({ length: 30 }, (_, place) => stored(stores, segment(idOf(place % LANES, 1, place)))),
        );
        const finished = many.map(({ head }, index) => ({ head, ...(index % 2 === 0 && { rest: rest(head.id) }) }));
        await stores.committing.finish(finished, signal);
        expect((await stores.coordinator.countSegments(undefined, signal)).count).toBe(0);
        expect(await stores.coordinator.countRests(signal)).toBe(15);
      });
    });

    describe('a rest', () => {
      test('is due from its time on, the longest due first', async () => {
        for (const [place, tryAt] of [NOW + 3, NOW + 1, NOW + 2, NOW + 9].entries()) {
          const one = await stored(stores, segment(idOf(place, 1)));
          await stores.committing.finish([{ head: one.head, rest: rest(one.head.id, { tryAt }) }], signal);
        }
        const due = await stores.coordinator.readDueRests(NOW + 3, ALL, signal);
        expect(due.map(({ tryAt }) => tryAt - NOW)).toEqual([1, 2, 3]);
        expect(await stores.coordinator.readDueRests(NOW + 3, 2, signal)).toHaveLength(2);
        expect(await stores.coordinator.sampleRests(2, signal)).toHaveLength(2);
      });

      test('waits for the next attempt with what is still open, or is gone; of two attempts one counts', async () => {
        const one = await stored(stores, segment(idOf(0, 1)));
        await stores.committing.finish([{ head: one.head, rest: rest(one.head.id) }], signal);
        const [first] = await stores.committing.readRests([one.head.id], signal);
        const next = rest(one.head.id, { attempts: 1, tryAt: NOW + 90_000 }, Buffer.from('less'));
        expect(await stores.committing.finishRest({ stored: first!, rest: next }, signal)).toBe('committed');
        expect(await stores.committing.finishRest({ stored: first! }, signal)).toBe('conflict');
        const [second] = await stores.committing.readRests([one.head.id], signal);
        expect(second).toMatchObject(next);
        expect(await stores.committing.finishRest({ stored: second! }, signal)).toBe('committed');
        expect(await stores.coordinator.countRests(signal)).toBe(0);
      });

      test('of one large envelope keeps its parts until it is gone', async () => {
        const large = await stored(stores, segment(idOf(0, 1), { payload: Buffer.alloc(2_000_000, 1) }));
        const { parts, bytes } = large.head;
        const apart = rest(large.head.id, { parts, bytes }, large.payload);
        await stores.committing.finish([{ head: large.head, rest: apart }], signal);
        const [read] = await stores.committing.readRests([large.head.id], signal);
        expect(read?.payload.equals(large.payload)).toBe(true);
        expect(await stores.committing.finishRest({ stored: read! }, signal)).toBe('committed');
        expect(await stores.committing.readRests([large.head.id], signal)).toEqual([]);
      });
    });

    describe('the cluster of an instance', () => {
      const at = (cluster: string, instance = 'p.i'): MarkerCluster => ({ instance, cluster });

      test('is noted once, for each instance, and whoever finds another one is told', async () => {
        await complete(stores, 1);
        const { committing } = stores;
        expect(await committing.noteCluster(at('c1'), undefined, signal)).toBe('c1');
        expect(await committing.noteCluster(at('c2'), undefined, signal)).toBe('c1');
        expect(await committing.noteCluster(at('c2', 'p.other'), undefined, signal)).toBe('c2');
        expect(await committing.noteCluster(at('c1', 'p.other'), undefined, signal)).toBe('c2');
        expect(await committing.noteCluster(at('c1'), undefined, signal)).toBe('c1');
      });

      test('is replaced where it is the one that is to be replaced', async () => {
        await complete(stores, 1);
        const { committing } = stores;
        await committing.noteCluster(at('c1'), undefined, signal);
        expect(await committing.noteCluster(at('c3'), 'c2', signal)).toBe('c1');
        expect(await committing.noteCluster(at('c2'), 'c1', signal)).toBe('c2');
        expect(await committing.noteCluster(at('c3'), 'c1', signal)).toBe('c2');
        expect(await committing.noteCluster(at('c1', 'p.other'), 'c2', signal)).toBe('c1');
      });

      test('stays when a coordinator writes the pipeline, and one that read it before has lost', async () => {
        await complete(stores, 1);
        const before = await stores.coordinator.readPipeline(signal);
        await stores.committing.noteCluster(at('c1'), undefined, signal);
        const value = pipelineAt({ completed: 1, countedAt: NOW + 5 });
        expect(await stores.coordinator.commit({ pipeline: { version: before?.version, value } }, signal)).toBe(
          'conflict',
        );
        await complete(stores, 2);
        expect(await stores.committing.noteCluster(at('c2'), undefined, signal)).toBe('c1');
        expect((await stores.coordinator.readPipeline(signal))?.value.completed).toBe(2);
      });

      test('is noted by one of many at once, and all are told the same', async () => {
        await complete(stores, 1);
        const told = await Promise.all(
          ['c1', 'c2', 'c3', 'c4'].map((cluster) => stores.committing.noteCluster(at(cluster), undefined, signal)),
        );
        expect(new Set(told).size).toBe(1);
      });

      test('is nowhere to be noted before the first coordinator', async () => {
        expect(await stores.committing.noteCluster(at('c1'), undefined, signal)).toBe('c1');
        expect(await stores.committing.noteCluster(at('c2'), undefined, signal)).toBe('c2');
        expect(await stores.committing.readPipeline(signal)).toBeUndefined();
      });
    });

    test('people see the lowest segments of each lane', async () => {
      for (let place = 0; place < 3 * LANES; place += 1) {
        await stores.staging.stage([segment(idOf(place % LANES, 1 + Math.floor(place / LANES)))], signal);
      }
      const lowest = await stores.status.readLowest(2, signal);
      expect(lowest).toHaveLength(2 * LANES);
      expect(new Set(lowest.map(({ number }) => number))).toEqual(new Set([1, 2]));
      expect((await stores.status.countBacklog(signal)).backlog).toMatchObject({ segments: 24, envelopes: 72 });
    });

    test('a call whose signal has ended rejects with the reason, and does nothing', async () => {
      const ended = AbortSignal.abort(new Error('the time is used up'));
      await expect(stores.staging.stage([segment(idOf(0, 1))], ended)).rejects.toThrow('the time is used up');
      await expect(stores.coordinator.readPipeline(ended)).rejects.toThrow('the time is used up');
      expect((await stores.coordinator.countSegments(undefined, signal)).count).toBe(0);
    });
  });
}
