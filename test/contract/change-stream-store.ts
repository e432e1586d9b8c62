import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { missingId } from '../../shared/change-stream/ledger/ids.ts';
import { heldOf, type HeldPartition, type Partition } from '../../shared/change-stream/ledger/partition.ts';
import { takePartition } from '../../shared/change-stream/ledger/partition-updates.ts';
import type { LedgerWrite } from '../../shared/change-stream/ledger/writes.ts';
import type {
  ChangeStreamCoordinatorStore,
  ChangeStreamStatusStore,
  ChangeStreamStore,
} from '../../shared/change-stream/ports.ts';
import type { Source } from '../../shared/change-stream/source.ts';
import { closedBound, openBound, WHOLE_TABLE } from '../../shared/model/row-range.ts';
import { merge } from '../support/ledgers.ts';
import { held, partition, range, token } from '../support/partitions.ts';

/** All views of one change stream's documents. */
export interface ChangeStreamStores {
  readonly slots: ChangeStreamStore;
  readonly coordinator: ChangeStreamCoordinatorStore;
  readonly status: ChangeStreamStatusStore;
}

export interface ChangeStreamStoreBackend {
  /** A source that nothing is known of yet. */
  fresh(): ChangeStreamStores;
  close(): Promise<void>;
}

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0, 123);
const { signal } = new AbortController();
/** More digits than a number holds, and than a timestamp of Firestore. */
const EXACT = 1_767_268_800_123_456_789n;

const source = (commits: number, change: Partial<Source> = {}) => ({
  ...{ commits, status: 'reading' as const, generation: 1, options: '{"a": "ä"}', dead: [] },
  ...change,
  lease: { owner: 'c', epoch: 1, expiresAt: NOW + commits },
});

const odd: HeldPartition = {
  ...{ generation: 1, round: 12, failures: 3, problem: 'UNAVAILABLE: “wait”' },
  range: { start: closedBound(Buffer.alloc(4096, 0xff)), end: openBound(Buffer.from([0xff, 0xfe, 0x00])) },
  position: {
    tokens: [
      { range: range('a', 'b'), token: 'tökén/+==' },
      { range: WHOLE_TABLE, token: '' },
    ],
    lowWatermark: EXACT,
  },
  restarted: { how: 'fallback', until: EXACT + 1n },
};

