import { describe, expect, test } from 'vitest';
import { mergeId } from '../../../../shared/change-stream/ledger/ids.ts';
import type { HeldPartition } from '../../../../shared/change-stream/ledger/partition.ts';
import {
  bytesOfPartition,
  endPartition,
  failPartition,
  giveBackTo,
  movePartition,
  movePartitions,
  type PartitionUpdate,
  returnPartition,
  takePartition,
} from '../../../../shared/change-stream/ledger/partition-updates.ts';
import { takeOver } from '../../../../shared/slots/lease.ts';
import type { Units } from '../../../../shared/slots/ports.ts';
import { merge, slotWith } from '../../../support/ledgers.ts';
import { held, partition, range, token } from '../../../support/partitions.ts';

const NOW = 1_000_000;
const half = (): number => 0.5;
const units: Units<HeldPartition> = { p: held('a', 'c', [token('a', 'c')], 100n, { round: 3 }), q: held('c', 'd') };
const next = { tokens: [token('a', 'c', 'next')], lowWatermark: 200n };
const editOf = (update: PartitionUpdate, of = units) => update.edit(of);

test('a partition that goes on moves in its slot alone', () => {
  expect(editOf(movePartition('p', next))).toEqual({
    units: { ...units, p: { ...units.p, position: next } },
    changes: [],
  });
});

test('many that go on move in one edit, and those that are not the slot’s are left out', () => {
  const edit = editOf(
    movePartitions(
      new Map([
        ['p', next],
        ['q', next],
        ['gone', next],
      ]),
    ),
  );
  expect(Object.keys(edit?.units ?? {})).toEqual(['p', 'q']);
  expect(edit?.units.q?.position).toEqual(next);
});

test.each([
  ['moves', movePartition('gone', next)],
  ['is given back', returnPartition('gone', next, 0, NOW)],
  ['fails', failPartition('gone', next, 'x', NOW, half)],
  [
    'is closed',
    endPartition('gone', { position: next, isEnd: false, successors: [] }, new Map(), {
      now: NOW,
      isBounded: false,
      keptMillis: 1,
    }),
  ],
])('of a partition that is not the slot’s any more nothing is written where it %s', (_, update) => {
  expect(editOf(update)).toBeUndefined();
});

describe('a partition that is given back', () => {
  test('goes behind all who wait, with its last position and no failure', () => {
    expect(editOf(returnPartition('p', next, 8, NOW))).toEqual({
      units: { q: units.q },
      changes: [
        {
          kind: 'partition',
          partition: { ...units.p, id: 'p', position: next, round: 9, state: { kind: 'waiting', since: NOW } },
        },
      ],
    });
  });

  test('goes behind its own round where nobody waits in a later one', () => {
    expect(editOf(returnPartition('p', undefined, 0, NOW))?.changes).toMatchObject([
      { partition: { round: 4, position: units.p?.position } },
    ]);
  });
});

describe('a partition that fails', () => {
  test.each([
    [0, 10_000],
    [1, 20_000],
    [20, 600_000],
  ])('after %i failures rests for %i ms or a little less, and takes nobody’s place in the queue', (failures, rest) => {
    const before = { p: held('a', 'c', [token('a', 'c')], 100n, { failures, round: 3 }) };
    const [change] = editOf(failPartition('p', undefined, 'why', NOW, half), before)?.changes ?? [];
    expect(change).toMatchObject({
      partition: { failures: failures + 1, problem: 'why', round: 4, state: { kind: 'resting' } },
    });
    const notBefore =
      change?.kind === 'partition' && change.partition.state.kind === 'resting' ? change.partition.state.notBefore : 0;
    expect(notBefore - NOW).toBeGreaterThanOrEqual(rest * 0.8);
    expect(notBefore - NOW).toBeLessThanOrEqual(rest * 1.2);
  });

  test('after it went on has failed once', () => {
    const before = { p: held('a', 'c', [token('a', 'c')], 100n, { failures: 7 }) };
    expect(editOf(failPartition('p', next, 'x'.repeat(5000), NOW, half), before)?.changes).toMatchObject([
      { partition: { failures: 1, position: next, problem: 'x'.repeat(1000) } },
    ]);
  });
});

describe('what a slot had', () => {
  test('that was given back with it has not failed, and goes behind all who wait', () => {
    expect(giveBackTo(() => 6)('p', held('a', 'c', [], 100n, { round: 3 }), NOW, 'released')).toMatchObject({
      partition: { failures: 0, round: 7, state: { kind: 'waiting', since: NOW } },
    });
  });

  test('that fell silent has failed once more, and waits at once in the round after its own', () => {
    const commit = takeOver(
      0,
      slotWith(4, units),
      'next',
      NOW,
      giveBackTo(() => 6),
    );
    expect(commit.changes).toMatchObject([
      { partition: { id: 'p', failures: 1, round: 4, state: { kind: 'waiting', since: NOW } } },
      { partition: { id: 'q', failures: 1, round: 2 } },
    ]);
  });
});

test('a partition that is taken is held by its slot and epoch, under the version in which it waited', () => {
  const waiting = partition('p', held('a', 'c'));
  expect(takePartition(waiting, held('a', 'c'), { slot: 2, epoch: 9, version: 'v' })).toEqual({
    kind: 'partition',
    partition: { ...held('a', 'c'), id: 'p', state: { kind: 'held', slot: 2, epoch: 9 } },
    version: 'v',
  });
});

describe('a partition that is closed', () => {
  const close = { position: next, isEnd: false, successors: [{ target: range('a', 'd'), token: token('a', 'c') }] };
  const options = { now: NOW, isBounded: false, keptMillis: 1 };

  test('leaves its slot in the commit that makes its child, and gives way where another parent was faster', () => {
    const parked = { value: merge(range('a', 'd'), [token('c', 'd')]), version: 'v3' };
    const update = endPartition('p', close, new Map([[mergeId(1, range('a', 'd')), parked]]), options);
    expect(update.isClaim).toBe(true);
    const edit = editOf(update);
    expect(Object.keys(edit?.units ?? {})).toEqual(['q']);
    expect(edit?.changes.map(({ kind }) => kind)).toEqual([
      'partition',
      'merge-gone',
      'new-partition',
      'topology-moved',
    ]);
  });

  test('with what cannot be throws, and the slot keeps it', () => {
    const wrong = { ...close, successors: [{ target: range('a', 'z'), token: token('a', 'z') }] };
    expect(() => editOf(endPartition('p', wrong, new Map(), options))).toThrow('lies outside');
  });
});

test('the bytes of a partition grow with its keys, its tokens and its problem', () => {
  const small = bytesOfPartition('p', held('a', 'c'));
  expect(bytesOfPartition('p', held('a'.repeat(4096), ''))).toBeGreaterThan(small + 4000);
  expect(bytesOfPartition('p', held('a', 'c', [token('a', 'c', 't'.repeat(1000))]))).toBeGreaterThan(small + 1000);
  expect(bytesOfPartition('p', held('a', 'c', [], 1n, { problem: 'x'.repeat(1000) }))).toBeGreaterThan(small + 1000);
});
