import { describe, expect, test } from 'vitest';
import type { Ledger } from '../../../../shared/change-stream/ledger/ledger.ts';
import { isOpen } from '../../../../shared/change-stream/ledger/partition.ts';
import { nanosOf } from '../../../../shared/change-stream/ledger/position-of.ts';
import {
  reconcile,
  type Reconciliation,
  type Scan,
  TOKEN_GRACE_MILLIS,
  TOKENLESS_GRACE_MILLIS,
} from '../../../../shared/change-stream/ledger/reconcile.ts';
import { formatRange, normaliseRange, type RowRange, WHOLE_TABLE } from '../../../../shared/model/row-range.ts';
import { applied, ledgerOf, merge, missing, slotWith } from '../../../support/ledgers.ts';
import { held, partition, range, token } from '../../../support/partitions.ts';

const NOW = Date.UTC(2026, 0, 8);
const START = 50n;
const scanOf = (ledger: Ledger, service: readonly RowRange[], others: Partial<Scan> = {}): Scan => ({
  ...{ generation: 1, ledger, service, done: [], startTime: START, now: NOW },
  ...others,
});
const look = (ledger: Ledger, service: readonly RowRange[], others: Partial<Scan> = {}): Reconciliation =>
  reconcile(scanOf(ledger, service, others));
const live = (start: string, end: string, lowWatermark = 100n) =>
  partition(`${start}-${end}`, held(start, end, [token(start, end)], lowWatermark));
const done = (start: string, end: string, lowWatermark: bigint) =>
  partition(`done-${start}-${end}-${lowWatermark}`, held(start, end, [], lowWatermark), {
    kind: 'done',
    keptUntil: NOW,
  });
const completed = (start: string, end: string) =>
  partition(`end-${start}-${end}`, held(start, end), { kind: 'completed' });
const recoveredIn = ({ recoveries }: Reconciliation) =>
  recoveries.map(({ how, partition: { range: of } }) => `${how} ${formatRange(of)}`);
const lost = (start: string, end: string, ageMillis: number, lowWatermark = 100n) =>
  missing(start, end, NOW - ageMillis, lowWatermark);

describe('no gap', () => {
  test('is seen where tiles cover the service, also over moved boundaries, and then nothing is written', () => {
    const ledger = ledgerOf({ partitions: [live('', 'b'), live('b', 'd'), live('d', '')] });
    expect(look(ledger, [range('', 'c'), range('c', '')])).toEqual({ recoveries: [], missing: [], writes: [] });
  });

  test('is seen where a completed range covers, beside one that is read; only the rest of it is missing', () => {
    const ledger = ledgerOf({ partitions: [completed('', 'b'), live('b', 'd')] });
    expect(look(ledger, [range('', 'd')]).missing).toEqual([]);
    expect(look(ledger, [WHOLE_TABLE]).missing).toMatchObject([{ range: range('d', '') }]);
  });

  test('is left of one that is covered again: its timer is forgotten', () => {
    const ledger = ledgerOf({ partitions: [live('', '')], missing: [lost('a', 'b', 60_000)] });
    expect(look(ledger, [WHOLE_TABLE]).writes.map(({ kind }) => kind)).toEqual(['missing-gone', 'topology-moved-from']);
  });
});

