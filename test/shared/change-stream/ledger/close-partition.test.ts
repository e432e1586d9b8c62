import { describe, expect, test } from 'vitest';
import {
  type ClosedPartition,
  closePartition,
  mergesOf,
  type PartitionClose,
  type Successor,
} from '../../../../shared/change-stream/ledger/close-partition.ts';
import { mergeId, partitionId } from '../../../../shared/change-stream/ledger/ids.ts';
import type { HeldPartition, Merge, Position } from '../../../../shared/change-stream/ledger/partition.ts';
import type { CloseWrite } from '../../../../shared/change-stream/ledger/writes.ts';
import { formatRange } from '../../../../shared/model/row-range.ts';
import type { Versioned } from '../../../../shared/model/store.ts';
import { held, range, token } from '../../../support/partitions.ts';

const NOW = 1_000_000;
const options = { now: NOW, isBounded: false, keptMillis: 5_000 };
const at = (lowWatermark: bigint, text = 'last'): Position => ({ tokens: [token('a', 'c', text)], lowWatermark });
const to = (target: [string, string], part = target, text?: string): Successor => ({
  target: range(...target),
  token: token(...part, text),
});
const closing = (successors: Successor[], position = at(200n)): PartitionClose => ({
  position,
  isEnd: false,
  successors,
});
const close = (
  of: HeldPartition,
  successors: Successor[],
  merges: ReadonlyMap<string, Versioned<Merge>> = new Map(),
  position?: Position,
): ClosedPartition => closePartition('parent', of, closing(successors, position), merges, options);

const written = (closed: ClosedPartition): readonly CloseWrite[] => {
  if (closed.kind === 'refused') throw new Error(closed.problem);
  return closed.writes;
};
const kinds = (closed: ClosedPartition): string[] => written(closed).map(({ kind }) => kind);
const childrenOf = (closed: ClosedPartition) => (closed.kind === 'done' ? closed.children : []);
const mergesIn = (closed: ClosedPartition): ReadonlyMap<string, Versioned<Merge>> =>
  new Map(
    written(closed).flatMap((write) =>
      write.kind === 'merge' ? [[write.merge.id, { value: write.merge, version: 'v1' }]] : [],
    ),
  );

describe('a split', () => {
  const closed = close(held('a', 'c', [token('a', 'c')], 100n, { round: 7, failures: 2, problem: 'x' }), [
    to(['a', 'b']),
    to(['b', 'c']),
  ]);

  test('makes every child at once, each with its own token, in the commit that ends the parent', () => {
    expect(kinds(closed)).toEqual(['partition', 'new-partition', 'new-partition', 'topology-moved']);
    expect(childrenOf(closed).map(({ range: of, position }) => [formatRange(of), position.tokens])).toEqual([
      ['[a, b)', [token('a', 'b')]],
      ['[b, c)', [token('b', 'c')]],
    ]);
    expect(closed).toMatchObject({ kind: 'done', discovered: 2 });
  });

  test('gives a child the round and the low watermark of its parent, and none of its failures', () => {
    const [child] = childrenOf(closed);
    expect(child).toMatchObject({ round: 7, failures: 0, state: { kind: 'waiting', since: NOW } });
    expect(child?.position.lowWatermark).toBe(200n);
    expect(child).not.toHaveProperty('problem');
  });

  test('keeps the document of the parent, with its last position, until the retention and a day are over', () => {
    expect(written(closed)[0]).toMatchObject({
      partition: { id: 'parent', position: at(200n), state: { kind: 'done', keptUntil: NOW + 5_000 } },
    });
  });
});

test('a move is a child of one token', () => {
  expect(childrenOf(close(held('a', 'c'), [to(['a', 'c'])]))).toHaveLength(1);
});

test('a partition that moves twice before anything changes in it has a child with a name of its own each time', () => {
  const position = { tokens: [token('a', 'c', 't')], lowWatermark: 100n };
  const [first] = childrenOf(
    closePartition('p0', held('a', 'c'), closing([to(['a', 'c'], ['a', 'c'], 't')], position), new Map(), options),
  );
  const [second] = childrenOf(
    closePartition(
      first?.id ?? '',
      held('a', 'c'),
      closing([to(['a', 'c'], ['a', 'c'], 't')], position),
      new Map(),
      options,
    ),
  );
  expect(first?.id).not.toBe(second?.id);
  expect(first?.id).toBe(partitionId(1, range('a', 'c'), [token('a', 'c', 't')], 'p0'));
});

test('a close that is decided twice names the same documents', () => {
  const successors = [to(['a', 'b']), to(['b', 'd'], ['b', 'c'])];
  expect(close(held('a', 'c'), successors)).toEqual(close(held('a', 'c'), successors));
});