/** Run by every store: in memory, over the embedded server, over Google's emulator. */
export function changeStreamStoreContract(name: string, open: () => Promise<ChangeStreamStoreBackend>): void {
  describe(name, () => {
    let backend: ChangeStreamStoreBackend;
    let stores: ChangeStreamStores;
    let commits = 0;

    beforeAll(async () => {
      backend = await open();
    }, 60_000);

    afterAll(() => backend.close());

    beforeEach(() => {
      stores = backend.fresh();
      commits = 0;
    });

    const tick = async (changes: readonly LedgerWrite[], change: Partial<Source> = {}) => {
      const before = await stores.coordinator.readPipeline(signal);
      const pipeline = { version: before?.version, value: source((commits += 1), change) };
      return stores.coordinator.commit({ pipeline, changes }, signal);
    };
    const made = async (...partitions: readonly Partition[]) => {
      const writes = partitions.map((each): LedgerWrite => ({ kind: 'new-partition', partition: each }));
      expect(await tick(writes)).toBe('committed');
    };
    const ledger = (generation = 1) => stores.coordinator.readLedger(generation, signal);
    const partitionsNow = async () => (await ledger()).partitions.map(({ value }) => value);
    const waiting = (now = NOW, limit = 10, generation = 1) => stores.slots.readWaiting(generation, now, limit, signal);
    const idsOf = async (...how: Parameters<typeof waiting>) =>
      (await waiting(...how)).map((each) => each.partition.id);
    /** Slot 0 commits. */
    const commit = async (units: Record<string, HeldPartition>, changes: readonly LedgerWrite[]) => {
      const read = await stores.slots.readSlot(0, signal);
      const value = { owner: 'me', epoch: 1, attempt: (read?.value.attempt ?? 0) + 1, units };
      return stores.slots.commit({ slot: 0, version: read?.version, value, changes }, signal);
    };
    const versionOf = async (id: string) => {
      const found = (await ledger()).partitions.find(({ value }) => value.id === id);
      if (!found) throw new Error(`no ${id}`);
      return found.version;
    };

    describe('the source', () => {
      test('is nothing before the first coordinator, and neither is anything of it', async () => {
        expect(await stores.slots.readSource(signal)).toBeUndefined();
        expect(await stores.coordinator.readPipeline(signal)).toBeUndefined();
        expect(await stores.coordinator.readTopology(signal)).toEqual({ number: 0, version: undefined });
        expect(await ledger()).toMatchObject({ partitions: [], merges: [], missing: [] });
        expect(await waiting()).toEqual([]);
        expect(await stores.slots.readTailRound(1, signal)).toBe(0);
        expect(await stores.slots.countOpen(1, signal)).toBe(0);
        expect([...(await stores.slots.readMerges(['x'], signal))]).toEqual([]);
      });

      test('is read as it was written, to the nanosecond, and what is gone from it is gone', async () => {
        const full: Partial<Source> = {
          ...{ status: 'stopped', generation: 3, startTime: EXACT, endTime: EXACT + 1n, dead: [1, 2] },
          ...{ retention: { millis: 86_400_000, fetchedAt: NOW }, problem: 'switch it on', written: 400 },
        };
        await tick([], full);
        expect((await stores.coordinator.readPipeline(signal))?.value).toEqual(source(1, full));
        expect(await stores.slots.readSource(signal)).toEqual(source(1, full));
        await tick([]);
        expect((await stores.status.readPipeline(signal))?.value).toEqual(source(2));
      });

      test('is written by one of two coordinators that read the same', async () => {
        await tick([]);
        const before = await stores.coordinator.readPipeline(signal);
        const write = (commit: number) =>
          stores.coordinator.commit({ pipeline: { version: before?.version, value: source(commit) } }, signal);
        expect(await write(7)).toBe('committed');
        expect(await write(8)).toBe('conflict');
      });

      test('is paused by whoever read it last, and nothing else is written', async () => {
        await tick([]);
        const before = await stores.status.readPipeline(signal);
        const value = source(9, { status: 'paused' });
        expect(await stores.status.write({ version: before!.version, value }, signal)).toBe('committed');
        expect(await stores.status.write({ version: before!.version, value }, signal)).toBe('conflict');
        expect(await stores.slots.readSource(signal)).toMatchObject({ status: 'paused' });
      });
    });

    describe('partitions', () => {
      test('are read as they were written, whatever their keys, tokens and problems, in every state', async () => {
        const states: Partition['state'][] = [
          { kind: 'waiting', since: NOW },
          { kind: 'resting', notBefore: NOW + 5 },
          { kind: 'held', slot: 3, epoch: 7 },
          { kind: 'completed' },
        ];
        const all = states.map((state, index) => partition(`p${index}`, odd, state));
        await made(...all, partition('whole', held('', '')));
        expect((await partitionsNow()).toSorted((left, right) => (left.id < right.id ? -1 : 1))).toEqual([
          ...all,
          partition('whole', held('', '')),
        ]);
      });

      test('wait in rounds, in a round the oldest low watermark first, those of other generations aside', async () => {
        const at = (id: string, round: number, lowWatermark: bigint, others: Partial<HeldPartition> = {}) =>
          partition(id, held('a', 'b', [], lowWatermark, { round, ...others }));
        await made(
          ...[at('late', 2, 5n), at('ninth', 9, 1n), at('tenth', 10, 1n), at('old', 1, 99n), at('older', 1, 9n)],
          ...[at('other', 1, 1n, { generation: 2 }), at('eleventh', 1, EXACT, { generation: 11 })],
        );
        expect(await idsOf()).toEqual(['older', 'old', 'late', 'ninth', 'tenth']);
        expect(await idsOf(NOW, 2)).toEqual(['older', 'old']);
        expect(await idsOf(NOW, 9, 2)).toEqual(['other']);
        expect(await stores.slots.readTailRound(1, signal)).toBe(10);
        expect(await stores.slots.readTailRound(2, signal)).toBe(1);
        expect(await stores.slots.readTailRound(3, signal)).toBe(0);
      });

      test('that rest come in their turn once their time has come, and before it take nobody’s place', async () => {
        const resting = (id: string, notBefore: number, round: number) =>
          partition(id, held('a', 'b', [], 1n, { round }), { kind: 'resting', notBefore });
        await made(
          ...Array.from({ length: 5 }, (_, index) => resting(`rests-${index}`, NOW + 100, 1)),
          ...[
            partition('waits', held('a', 'b', [], 5n, { round: 2 })),
            resting('due', NOW, 3),
            resting('first', NOW - 9, 1),
          ],
        );
        expect(await idsOf(NOW, 3)).toEqual(['first', 'waits', 'due']);
        expect(await idsOf(NOW - 1, 3)).toEqual(['first', 'waits']);
        expect(await idsOf(NOW + 100, 20)).toHaveLength(8);
        expect(await stores.slots.readTailRound(1, signal)).toBe(2);
      });

      test('that wait, rest or are held are counted as open, and no others', async () => {
        await made(
          ...[partition('w', held('', 'b')), partition('r', held('b', 'c'), { kind: 'resting', notBefore: 1 })],
          ...[partition('h', held('c', 'd'), { kind: 'held', slot: 0, epoch: 1 })],
          ...[
            partition('d', held('d', ''), { kind: 'done', keptUntil: NOW }),
            partition('c', held('d', ''), { kind: 'completed' }),
          ],
        );
        expect(await stores.slots.countOpen(1, signal)).toBe(3);
        expect(await stores.coordinator.readDead(1, 2, signal)).toHaveLength(2);
      });

      test('are claimed under the version that was read: of two that claim one, the second changes nothing at all', async () => {
        await made(partition('p', held('a', 'b')), partition('q', held('b', 'c')));
        const seen = await waiting();
        const claim = (slot: number, ids: readonly string[]) => {
          const taken = seen.filter((each) => ids.includes(each.partition.id));
          const units = Object.fromEntries(taken.map((each) => [each.partition.id, heldOf(each.partition)]));
          const changes = taken.map(({ partition: of, version }) =>
            takePartition(of, heldOf(of), { slot, epoch: 1, version }),
          );
          return stores.slots.commit(
            { slot, version: undefined, value: { owner: `o${slot}`, epoch: 1, attempt: 1, units }, changes },
            signal,
          );
        };
        expect(await claim(0, ['p'])).toMatchObject({ kind: 'committed' });
        expect(await claim(1, ['p', 'q'])).toEqual({ kind: 'conflict' });
        expect(await idsOf()).toEqual(['q']);
        expect(await stores.slots.readSlot(1, signal)).toBeUndefined();
        expect((await stores.slots.readSlots(signal)).get(0)?.value.units).toEqual({ p: held('a', 'b') });
      });

      test('that changed their state are found by the new one alone', async () => {
        await made(partition('p', held('a', 'b')));
        const write = async (state: Partition['state']) =>
          commit({}, [{ kind: 'partition', partition: partition('p', odd, state), version: await versionOf('p') }]);
        await write({ kind: 'resting', notBefore: NOW + 1 });
        expect(await idsOf()).toEqual([]);
        expect(await idsOf(NOW + 1)).toEqual(['p']);
        await write({ kind: 'waiting', since: NOW });
        expect(await idsOf(NOW + 1)).toEqual(['p']);
        await write({ kind: 'done', keptUntil: NOW + 9 });
        expect(await idsOf(NOW + 1)).toEqual([]);
        expect(await stores.slots.countOpen(1, signal)).toBe(0);
        expect(await stores.coordinator.readDone(1, signal)).toEqual([
          partition('p', odd, { kind: 'done', keptUntil: NOW + 9 }),
        ]);
      });

      test('without a version are fenced by the slot, and found by their new state alone', async () => {
        await made(partition('p', held('a', 'b')));
        expect(
          await commit({}, [{ kind: 'partition', partition: partition('p', odd, { kind: 'done', keptUntil: NOW }) }]),
        ).toMatchObject({ kind: 'committed' });
        expect(await partitionsNow()).toEqual([]);
        expect(await idsOf()).toEqual([]);
      });

      test('that are made must not be there', async () => {
        await made(partition('p', held('a', 'b')));
        expect(await tick([{ kind: 'new-partition', partition: partition('p', odd) }])).toBe('conflict');
        expect(await partitionsNow()).toEqual([partition('p', held('a', 'b'))]);
      });

      test('of a run that is done are found until they have a time until which they are kept', async () => {
        await made(
          partition('p', held('a', 'b'), { kind: 'completed' }),
          partition('q', held('b', 'c'), { kind: 'completed' }),
        );
        const [first] = await stores.coordinator.readCompleted(1, 1, signal);
        const kept = { ...first!.value, state: { kind: 'completed', keptUntil: NOW } } as const;
        expect(await tick([{ kind: 'partition', partition: kept, version: first!.version }])).toBe('committed');
        expect(await stores.coordinator.readCompleted(1, 10, signal)).toHaveLength(1);
      });

      test('that are nobody’s go, and may be gone', async () => {
        await made(partition('p', held('a', 'b')));
        const gone: LedgerWrite[] = [
          { kind: 'partition-gone', id: 'p' },
          { kind: 'partition-gone', id: 'never' },
        ];
        expect(await tick(gone)).toBe('committed');
        expect(await partitionsNow()).toEqual([]);
      });
    });

    describe('a slot', () => {
      test('holds what it knows of a partition, exactly, and each commit depends on the last', async () => {
        expect(await commit({ p: odd, q: held('', '') }, [])).toMatchObject({ kind: 'committed' });
        const read = await stores.slots.readSlot(0, signal);
        expect(read?.value).toEqual({ owner: 'me', epoch: 1, attempt: 1, units: { p: odd, q: held('', '') } });
        expect((await ledger()).slots.get(0)?.value).toEqual(read?.value);
        await commit({}, []);
        expect(
          await stores.slots.commit({ slot: 0, version: read?.version, value: read!.value, changes: [] }, signal),
        ).toEqual({ kind: 'conflict' });
      });
    });

    describe('merges and what is missing', () => {
      const tokens = [token('a', 'b', 'ä'), token('b', 'c')];
      const one = merge(range('a', 'd'), tokens, EXACT, { round: 4, restarted: { how: 'tokenless', until: EXACT } });
      const gap = {
        id: missingId(1, odd.range, 'x'),
        generation: 1,
        range: odd.range,
        firstObserved: NOW,
        lowWatermark: EXACT,
      };
      const versions = async () => {
        const { merges, missing } = await ledger();
        return { merge: merges[0]!.version, missing: missing[0]!.version };
      };

      beforeEach(async () => {
        await tick([
          { kind: 'merge', merge: one, version: undefined },
          { kind: 'missing', missing: gap, version: undefined },
        ]);
      });

      test('are read as they were written, and by their generation', async () => {
        const { merges, missing } = await ledger();
        expect([merges[0]?.value, missing[0]?.value]).toEqual([one, gap]);
        expect((await stores.slots.readMerges([one.id, 'never'], signal)).get(one.id)?.value).toEqual(one);
        expect(await ledger(2)).toMatchObject({ merges: [], missing: [] });
      });

      test('that are new must not be there', async () => {
        expect(await commit({}, [{ kind: 'merge', merge: one, version: undefined }])).toEqual({ kind: 'conflict' });
        expect(await tick([{ kind: 'missing', missing: gap, version: undefined }])).toBe('conflict');
      });

      test('change and go only as they were read', async () => {
        const before = await versions();
        const changed = { ...one, tokens: [token('a', 'b')] };
        expect(await commit({}, [{ kind: 'merge', merge: changed, version: before.merge }])).toMatchObject({
          kind: 'committed',
        });
        expect((await ledger()).merges[0]?.value).toEqual({ ...changed });
        expect(await commit({}, [{ kind: 'merge-gone', id: one.id, version: before.merge }])).toEqual({
          kind: 'conflict',
        });
        const now = await versions();
        expect(
          await tick([
            { kind: 'merge-gone', id: one.id, version: now.merge },
            { kind: 'missing-gone', id: gap.id, version: now.missing },
          ]),
        ).toBe('committed');
        expect(await ledger()).toMatchObject({ merges: [], missing: [] });
      });

      test('of which one is not as it was read keep everything else of the commit from happening', async () => {
        const outcome = await commit({ p: odd }, [
          { kind: 'new-partition', partition: partition('p', odd) },
          { kind: 'merge-gone', id: one.id, version: '1.1000' },
          { kind: 'topology-moved' },
        ]);
        expect(outcome).toEqual({ kind: 'conflict' });
        expect(await partitionsNow()).toEqual([]);
        expect(await stores.coordinator.readTopology(signal)).toMatchObject({ number: 0 });
        expect(await stores.slots.readSlot(0, signal)).toBeUndefined();
      });
    });

    describe('the version of the topology', () => {
      test('grows by one with every commit that moves it, and closes do not wait for each other', async () => {
        await commit({}, [{ kind: 'topology-moved' }]);
        const between = await stores.coordinator.readTopology(signal);
        await commit({}, [{ kind: 'topology-moved' }, { kind: 'topology-moved' }]);
        expect(between.number).toBe(1);
        expect((await ledger()).topology.number).toBe(3);
      });

      test('as a coordinator read it holds back a commit once somebody has moved it', async () => {
        const never = await stores.coordinator.readTopology(signal);
        expect(await tick([{ kind: 'topology-moved-from', version: never.version }])).toBe('committed');
        expect(await tick([{ kind: 'topology-moved-from', version: never.version }])).toBe('conflict');
        const read = await stores.coordinator.readTopology(signal);
        await commit({}, [{ kind: 'topology-moved' }]);
        expect(await tick([{ kind: 'topology-moved-from', version: read.version }])).toBe('conflict');
        expect(await tick([{ kind: 'topology-moved-from', version: (await ledger()).topology.version }])).toBe(
          'committed',
        );
        expect((await stores.coordinator.readTopology(signal)).number).toBe(3);
      });
    });
  });
}