describe('the first look at a gap', () => {
  test('begins its timer with the least low watermark of the ledger, where nobody knows its own', () => {
    const ledger = ledgerOf({
      partitions: [live('', 'a', 300n), live('b', '', 200n)],
      merges: [merge(range('x', 'z'), [token('x', 'y')], 250n)],
    });
    expect(look(ledger, [WHOLE_TABLE]).missing).toMatchObject([
      { range: range('a', 'b'), firstObserved: NOW, lowWatermark: 200n },
    ]);
  });

  test('goes by what the slot of a held partition knows, not by its own older document', () => {
    const own = partition('p', held('', 'a', [], 100n), { kind: 'held', slot: 2, epoch: 5 });
    const slots = new Map([[2, slotWith(5, { p: held('', 'a', [], 400n) })]]);
    expect(look(ledgerOf({ partitions: [own], slots }), [WHOLE_TABLE]).missing[0]?.lowWatermark).toBe(400n);
  });

  test('begins with the start of the source in a ledger that is empty', () => {
    expect(look(ledgerOf({}), [WHOLE_TABLE]).missing[0]?.lowWatermark).toBe(START);
  });

  test('knows the exact position where the documents of those who read it last are kept', () => {
    const ledger = ledgerOf({ partitions: [live('', 'a', 200n), live('c', '', 200n)] });
    const kept = [done('a', 'b', 700n), done('b', 'c', 800n), done('', '', 150n)];
    expect(look(ledger, [WHOLE_TABLE], { done: kept }).missing[0]?.lowWatermark).toBe(700n);
  });

  test('takes the ledger for the keys of which no document is kept', () => {
    const ledger = ledgerOf({ partitions: [live('', 'a', 200n), live('c', '', 900n)] });
    expect(look(ledger, [WHOLE_TABLE], { done: [done('a', 'b', 700n)] }).missing[0]?.lowWatermark).toBe(200n);
  });

  test('is written with the version of the topology that was read, and with no other document', () => {
    expect(look(ledgerOf({ partitions: [live('', 'a')] }), [WHOLE_TABLE]).writes).toMatchObject([
      { kind: 'missing', version: undefined },
      { kind: 'topology-moved-from', version: 't7' },
    ]);
  });
});

describe('a gap of which the tokens wait', () => {
  const parked = [merge(range('a', 'd'), [token('b', 'c')], 80n), merge(range('b', 'e'), [token('c', 'd')], 90n)];
  const ledger = (age: number, merges = parked) =>
    ledgerOf({ partitions: [live('', 'b'), live('d', '')], merges, missing: [lost('b', 'd', age)] });
  const service = [range('', 'b'), range('b', 'd'), range('d', '')];

  test('is left alone one instant before two minutes, and recovered from them at two minutes', () => {
    expect(look(ledger(TOKEN_GRACE_MILLIS - 1), service)).toMatchObject({ recoveries: [], writes: [] });
    const at = look(ledger(TOKEN_GRACE_MILLIS), service);
    expect(recoveredIn(at)).toEqual(['tokens [b, d)']);
    expect(at.recoveries[0]?.partition).toMatchObject({
      position: { tokens: [token('b', 'c'), token('c', 'd')], lowWatermark: 80n },
      state: { kind: 'waiting', since: NOW },
    });
  });

  test('leaves the missing, and its tokens those that wait, in the same commit', () => {
    const kinds = look(ledger(TOKEN_GRACE_MILLIS), service).writes.map(({ kind }) => kind);
    expect(kinds).toEqual(['new-partition', 'merge-gone', 'merge-gone', 'missing-gone', 'topology-moved-from']);
  });

  test.each([
    ['that start late', [merge(range('a', 'd'), [token('bb', 'd')])]],
    ['that end early', [merge(range('a', 'd'), [token('b', 'cc')])]],
    ['that leave a hole', [merge(range('a', 'd'), [token('b', 'c'), token('cc', 'd')])]],
    ['of which one sticks out to the left', [merge(range('a', 'd'), [token('a', 'd')])]],
    ['of which one sticks out to the right', [merge(range('a', 'e'), [token('b', 'e')])]],
    ['of which two differ for one range', [merge(range('b', 'd'), [token('b', 'd', '1'), token('b', 'd', '2')])]],
  ])('is not recovered from tokens %s', (_, merges) => {
    expect(look(ledger(TOKENLESS_GRACE_MILLIS - 1, merges), service).recoveries).toEqual([]);
  });

  test('counts a token once that two merges offer, with the least low watermark of those that bring one', () => {
    const twice = [merge(range('a', 'd'), [token('b', 'd')], 80n), merge(range('b', 'e'), [token('b', 'd')], 70n)];
    const [recovery] = look(ledger(TOKEN_GRACE_MILLIS, twice), service).recoveries;
    expect(recovery?.partition.position).toEqual({ tokens: [token('b', 'd')], lowWatermark: 70n });
  });

  test('takes its tokens out of a merge that has others, which go on waiting', () => {
    const wide = [merge(range('b', 'g'), [token('b', 'd'), token('e', 'f')])];
    const writes = look(ledger(TOKEN_GRACE_MILLIS, wide), service).writes;
    expect(writes).toContainEqual({ kind: 'merge', version: 'v1', merge: { ...wide[0], tokens: [token('e', 'f')] } });
  });

  test('does not cover: a parent that is lost would keep its child waiting forever', () => {
    const fresh = ledgerOf({ partitions: [live('', 'b'), live('d', '')], merges: parked });
    expect(look(fresh, service).missing).toMatchObject([{ range: range('b', 'd'), firstObserved: NOW }]);
  });
});

