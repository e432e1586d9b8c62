import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { closedBound, openBound, UNBOUNDED, WHOLE_TABLE } from '../../shared/model/row-range.ts';
import type { RunsStore, ScanChanges, ScanCoordinatorStore, ScanStore } from '../../shared/scan/runs/ports.ts';
import type { Run } from '../../shared/scan/runs/run.ts';
import { type HeldSplit, heldOf, NO_COUNTS, type Split, splitId } from '../../shared/scan/runs/split.ts';
import { heldSplit, waitingSplit } from '../../shared/scan/runs/split-updates.ts';
import { LEASE_MILLIS, takeOver } from '../../shared/slots/lease.ts';

/** All views of one scanned pipeline's documents. */
export interface ScanStores {
  readonly slots: ScanStore;
  readonly coordinator: ScanCoordinatorStore;
  readonly runs: RunsStore;
}

export interface ScanStoreBackend {
  /** A pipeline that nothing is known of yet. */
  fresh(): ScanStores;
  close(): Promise<void>;
}

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0, 123);
const { signal } = new AbortController();
const PLAN = { id: '0123456789abcdef', splits: 4 };
const DEAD = { id: '0123456789abcdee', splits: 2 };
const NO_CHANGES: ScanChanges = { runs: [], planned: [], expiring: [], slots: [] };
const COUNTS = { rows: 1, cells: 20, bytes: 3_000_000_000_000, messages: 4, skipped: 5, quarantined: 6 };

const run = (id: string, change: Partial<Run> = {}): Run => ({
  ...{ id, state: 'planning', startedAt: NOW, dead: [], isTold: false },
  ...change,
});

const split = (place: number, change: Partial<Split> = {}, plan = PLAN.id): Split => ({
  id: splitId(plan, place),
  run: 'r1',
  range: { start: closedBound(Buffer.from([place, 0x00, 0xff])), end: openBound(Buffer.from([place + 1])) },
  counts: NO_COUNTS,
  failures: 0,
  state: { kind: 'waiting', since: NOW + place },
  ...change,
});

const led = (commits: number) => ({ commits, lease: { owner: 'c', epoch: 1, expiresAt: NOW + commits } });