describe('a merge', () => {
  const left = close(held('a', 'b', [], 100n, { round: 5 }), [to(['a', 'c'], ['a', 'b'])], new Map(), at(300n));
  const right = closePartition(
    'other',
    held('b', 'c', [], 100n, { round: 3 }),
    closing([to(['a', 'c'], ['b', 'c'])], at(200n)),
    mergesIn(left),
    options,
  );

  test('waits for every parent: the token of the first one is parked', () => {
    expect(kinds(left)).toEqual(['partition', 'merge', 'topology-moved']);
    expect(childrenOf(left)).toEqual([]);
    expect(written(left)[1]).toMatchObject({
      version: undefined,
      merge: { id: mergeId(1, range('a', 'c')), round: 5 },
    });
  });

  test('is made by the last one, with all tokens in their order and the least low watermark', () => {
    expect(kinds(right)).toEqual(['partition', 'merge-gone', 'new-partition', 'topology-moved']);
    expect(childrenOf(right)[0]).toMatchObject({
      position: { tokens: [token('a', 'b'), token('b', 'c')], lowWatermark: 200n },
      round: 3,
    });
    expect(written(right)[1]).toMatchObject({ version: 'v1' });
  });

  test('of which a parent tells a token that is there already takes the lower watermark all the same', () => {
    const again = close(held('a', 'b'), [to(['a', 'c'], ['a', 'b'])], mergesIn(left), at(150n));
    expect(written(again)[1]).toMatchObject({ kind: 'merge', version: 'v1', merge: { lowWatermark: 150n } });
  });

  test('is asked for by the names of its targets, each once', () => {
    const targets = [to(['a', 'c'], ['a', 'b']), to(['a', 'c'], ['a', 'b']), to(['c', 'd'])];
    expect(mergesOf(1, targets)).toEqual([mergeId(1, range('a', 'c')), mergeId(1, range('c', 'd'))]);
  });
});

test('a new split over moved boundaries parks what another parent is still to bring, on both sides', () => {
  const first = close(held('b', 'd'), [to(['a', 'c'], ['b', 'c']), to(['c', 'e'], ['c', 'd'])]);
  expect(kinds(first)).toEqual(['partition', 'merge', 'merge', 'topology-moved']);
  const second = closePartition(
    'left',
    held('a', 'b'),
    closing([to(['a', 'c'], ['a', 'b'])]),
    mergesIn(first),
    options,
  );
  expect(childrenOf(second).map(({ range: of }) => formatRange(of))).toEqual(['[a, c)']);
});

test('parents of whom one brings what overlaps never make a child', () => {
  const first = close(held('a', 'c'), [to(['a', 'd'], ['a', 'c'])]);
  const second = closePartition(
    'other',
    held('b', 'd'),
    closing([to(['a', 'd'], ['b', 'd'])]),
    mergesIn(first),
    options,
  );
  expect(kinds(second)).toEqual(['partition', 'merge', 'topology-moved']);
});

describe('a close without successors', () => {
  test('at the end of a bounded run completes the partition, which moves no topology', () => {
    const end = { position: at(500n), isEnd: true, successors: [] };
    const closed = closePartition('p', held('a', 'c'), end, new Map(), { ...options, isBounded: true });
    expect(closed.kind).toBe('completed');
    expect(written(closed)).toMatchObject([
      { kind: 'partition', partition: { position: at(500n), state: { kind: 'completed' } } },
    ]);
    expect(written(closed)[0]).not.toHaveProperty('partition.state.keptUntil');
  });

  test.each([
    ['that goes on', false, true],
    ['that goes on, whatever its status', false, false],
    ['with an end that it has not reached', true, false],
  ])('of a run %s gives it back with its last token, behind those who wait', (_, isBounded, isEnd) => {
    const end = { position: at(500n), isEnd, successors: [] };
    const closed = closePartition('p', held('a', 'c', [], 100n, { round: 4 }), end, new Map(), {
      ...options,
      isBounded,
    });
    expect(closed.kind).toBe('given-back');
    expect(written(closed)).toMatchObject([
      {
        kind: 'partition',
        partition: { id: 'p', position: at(500n), round: 5, state: { kind: 'waiting', since: NOW } },
      },
    ]);
  });
});

describe('what the service cannot mean', () => {
  test.each([
    ['a token that sticks out of the partition', [to(['a', 'd'])], 'lies outside'],
    ['two tokens that overlap', [to(['a', 'b'], ['a', 'b']), to(['a', 'c'], ['a', 'c'])], 'overlap'],
    ['two tokens of one range', [to(['a', 'c'], ['a', 'c'], '1'), to(['a', 'c'], ['a', 'c'], '2')], 'overlap'],
  ])('%s is refused by its ranges: a key would be read twice', (_, successors, words) => {
    const closed = close(held('a', 'c'), successors);
    expect(closed).toMatchObject({ kind: 'refused' });
    expect(closed.kind === 'refused' && closed.problem).toContain(words);
  });

  test('one successor that is named twice counts once', () => {
    expect(childrenOf(close(held('a', 'c'), [to(['a', 'c']), to(['a', 'c'])]))).toHaveLength(1);
  });
});

test('a part for which no token came is missing from that commit on, with the position at which it was lost', () => {
  const closed = close(held('a', 'd'), [to(['a', 'b']), to(['c', 'd'])], new Map(), at(250n));
  const missing = written(closed).flatMap((write) => (write.kind === 'missing' ? [write.missing] : []));
  expect(missing).toMatchObject([{ range: range('b', 'c'), firstObserved: NOW, lowWatermark: 250n }]);
});

test('what a partition gives after a restart says so in its child too, until that has passed it', () => {
  const restarted = { how: 'tokenless', until: 900n } as const;
  const first = close(held('a', 'b', [], 100n, { restarted }), [to(['a', 'c'], ['a', 'b'])]);
  const child = closePartition('o', held('b', 'c'), closing([to(['a', 'c'], ['b', 'c'])]), mergesIn(first), options);
  expect(childrenOf(child)[0]).toMatchObject({ restarted });
  const passed = close(held('a', 'c', [], 100n, { restarted }), [to(['a', 'c'])], new Map(), at(901n));
  expect(childrenOf(passed)[0]).not.toHaveProperty('restarted');
});