describe('a gap that nothing explains', () => {
  const ledger = (age: number, low = 500n) =>
    ledgerOf({ partitions: [live('', 'b'), live('d', '')], missing: [lost('b', 'd', age, low)] });
  const service = [range('', 'b'), range('b', 'd'), range('d', '')];

  test('is left alone one instant before twenty minutes, and read from its low watermark at twenty minutes', () => {
    expect(look(ledger(TOKENLESS_GRACE_MILLIS - 1), service).recoveries).toEqual([]);
    const [recovery] = look(ledger(TOKENLESS_GRACE_MILLIS), service).recoveries;
    expect(recovery).toMatchObject({ how: 'tokenless', lost: 500n, isClamped: false });
    expect(recovery?.partition).toMatchObject({ range: range('b', 'd'), position: { tokens: [], lowWatermark: 500n } });
  });

  test('is read from what the service keeps where it is older than that, and both positions are told', () => {
    const retentionMillis = 24 * 3_600_000;
    const edge = nanosOf(NOW - retentionMillis + 60_000);
    const [recovery] = look(ledger(TOKENLESS_GRACE_MILLIS), service, { retentionMillis }).recoveries;
    expect(recovery).toMatchObject({ isClamped: true, lost: 500n });
    expect(recovery?.partition.position.lowWatermark).toBe(edge);
    const within = look(ledger(TOKENLESS_GRACE_MILLIS, edge), service, { retentionMillis }).recoveries[0];
    expect(within).toMatchObject({ isClamped: false, lost: edge });
  });

  test('says in its messages that they may come a second time, up to when it was seen to be lost', () => {
    const [recovery] = look(ledger(TOKENLESS_GRACE_MILLIS), service).recoveries;
    expect(recovery?.partition.restarted).toEqual({ how: 'tokenless', until: nanosOf(NOW - TOKENLESS_GRACE_MILLIS) });
  });

  test('takes back the tokens that wait for a part of it: they are never read a second time', () => {
    const parked = {
      ...ledger(TOKENLESS_GRACE_MILLIS),
      ...ledgerOf({ merges: [merge(range('a', 'd'), [token('c', 'd')])] }),
    };
    const both = { ...ledger(TOKENLESS_GRACE_MILLIS), merges: parked.merges };
    expect(look(both, service).writes.map(({ kind }) => kind)).toEqual([
      'new-partition',
      'merge-gone',
      'missing-gone',
      'topology-moved-from',
    ]);
  });

  test('keeps its timer where the service draws its boundaries anew, and so do both parts of it', () => {
    const redrawn = [range('', 'c'), range('c', '')];
    expect(recoveredIn(look(ledger(TOKENLESS_GRACE_MILLIS), redrawn))).toEqual([
      'tokenless [b, c)',
      'tokenless [c, d)',
    ]);
    const young = look(ledger(60_000), redrawn).missing.map(({ firstObserved }) => firstObserved);
    expect(young).toEqual([NOW - 60_000, NOW - 60_000]);
  });

  test('lends its timer to no other part that is missing beside it since later', () => {
    const wider = ledgerOf({
      partitions: [live('', 'b'), live('f', '')],
      missing: [lost('b', 'd', TOKENLESS_GRACE_MILLIS)],
    });
    const outcome = look(wider, [WHOLE_TABLE]);
    expect(recoveredIn(outcome)).toEqual(['tokenless [b, d)']);
    expect(outcome.missing).toMatchObject([{ range: range('d', 'f'), firstObserved: NOW }]);
  });

  test('is known by its oldest timer where several of its parts have one and tokens make up all of it', () => {
    const parts = ledgerOf({
      partitions: [live('', 'b'), live('d', '')],
      merges: [merge(range('a', 'd'), [token('b', 'd')])],
      missing: [lost('b', 'c', TOKEN_GRACE_MILLIS), lost('c', 'd', 10)],
    });
    expect(recoveredIn(look(parts, service))).toEqual(['tokens [b, d)']);
  });

  test('is only the uncovered rest of a partition of which a part is read', () => {
    const partial = ledgerOf({
      partitions: [live('', 'c'), live('d', '')],
      missing: [lost('c', 'd', TOKENLESS_GRACE_MILLIS)],
    });
    expect(recoveredIn(look(partial, [range('', 'b'), range('b', 'e'), range('e', '')]))).toEqual(['tokenless [c, d)']);
  });

  test('of a ledger in any order is found between two stretches that are read', () => {
    const unordered = ledgerOf({ partitions: [live('d', ''), live('', 'b'), live('c', 'd')] });
    expect(look(unordered, [WHOLE_TABLE]).missing).toMatchObject([{ range: range('b', 'c') }]);
  });
});