/** Run by every store: in memory, over the embedded server, over Google's emulator. */
export function scanStoreContract(name: string, open: () => Promise<ScanStoreBackend>): void {
  describe(name, () => {
    let backend: ScanStoreBackend;
    let stores: ScanStores;
    let commits = 0;

    beforeAll(async () => {
      backend = await open();
    }, 60_000);

    afterAll(() => backend.close());

    beforeEach(() => {
      stores = backend.fresh();
      commits = 0;
    });

    const nextPipeline = async () => {
      const before = await stores.runs.readPipeline(signal);
      return { version: before?.version, value: led((commits += 1)) };
    };
    const start = async (one: Run, options = '{}') => stores.runs.start(await nextPipeline(), one, options, signal);
    const tick = async (changes: Partial<ScanChanges>) =>
      stores.coordinator.commit({ pipeline: await nextPipeline(), changes: { ...NO_CHANGES, ...changes } }, signal);
    const read = async (id: string) => {
      const found = await stores.runs.readRun(id, signal);
      if (!found) throw new Error(`no run ${id}`);
      return found;
    };
    const planned = async (...splits: readonly Split[]) => {
      await start(run('r1'));
      const { version } = await read('r1');
      expect(
        await tick({ runs: [{ version, run: run('r1', { state: 'reading', plan: PLAN }) }], planned: splits }),
      ).toBe('committed');
    };
    const waiting = async (until = NOW + 1_000, limit = 10) =>
      stores.slots.readWaiting('r1', PLAN, until, limit, signal);
    const placesOf = async (until?: number, limit?: number) =>
      (await waiting(until, limit)).map(({ split: { id } }) => Number(id.split('-')[1]));
    /** Slot 0 takes splits as they were read. */
    const take = async (...places: readonly number[]) => {
      const taken = (await waiting()).filter(({ split: { id } }) => places.includes(Number(id.split('-')[1])));
      const units = Object.fromEntries(taken.map((each) => [each.split.id, heldOf(each.split)]));
      return stores.slots.commit(
        {
          slot: 0,
          version: (await stores.slots.readSlot(0, signal))?.version,
          value: { owner: 'me', epoch: 1, attempt: 1, units },
          changes: taken.map((each) => ({ split: heldSplit(each.split, 0, 1), version: each.version })),
        },
        signal,
      );
    };
    const end = async (place: number, kind: 'done' | 'failed', change: Partial<Split> = {}) => {
      const slot = await stores.slots.readSlot(0, signal);
      const value = { owner: 'me', epoch: 1, attempt: (slot?.value.attempt ?? 0) + 1, units: {} };
      const changes = [{ split: split(place, { state: { kind }, ...change }) }];
      return stores.slots.commit({ slot: 0, version: slot?.version, value, changes }, signal);
    };

    describe('runs', () => {
      test('nothing is known of a pipeline that nobody started', async () => {
        expect(await stores.runs.readPipeline(signal)).toBeUndefined();
        expect(await stores.runs.readRun('r1', signal)).toBeUndefined();
        expect(await stores.slots.readOpenRuns(signal)).toEqual([]);
        expect(await stores.runs.listRuns(10, signal)).toEqual([]);
        expect([...(await stores.slots.readSlots(signal))]).toEqual([]);
        await expect(stores.slots.readOptions('r1', signal)).rejects.toThrow('could not read the options of a run');
      });

      test('a start makes the run with all that it goes by, and writes the pipeline', async () => {
        expect(await start(run('2026-01-01T00:00:00Z'), '{"a": "ä"}')).toBe('committed');
        expect((await stores.runs.readPipeline(signal))?.value).toEqual(led(1));
        expect((await read('2026-01-01T00:00:00Z')).value).toEqual(run('2026-01-01T00:00:00Z'));
        expect(await stores.slots.readOptions('2026-01-01T00:00:00Z', signal)).toBe('{"a": "ä"}');
      });

      test('a start conflicts with a run of its id, and with every other start since the pipeline was read', async () => {
        const before = await nextPipeline();
        expect(await stores.runs.start(before, run('r1'), '{}', signal)).toBe('committed');
        expect(await stores.runs.start(before, run('r2'), '{}', signal)).toBe('conflict');
        expect(await start(run('r1'))).toBe('conflict');
        expect(await stores.runs.readRun('r2', signal)).toBeUndefined();
      });

      test('everything of a run is read as it was written', async () => {
        await start(run('r1'));
        const whole = run('r1', {
          state: 'failed',
          plan: PLAN,
          dead: [{ ...DEAD, expiring: 1 }],
          readingSince: NOW + 1,
          endedAt: NOW + 2,
          totals: COUNTS,
          problem: 'NOT_FOUND: create it',
          isTold: true,
        });
        const before = await read('r1');
        expect(await stores.runs.write({ version: before.version, run: whole }, signal)).toBe('committed');
        expect((await read('r1')).value).toEqual(whole);
        const planning = run('r1', { planning: { id: PLAN.id, written: 3 } });
        expect(await stores.runs.write({ version: before.version, run: planning }, signal)).toBe('conflict');
        const { version } = await read('r1');
        expect(await stores.runs.write({ version, run: planning }, signal)).toBe('committed');
        expect((await read('r1')).value).toEqual(planning);
        expect(await stores.slots.readOptions('r1', signal)).toBe('{}');
      });

      test('open runs are those for which something is left to do, the oldest first; a list has all, the latest first', async () => {
        await start(run('r2', { startedAt: NOW + 1 }));
        await start(run('r1'));
        await start(run('r3', { startedAt: NOW + 2 }));
        const { version } = await read('r3');
        const told = run('r3', { startedAt: NOW + 2, state: 'done', isTold: true });
        await stores.runs.write({ version, run: told }, signal);
        const open = await stores.slots.readOpenRuns(signal);
        expect(open.map(({ value }) => value.id)).toEqual(['r1', 'r2']);
        expect(open[0]).toEqual(await read('r1'));
        const listed = await stores.runs.listRuns(2, signal);
        expect(listed.map(({ id }) => id)).toEqual(['r3', 'r2']);
        expect(listed[0]).toEqual(told);
      });
    });

    describe('a tick', () => {
      test('is committed whole, or not at all where the pipeline, a run or a slot is not as it was read, or a split is there', async () => {
        await planned(split(0));
        const { value, version } = await read('r1');
        const next = { ...value, readingSince: NOW };
        const stale = { version: '1.1000', value: led(99) };
        const nothing = [
          await stores.coordinator.commit({ pipeline: stale, changes: { ...NO_CHANGES, planned: [split(1)] } }, signal),
          await tick({ runs: [{ version: '1.1000', run: next }], planned: [split(1)] }),
          await tick({ runs: [{ version, run: next }], planned: [split(1), split(0)] }),
          await tick({
            planned: [split(1)],
            slots: [{ slot: 3, version: '1.1000', value: { owner: '', epoch: 2, attempt: 2, units: {} }, changes: [] }],
          }),
        ];
        expect(nothing).toEqual(['conflict', 'conflict', 'conflict', 'conflict']);
        expect(await placesOf()).toEqual([0]);
        expect((await read('r1')).value).toEqual(value);
        expect(await tick({ runs: [{ version, run: next }], planned: [split(1)] })).toBe('committed');
        expect(await placesOf()).toEqual([0, 1]);
      });

      test('without changes gives the lease back', async () => {
        await start(run('r1'));
        const pipeline = await nextPipeline();
        const value = { ...pipeline.value, lease: { owner: '', epoch: 1, expiresAt: NOW } };
        expect(await stores.coordinator.commit({ pipeline: { ...pipeline, value } }, signal)).toBe('committed');
        expect((await stores.coordinator.readPipeline(signal))?.value).toEqual(value);
        const last = { ...value, commits: 50, lastDone: { run: 'r1', startedAt: NOW } };
        const read = await stores.coordinator.readPipeline(signal);
        await stores.coordinator.commit({ pipeline: { version: read?.version, value: last } }, signal);
        expect((await stores.coordinator.readPipeline(signal))?.value).toEqual(last);
      });

      test('gives splits an expiry, those that are gone included, and leaves everything else of them', async () => {
        await planned(split(0), split(1), split(0, {}, DEAD.id));
        const ids = [splitId(DEAD.id, 0), splitId(DEAD.id, 1), splitId(PLAN.id, 1)];
        expect(await tick({ expiring: [{ run: 'r1', ids, expireAt: NOW + 1_000_000 }] })).toBe('committed');
        expect(await placesOf()).toEqual([0, 1]);
        expect(await stores.runs.readSplits('r1', [splitId(PLAN.id, 1)], signal)).toEqual([split(1)]);
      });

      test('takes a slot from an owner that fell silent, with its splits', async () => {
        await planned(split(0), split(1));
        await take(0);
        const slot = await stores.slots.readSlot(0, signal);
        const commit = takeOver(0, slot!, '', NOW + 500, waitingSplit);
        expect(await tick({ slots: [commit] })).toBe('committed');
        expect((await stores.coordinator.readSlots(signal)).get(0)?.value).toEqual(commit.value);
        expect(await placesOf()).toEqual([1, 0]);
        // By then the slot is another.
        expect(await tick({ slots: [commit] })).toBe('conflict');
      });
    });

    describe('splits', () => {
      test('wait in their turn, those of other plans and of other runs aside, and not before their time', async () => {
        await planned(
          ...[split(3), split(2), split(0, { state: { kind: 'waiting', since: NOW + 7 } }), split(1)],
          ...[
            split(0, {}, DEAD.id),
            split(0, {}, `${PLAN.id}0`),
            split(12, { state: { kind: 'waiting', since: NOW + 3 } }),
          ],
        );
        expect(await placesOf()).toEqual([1, 2, 3, 12, 0]);
        expect(await placesOf(NOW + 3)).toEqual([1, 2, 3, 12]);
        expect(await placesOf(NOW + 1, 1)).toEqual([1]);
        expect(await placesOf(NOW)).toEqual([]);
        expect(await stores.slots.readWaiting('r2', PLAN, NOW + 1_000, 10, signal)).toEqual([]);
        expect(await stores.runs.countWaiting('r1', PLAN, signal)).toBe(5);
      });

      test('are read as they were written, whatever their bounds, counts and problems', async () => {
        const large = closedBound(Buffer.alloc(4096, 0xff));
        const splits = [
          split(0, { range: WHOLE_TABLE, counts: COUNTS }),
          split(1, { range: { start: large, end: large }, failures: 3, problem: 'UNAVAILABLE: “wait”' }),
          split(2, { range: { start: openBound(Buffer.from([0])), end: UNBOUNDED } }),
        ];
        await planned(...splits);
        expect((await waiting()).map((each) => each.split)).toEqual(splits);
        const ids = splits.map(({ id }) => id);
        expect(await stores.runs.readSplits('r1', [...ids, splitId(PLAN.id, 9)], signal)).toEqual(splits);
        expect(await stores.runs.readFailing('r1', 5, signal)).toEqual([splits[1]]);
      });

      test('are claimed under the version that was read: of two that claim one, the second changes nothing at all', async () => {
        await planned(split(0), split(1), split(2));
        const seen = await waiting();
        const claim = (slot: number, each: (typeof seen)[number], version: string | undefined, attempt: number) => {
          const units = { [each.split.id]: heldOf(each.split) };
          const value = { owner: `owner-${slot}`, epoch: 1, attempt, units };
          const changes = [{ split: heldSplit(each.split, slot, 1), version: each.version }];
          return stores.slots.commit({ slot, version, value, changes }, signal);
        };
        expect(await claim(0, seen[0]!, undefined, 1)).toMatchObject({ kind: 'committed' });
        expect(await claim(1, seen[0]!, undefined, 1)).toEqual({ kind: 'conflict' });
        expect(await stores.slots.readSlot(1, signal)).toBeUndefined();
        expect(await claim(1, seen[1]!, undefined, 1)).toMatchObject({ kind: 'committed' });
        expect(await placesOf()).toEqual([2]);
        expect((await stores.runs.readSplits('r1', [seen[1]!.split.id], signal))[0]?.state).toEqual({
          kind: 'held',
          slot: 1,
          epoch: 1,
        });
      });

      test('that wait again after they were held are found in their new turn, and no longer as failing once they moved', async () => {
        await planned(split(0, { failures: 2, problem: 'no' }), split(1));
        await take(0, 1);
        const slot = await stores.slots.readSlot(0, signal);
        const moved: HeldSplit = { run: 'r1', range: split(2).range, counts: COUNTS, failures: 0 };
        const units = { [splitId(PLAN.id, 0)]: moved, [splitId(PLAN.id, 1)]: heldOf(split(1)) };
        await stores.slots.commit(
          takeOver(0, { ...slot!, value: { ...slot!.value, units } }, '', NOW + 9, waitingSplit),
          signal,
        );
        expect(await placesOf(NOW + 8)).toEqual([]);
        const [first] = await waiting(NOW + 9);
        expect(first?.split).toEqual({ ...moved, id: splitId(PLAN.id, 0), state: { kind: 'waiting', since: NOW + 9 } });
        expect(await stores.runs.readFailing('r1', 5, signal)).toEqual([]);
      });

      test('that ended are counted by their plan, and counts of all are summed', async () => {
        await planned(split(0), split(1), split(2), split(0, {}, DEAD.id));
        await take(0, 1);
        await end(0, 'done', { counts: COUNTS });
        await end(1, 'failed', { counts: COUNTS, failures: 10, problem: 'refused' });
        const counted = await Promise.all([
          stores.slots.countEnded('r1', PLAN, signal),
          stores.coordinator.countFailed('r1', PLAN, signal),
          stores.slots.countEnded('r1', DEAD, signal),
          stores.runs.countWaiting('r1', PLAN, signal),
        ]);
        expect(counted).toEqual([2, 1, 0, 1]);
        const twice = Object.fromEntries(Object.entries(COUNTS).map(([count, value]) => [count, 2 * value]));
        expect(await stores.coordinator.sumCounts('r1', signal)).toEqual(twice);
        expect(await stores.runs.sumCounts('r2', signal)).toEqual(NO_COUNTS);
      });

      test('that were deleted are there again when their slot writes them', async () => {
        await start(run('r1'));
        expect(await end(0, 'done', { counts: COUNTS })).toMatchObject({ kind: 'committed' });
        expect(await stores.runs.readSplits('r1', [splitId(PLAN.id, 0)], signal)).toEqual([
          split(0, { counts: COUNTS, state: { kind: 'done' } }),
        ]);
      });
    });

    describe('slots', () => {
      const value = (attempt: number, change: object = {}) => ({
        owner: 'me',
        epoch: 1,
        attempt,
        units: {},
        ...change,
      });
      const write = (slot: number, version: string | undefined, attempt: number, change?: object) =>
        stores.slots.commit({ slot, version, value: value(attempt, change), changes: [] }, signal);

      test('are written under the version that the last write made, and by nobody under an older one', async () => {
        const first = await write(2, undefined, 1);
        expect(first).toMatchObject({ kind: 'committed' });
        expect(await write(2, undefined, 1)).toEqual({ kind: 'conflict' });
        const version = first.kind === 'committed' ? first.version : '';
        expect((await stores.slots.readSlot(2, signal))?.version).toBe(version);
        const second = await write(2, version, 2);
        expect(second).toMatchObject({ kind: 'committed' });
        // The same commit once more, as the client may send it, and another one on the same version.
        expect(await write(2, version, 2)).toEqual({ kind: 'conflict' });
        expect(await write(2, version, 3)).toEqual({ kind: 'conflict' });
        expect((await stores.slots.readSlot(2, signal))?.value.attempt).toBe(2);
      });

      test('are read with their units and the times of the store', async () => {
        const units = {
          [splitId(PLAN.id, 0)]: heldOf(split(0, { counts: COUNTS, failures: 2, problem: 'no' })),
          [splitId(PLAN.id, 1)]: heldOf(split(1, { range: WHOLE_TABLE })),
        };
        await write(0, undefined, 1, { units });
        await write(10, undefined, 7, { owner: '', epoch: 4 });
        const read = await stores.slots.readSlot(0, signal);
        expect(read?.value).toEqual(value(1, { units }));
        expect(read!.readAt - read!.updatedAt).toBeGreaterThanOrEqual(0);
        expect(read!.readAt - read!.updatedAt).toBeLessThan(LEASE_MILLIS);
        const all = await stores.slots.readSlots(signal);
        expect([...all.keys()]).toEqual([0, 10]);
        expect(all.get(0)?.value).toEqual(value(1, { units }));
        expect(all.get(10)?.value).toEqual(value(7, { owner: '', epoch: 4 }));
      });

      test('hold 400 splits of keys of 1 KiB, and all of them are given back in one commit', async () => {
        const key = (place: number): Buffer => Buffer.alloc(512, place % 251);
        const splits = Array.from({ length: 400 }, (_, place) =>
          split(place, { range: { start: closedBound(key(place)), end: openBound(key(place + 1)) } }),
        );
        const units = Object.fromEntries(splits.map((each) => [each.id, heldOf(each)]));
        const taken = await write(0, undefined, 1, { units });
        expect(taken).toMatchObject({ kind: 'committed' });
        const read = await stores.slots.readSlot(0, signal);
        const commit = takeOver(0, read!, '', NOW, waitingSplit);
        expect(await stores.slots.commit(commit, signal)).toMatchObject({ kind: 'committed' });
        expect(await stores.runs.countWaiting('r1', PLAN, signal)).toBe(400);
        expect((await stores.slots.readSlot(0, signal))?.value.units).toEqual({});
      });
    });
  });
}
