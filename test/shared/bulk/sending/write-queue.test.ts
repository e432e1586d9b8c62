import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mergeEntries, type RowWrite, WriteQueue } from '../../../../shared/bulk/sending/write-queue.ts';
import { WaitingEntry } from '../../../../shared/bulk/waiting/waiting-entry.ts';
import { MAX_MUTATIONS, type Mutation } from '../../../../shared/model/mutation.ts';

const DELETE: Mutation = { kind: 'deleteFromRow' };
const NO_LIMITS = { maxEntries: 1000, maxBytes: 1e9 };

const idOf = new WeakMap<WaitingEntry, number>();

function entry(id: number, row: string, { bytes = 10, mutations = 1 } = {}): WaitingEntry {
  const list = mutations === 1 ? [DELETE] : new Array<Mutation>(mutations).fill(DELETE);
  const made = new WaitingEntry({ rowKey: Buffer.from(row), mutations: list }, bytes, new Set(), () => undefined);
  idOf.set(made, id);
  return made;
}

const partsOf = ({ parts }: RowWrite): number[] => parts.map((part) => idOf.get(part)!);
const ids = (batch: readonly RowWrite[]): number[][] => batch.map(partsOf);

describe('a queue of writes', () => {
  test('hands out waiting rows first come first, each row once, its records merged in order', () => {
    const queue = new WriteQueue();
    for (const [id, row] of ['a', 'b', 'a', 'c', 'a'].entries()) queue.add(entry(id, row));
    expect(ids(queue.take(NO_LIMITS))).toEqual([[0, 2, 4], [1], [3]]);
  });

  test('keeps a row back while a request holds it, and merges what arrives meanwhile', () => {
    const queue = new WriteQueue();
    queue.add(entry(0, 'a'));
    const [held] = queue.take(NO_LIMITS);
    queue.add(entry(1, 'a'));
    queue.add(entry(2, 'b'));
    queue.add(entry(3, 'a'));
    expect(ids(queue.take(NO_LIMITS))).toEqual([[2]]);
    queue.release(held!);
    expect(ids(queue.take(NO_LIMITS))).toEqual([[1, 3]]);
  });

  test('lets nothing of a row overtake a write that is retried', () => {
    const queue = new WriteQueue();
    queue.add(entry(0, 'a'));
    const [held] = queue.take(NO_LIMITS);
    queue.add(entry(1, 'a'));
    queue.add(entry(2, 'b'));
    queue.retry(held!, held!.parts);
    expect(ids(queue.take({ ...NO_LIMITS, maxEntries: 1 }))).toEqual([[0]]);
    expect(ids(queue.take(NO_LIMITS))).toEqual([[2]]);
  });

  test('ends a batch at the threshold of entries, and at that of bytes once it is reached', () => {
    const queue = new WriteQueue();
    for (let id = 0; id < 5; id += 1) queue.add(entry(id, `row-${id}`, { bytes: 60 }));
    expect(ids(queue.take({ maxEntries: 2, maxBytes: 1e9 }))).toEqual([[0], [1]]);
    expect(ids(queue.take({ maxEntries: 9, maxBytes: 100 }))).toEqual([[2], [3]]);
    expect(queue.readyBytes).toBe(60);
  });

  test('never fills a request beyond the mutations that the service takes, nor a merged write', () => {
    const queue = new WriteQueue();
    const half = MAX_MUTATIONS / 2;
    queue.add(entry(0, 'a', { mutations: half }));
    queue.add(entry(1, 'a', { mutations: half }));
    queue.add(entry(2, 'a', { mutations: 1 }));
    queue.add(entry(3, 'b', { mutations: 1 }));
    const first = queue.take(NO_LIMITS);
    expect(ids(first)).toEqual([[0, 1]]);
    expect(ids(queue.take(NO_LIMITS))).toEqual([[3]]);
    queue.release(first[0]!);
    expect(ids(queue.take(NO_LIMITS))).toEqual([[2]]);
  });

  test('leaves abandoned entries out, and a row that only they waited for is free', () => {
    const queue = new WriteQueue();
    const gone = entry(0, 'a');
    const goneBeside = entry(1, 'b');
    queue.add(gone);
    queue.add(goneBeside);
    queue.add(entry(2, 'b'));
    gone.isAbandoned = true;
    goneBeside.isAbandoned = true;
    const batch = queue.take(NO_LIMITS);
    expect(ids(batch)).toEqual([[2]]);
    queue.release(batch[0]!);
    expect(queue.isEmpty).toBe(true);
    expect(queue.readyBytes).toBe(0);
  });

  test('merges mutations in the order of the entries', () => {
    const set = (value: string): Mutation => ({
      kind: 'setCell',
      family: 'f',
      qualifier: Buffer.alloc(0),
      timestampMicros: 0n,
      value: Buffer.from(value),
    });
    const parts = ['1', '2', '3'].map((value) => ({
      bytes: 10,
      entry: { rowKey: Buffer.from('a'), mutations: [set(value), DELETE] },
    }));
    expect(mergeEntries(parts).mutations).toEqual([set('1'), DELETE, set('2'), DELETE, set('3'), DELETE]);
  });
});

test('under any schedule a row is held once at a time, its records leave in order, and nothing is lost or doubled', () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('add' as const), row: fc.constantFrom('a', 'b', 'c', 'd') }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('take' as const), entries: fc.integer({ min: 1, max: 4 }) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('release' as const, 'retry' as const), which: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('abandon' as const), which: fc.nat() }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const queue = new WriteQueue();
      const all: WaitingEntry[] = [];
      const held: RowWrite[] = [];
      const left = new Map<string, number[]>();
      const take = (maxEntries: number): void => {
        const batch = queue.take({ maxEntries, maxBytes: 1e9 });
        expect(batch.length).toBeLessThanOrEqual(maxEntries);
        for (const write of batch) {
          expect(held.map(({ row }) => row)).not.toContain(write.row);
          expect(write.parts.length).toBeGreaterThan(0);
          held.push(write);
        }
      };
      const release = (index: number): void => {
        const [write] = held.splice(index, 1);
        left.set(write!.row, [...(left.get(write!.row) ?? []), ...partsOf(write!)]);
        queue.release(write!);
      };
      for (const one of steps) {
        if (one.do === 'add') {
          const added = entry(all.length, one.row);
          all.push(added);
          queue.add(added);
        } else if (one.do === 'take') take(one.entries);
        else if (one.do === 'abandon') {
          const waiting = all[one.which % Math.max(1, all.length)];
          if (waiting && !held.some(({ parts }) => parts.includes(waiting))) waiting.isAbandoned = true;
        } else if (held.length > 0) {
          const index = one.which % held.length;
          if (one.do === 'release') release(index);
          else {
            const [write] = held.splice(index, 1);
            queue.retry(write!, write!.parts);
          }
        }
      }
      while (!queue.isEmpty) {
        take(3);
        while (held.length > 0) release(0);
      }
      expect(queue.readyBytes).toBe(0);
      expect(queue.readyWrites).toBe(0);
      for (const row of left.values()) expect(row).toEqual(row.toSorted((x, y) => x - y));
      const out = [...left.values()].flat();
      expect(new Set(out).size).toBe(out.length);
      const missing = all.filter((_, id) => !out.includes(id));
      expect(missing.every(({ isAbandoned }) => isAbandoned)).toBe(true);
    }),
    { numRuns: 1500 },
  );
});