test('the first and the last partition of a table are known by what the service calls empty keys, once normalised', () => {
  const empty = { kind: 'closed', key: Buffer.alloc(0) } as const;
  const first = normaliseRange({ start: empty, end: { kind: 'open', key: Buffer.from('b') } });
  const last = normaliseRange({
    start: { kind: 'closed', key: Buffer.from('b') },
    end: { kind: 'open', key: Buffer.alloc(0) },
  });
  expect(look(ledgerOf({ partitions: [live('', 'b'), live('b', '')] }), [first, last]).missing).toEqual([]);
});

test('partitions whose renderings look alike stay apart', () => {
  const ledger = ledgerOf({ partitions: [live('', 'a, b')], missing: [lost('a, b', '', TOKENLESS_GRACE_MILLIS)] });
  expect(look(ledger, [range('', 'a, b'), range('a, b', '')]).recoveries).toHaveLength(1);
  const names = look(ledgerOf({}), [range('', 'a, b'), range('a, b', 'c'), range('c', '')]).missing.map(({ id }) => id);
  expect(new Set(names).size).toBe(3);
});

test('what is missing and what the service does not name this time stays missing, and is written once', () => {
  const ledger = ledgerOf({ partitions: [live('', 'b')], missing: [lost('b', '', 60_000)] });
  expect(look(ledger, [range('', 'b')])).toMatchObject({ missing: [{ range: range('b', '') }], writes: [] });
});

test('partitions of the service that overlap are recovered once', () => {
  const ledger = ledgerOf({ missing: [lost('', '', TOKENLESS_GRACE_MILLIS)] });
  expect(recoveredIn(look(ledger, [range('', 'c'), range('b', '')]))).toEqual(['tokenless (*, c)', 'tokenless [c, *)']);
});

test('a thousand gaps are seen a hundred at a time, so that each commit fits', () => {
  const keys = Array.from({ length: 2001 }, (_, index) => String(index).padStart(4, '0'));
  const partitions = keys.flatMap((start, index) => (index % 2 === 0 ? [live(start, keys[index + 1] ?? '')] : []));
  let ledger = ledgerOf({ partitions: [live('', '0000'), ...partitions] });
  for (let looks = 1; looks <= 10; looks += 1) {
    const outcome = look(ledger, [WHOLE_TABLE]);
    expect(outcome.writes.length).toBeLessThan(400);
    ledger = applied(ledger, outcome.writes);
    expect(ledger.missing).toHaveLength(100 * looks);
  }
  expect(look(ledger, [WHOLE_TABLE]).writes).toEqual([]);
});

test('what was recovered is no gap at the next look, and its name never was there', () => {
  let ledger = ledgerOf({ missing: [lost('', '', TOKENLESS_GRACE_MILLIS)] });
  ledger = applied(ledger, look(ledger, [WHOLE_TABLE]).writes);
  expect(look(ledger, [WHOLE_TABLE]).writes).toEqual([]);
  expect(ledger.partitions.filter(({ value }) => isOpen(value))).toHaveLength(1);
  const again = look({ ...ledgerOf({ missing: [lost('', '', TOKENLESS_GRACE_MILLIS)] }), topology: ledger.topology }, [
    WHOLE_TABLE,
  ]);
  expect(again.recoveries[0]?.partition.id).not.toBe(ledger.partitions[0]?.value.id);
});
