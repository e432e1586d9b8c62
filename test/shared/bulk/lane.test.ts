import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Lane, type LaneEntry, mergeEntries, type RowWrite } from '../../../shared/bulk/lane.ts';
import { MAX_MUTATIONS, type Mutation } from '../../../shared/model/mutation.ts';

interface TestEntry extends LaneEntry {
  readonly id: number;
  isAbandoned: boolean;
}

const DELETE: Mutation = { kind: 'deleteFromRow' };
const NO_LIMITS = { maxEntries: 1000, maxBytes: 1e9 };

function entry(id: number, row: string, { bytes = 10, mutations = 1 } = {}): TestEntry {
  const list = mutations === 1 ? [DELETE] : new Array<Mutation>(mutations).fill(DELETE);
  return { id, bytes, isAbandoned: false, entry: { rowKey: Buffer.from(row), mutations: list } };
}

const ids = (batch: readonly RowWrite<TestEntry>[]): number[][] => batch.map(({ parts }) => parts.map(({ id }) => id));

describe('a lane', () => {
  test('hands out waiting rows first come first, each row once, its records merged in order', () => {
    const lane = new Lane<TestEntry>();
    for (const [id, row] of ['a', 'b', 'a', 'c', 'a'].entries()) lane.add(entry(id, row));
    expect(ids(lane.take(NO_LIMITS))).toEqual([[0, 2, 4], [1], [3]]);
  });

  test('keeps a row back while a request holds it, and merges what arrives meanwhile', () => {
    const lane = new Lane<TestEntry>();
    lane.add(entry(0, 'a'));
    const [held] = lane.take(NO_LIMITS);
    lane.add(entry(1, 'a'));
    lane.add(entry(2, 'b'));
    lane.add(entry(3, 'a'));
    expect(ids(lane.take(NO_LIMITS))).toEqual([[2]]);
    lane.release(held!);
    expect(ids(lane.take(NO_LIMITS))).toEqual([[1, 3]]);
  });

  test('lets nothing of a row overtake a write that is retried', () => {
    const lane = new Lane<TestEntry>();
    lane.add(entry(0, 'a'));
    const [held] = lane.take(NO_LIMITS);
    lane.add(entry(1, 'a'));
    lane.add(entry(2, 'b'));
    lane.retry(held!, held!.parts);
    expect(ids(lane.take({ ...NO_LIMITS, maxEntries: 1 }))).toEqual([[0]]);
    expect(ids(lane.take(NO_LIMITS))).toEqual([[2]]);
  });

  test('ends a batch at the threshold of entries, and at that of bytes once it is reached', () => {
    const lane = new Lane<TestEntry>();
    for (let id = 0; id < 5; id += 1) lane.add(entry(id, `row-${id}`, { bytes: 60 }));
    expect(ids(lane.take({ maxEntries: 2, maxBytes: 1e9 }))).toEqual([[0], [1]]);
    expect(ids(lane.take({ maxEntries: 9, maxBytes: 100 }))).toEqual([[2], [3]]);
    expect(lane.readyBytes).toBe(60);
  });

  test('never fills a request beyond the mutations that the service takes, nor a merged write', () => {
    const lane = new Lane<TestEntry>();
    const half = MAX_MUTATIONS / 2;
    lane.add(entry(0, 'a', { mutations: half }));
    lane.add(entry(1, 'a', { mutations: half }));
    lane.add(entry(2, 'a', { mutations: 1 }));
    lane.add(entry(3, 'b', { mutations: 1 }));
    const first = lane.take(NO_LIMITS);
    expect(ids(first)).toEqual([[0, 1]]);
    expect(ids(lane.take(NO_LIMITS))).toEqual([[3]]);
    lane.release(first[0]!);
    expect(ids(lane.take(NO_LIMITS))).toEqual([[2]]);
  });

  test('leaves abandoned entries out, and a row that only they waited for is free', () => {
    const lane = new Lane<TestEntry>();
    const gone = entry(0, 'a');
    const goneBeside = entry(1, 'b');
    lane.add(gone);
    lane.add(goneBeside);
    lane.add(entry(2, 'b'));
    gone.isAbandoned = true;
    goneBeside.isAbandoned = true;
    const batch = lane.take(NO_LIMITS);
    expect(ids(batch)).toEqual([[2]]);
    lane.release(batch[0]!);
    expect(lane.isEmpty).toBe(true);
    expect(lane.readyBytes).toBe(0);
  });

  test('merges mutations in the order of the entries', () => {
    const set = (value: string): Mutation => ({
      kind: 'setCell',
      family: 'f',
      qualifier: Buffer.alloc(0),
      timestampMicros: 0n,
      value: Buffer.from(value),
    });
    const parts = ['1', '2', '3'].map((value, id) => ({
      ...entry(id, 'a'),
      entry: { rowKey: Buffer.from('a'), mutations: [set(value), DELETE] },
    }));
    expect(mergeEntries(parts).mutations).toEqual([set('1'), DELETE, set('2'), DELETE, set('3'), DELETE]);
  });
});

/** Whatever is added, taken, released, retried and abandoned: see the assertions. */
test('under any schedule a row is held once at a time, its records leave in order, and nothing is lost or doubled', () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('add' as const), row: fc.constantFrom('a', 'b', 'c', 'd') }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('take' as const), entries: fc.integer({ min: 1, max: 4 }) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('release' as const, 'retry' as const), which: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('abandon' as const), which: fc.nat() }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const lane = new Lane<TestEntry>();
      const all: TestEntry[] = [];
      const held: RowWrite<TestEntry>[] = [];
      const left = new Map<string, number[]>();
      const take = (maxEntries: number): void => {
        const batch = lane.take({ maxEntries, maxBytes: 1e9 });
        expect(batch.length).toBeLessThanOrEqual(maxEntries);
        for (const write of batch) {
          expect(held.map(({ row }) => row)).not.toContain(write.row);
          expect(write.parts.length).toBeGreaterThan(0);
          held.push(write);
        }
      };
      const release = (index: number): void => {
        const [write] = held.splice(index, 1);
        left.set(write!.row, [...(left.get(write!.row) ?? []), ...write!.parts.map(({ id }) => id)]);
        lane.release(write!);
      };
      for (const one of steps) {
        if (one.do === 'add') {
          const added = entry(all.length, one.row);
          all.push(added);
          lane.add(added);
        } else if (one.do === 'take') take(one.entries);
        else if (one.do === 'abandon') {
          const waiting = all[one.which % Math.max(1, all.length)];
          if (waiting && !held.some(({ parts }) => parts.includes(waiting))) waiting.isAbandoned = true;
        } else if (held.length > 0) {
          const index = one.which % held.length;
          if (one.do === 'release') release(index);
          else {
            const [write] = held.splice(index, 1);
            lane.retry(write!, write!.parts);
          }
        }
      }
      while (!lane.isEmpty) {
        take(3);
        while (held.length > 0) release(0);
      }
      expect(lane.readyBytes).toBe(0);
      expect(lane.readyWrites).toBe(0);
      for (const row of left.values()) expect(row).toEqual(row.toSorted((x, y) => x - y));
      const out = [...left.values()].flat();
      expect(new Set(out).size).toBe(out.length);
      const missing = all.filter(({ id }) => !out.includes(id));
      expect(missing.every(({ isAbandoned }) => isAbandoned)).toBe(true);
    }),
    { numRuns: 1500 },
  );
});
