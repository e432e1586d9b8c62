import { describe, expect, test } from 'vitest';
import { isReadToEnd, lowWatermarkOf } from '../../../../shared/change-stream/ledger/ledger.ts';
import { heldOf, isPartitionRange, movedTo } from '../../../../shared/change-stream/ledger/partition.ts';
import { positionOf } from '../../../../shared/change-stream/ledger/position-of.ts';
import { changedEndProblem } from '../../../../shared/change-stream/ledger/changed-end.ts';
import { ledgerOf, merge, missing, slotWith } from '../../../support/ledgers.ts';
import { held, partition, range, token } from '../../../support/partitions.ts';

const inSlot = partition('p', held('', 'b', [], 100n), { kind: 'held', slot: 3, epoch: 4 });
const slotAt = (epoch: number, lowWatermark: bigint) =>
  new Map([[3, slotWith(epoch, { p: held('', 'b', [], lowWatermark) })]]);

describe('the position of a partition', () => {
  test('is that of its slot while the slot has it', () => {
    expect(positionOf(inSlot, slotAt(4, 900n)).lowWatermark).toBe(900n);
  });

  test.each([
    ['was taken over since', slotAt(5, 900n)],
    ['has lost it', new Map([[3, slotWith(4, {})]])],
    ['was not read', new Map()],
  ])('is that of its own document where the slot %s: an older one, never one that is too far', (_, slots) => {
    expect(positionOf(inSlot, slots).lowWatermark).toBe(100n);
  });

  test('is that of its own document where it waits, whatever a slot still says of it', () => {
    expect(positionOf({ ...inSlot, state: { kind: 'waiting', since: 0 } }, slotAt(4, 900n)).lowWatermark).toBe(100n);
  });
});

describe('the low watermark of the whole source', () => {
  const waiting = partition('w', held('b', 'd', [], 500n));
  const resting = partition('r', held('d', 'f', [], 400n), { kind: 'resting', notBefore: 9 });
  const parts = { merges: [merge(range('f', 'h'), [token('f', 'g')], 300n)], missing: [missing('g', '', 0, 200n)] };
  const whole = ledgerOf({ partitions: [inSlot, waiting, resting], ...parts, slots: slotAt(4, 900n) });

  test('is the least of what waits, rests, is held, is parked and is missing', () => {
    expect(lowWatermarkOf(whole)).toBe(200n);
    expect(
      lowWatermarkOf({
        ...whole,
        missing: [],
        partitions: [
          ...whole.partitions,
          ...ledgerOf({ partitions: [partition('x', held('g', '', [], 1000n))] }).partitions,
        ],
      }),
    ).toBe(300n);
  });

  test('is not told where what was read does not make up the key space', () => {
    expect(lowWatermarkOf({ ...whole, missing: [] })).toBeUndefined();
    expect(lowWatermarkOf(ledgerOf({}))).toBeUndefined();
  });

  test('is that of the finished partitions once nothing is left to be read', () => {
    const end = (start: string, stop: string, low: bigint) =>
      partition(start, held(start, stop, [], low), { kind: 'completed' });
    const ended = ledgerOf({ partitions: [end('', 'm', 70n), end('m', '', 80n)] });
    expect(lowWatermarkOf(ended)).toBe(70n);
    expect(isReadToEnd(ended)).toBe(true);
  });
});

describe('a bounded run is read to its end', () => {
  const all = partition('c', held('', ''), { kind: 'completed' });

  test.each([
    ['waits', { partitions: [all, partition('w', held('a', 'b'))] }],
    ['rests', { partitions: [all, partition('w', held('a', 'b'), { kind: 'resting', notBefore: 0 })] }],
    ['is held', { partitions: [all, partition('w', held('a', 'b'), { kind: 'held', slot: 0, epoch: 1 })] }],
    ['is parked', { partitions: [all], merges: [merge(range('a', 'b'), [token('a', 'b')])] }],
    ['is missing', { partitions: [all], missing: [missing('a', 'b', 0)] }],
    ['is not there at all', { partitions: [partition('c', held('', 'm'), { kind: 'completed' })] }],
  ])('not while something %s', (_, parts) => {
    expect(isReadToEnd(ledgerOf(parts))).toBe(false);
  });

  test('once everything is completed, whatever documents of finished parents are kept', () => {
    expect(
      isReadToEnd(ledgerOf({ partitions: [all, partition('d', held('', ''), { kind: 'done', keptUntil: 9 })] })),
    ).toBe(true);
  });
});

describe('a partition that went on', () => {
  const before = held('a', 'c', [token('a', 'c', '1')], 100n, {
    failures: 4,
    problem: 'x',
    restarted: { how: 'tokenless', until: 150n },
  });

  test('has no failures any more, and its restart shows until it was passed', () => {
    const next = movedTo(before, { tokens: [token('a', 'c', '2')], lowWatermark: 150n });
    expect(next).toMatchObject({ failures: 0, restarted: { until: 150n } });
    expect(next).not.toHaveProperty('problem');
    expect(movedTo(next, { tokens: [token('a', 'c', '3')], lowWatermark: 151n })).not.toHaveProperty('restarted');
  });

  test('never has a lower low watermark than before', () => {
    expect(movedTo(before, { tokens: [token('a', 'c', '2')], lowWatermark: 90n }).position).toEqual({
      tokens: [token('a', 'c', '2')],
      lowWatermark: 100n,
    });
  });

  test('and did not, keeps its failures', () => {
    expect(movedTo(before, before.position)).toBe(before);
  });
});

test('what a slot knows of a partition has nothing of its document beside', () => {
  expect(heldOf({ ...held('a', 'b'), id: 'x', state: { kind: 'waiting', since: 0 } })).toEqual(held('a', 'b'));
});

test('a range that leaves out its start or holds its end is no partition', () => {
  const key = Buffer.from('k');
  expect(isPartitionRange({ start: { kind: 'open', key }, end: { kind: 'unbounded' } })).toBe(false);
  expect(isPartitionRange({ start: { kind: 'unbounded' }, end: { kind: 'closed', key } })).toBe(false);
  expect(isPartitionRange(range('', ''))).toBe(true);
});

test('another end of a run that was started is refused', () => {
  expect(changedEndProblem(1n, undefined)).toContain('to none, and what was read to the old one would not be read on');
  expect(changedEndProblem(undefined, 1n)).toContain('from none');
  expect(changedEndProblem(1n, 1n)).toBeUndefined();
});
