import { describe, expect, test } from 'vitest';
import { nanosOf } from '../../../shared/change-stream/ledger/position-of.ts';
import type { Source } from '../../../shared/change-stream/source.ts';
import { overviewOf } from '../../../shared/change-stream/source-status.ts';
import { ledgerOf, merge, missing, slotWith } from '../../support/ledgers.ts';
import { held, partition, range, token } from '../../support/partitions.ts';

const NOW = 1_000_000;

const ago = (millis: number): bigint => nanosOf(NOW - millis);

const SOURCE: Source = {
  ...{ commits: 3, status: 'reading', generation: 1, options: '{}', startTime: 1n, dead: [] },
  retention: { millis: 600_000, fetchedAt: 0 },
};

const LEDGER = ledgerOf({
  partitions: [
    partition('waits', held('', 'b', [], ago(9_000))),
    partition('moved', held('b', 'd', [], ago(80_000)), { kind: 'held', slot: 0, epoch: 2 }),
    partition('stale', held('d', 'f', [], ago(70_000)), { kind: 'held', slot: 0, epoch: 1 }),
    partition('rests', held('f', 'h', [], ago(30_000), { failures: 2, problem: 'no' }), {
      ...{ kind: 'resting', notBefore: NOW + 5_000 },
    }),
    partition('ended', held('h', 'k', [], ago(0)), { kind: 'completed' }),
  ],
  merges: [merge(range('k', 'p'), [token('k', 'm')], ago(20_000))],
  missing: [missing('m', '', NOW - 60_000, ago(100_000))],
  slots: new Map([[0, slotWith(2, { moved: held('b', 'd', [], ago(4_000)), stale: held('d', 'f', [], ago(1_000)) })]]),
});

describe('an overview', () => {
  test('sets the partition that lags most first, each by the position of its slot where epochs agree', () => {
    const { partitions } = overviewOf(SOURCE, LEDGER, NOW);
    expect(partitions.map(({ id, lagMillis }) => [id, lagMillis])).toEqual([
      ['stale', 70_000],
      ['rests', 30_000],
      ['waits', 9_000],
      ['moved', 4_000],
    ]);
  });

  test('tells the state of a partition, its slot, its rest, its headroom, its failures and its problem', () => {
    const { partitions } = overviewOf(SOURCE, LEDGER, NOW);
    expect(partitions.find(({ id }) => id === 'moved')).toMatchObject({
      state: 'held',
      slot: 0,
      headroomMillis: 596_000,
    });
    expect(partitions.find(({ id }) => id === 'rests')).toMatchObject({
      ...{ state: 'resting', restMillis: 5_000, failures: 2, problem: 'no' },
    });
  });

  test('has the least low watermark of all that waits, is held, parked and missing', () => {
    expect(overviewOf(SOURCE, LEDGER, NOW)).toMatchObject({
      ...{ lowWatermark: ago(100_000), lagMillis: 100_000, headroomMillis: 500_000, completed: 1 },
    });
  });

  test('tells no low watermark where what was read does not make up the table', () => {
    const overview = overviewOf(SOURCE, { ...LEDGER, missing: [] }, NOW);
    expect(overview).not.toHaveProperty('lowWatermark');
    expect(overview).not.toHaveProperty('lagMillis');
  });

  test('tells no lag of a source that is read to its end', () => {
    const ended = ledgerOf({ partitions: [partition('all', held('', '', [], ago(5_000)), { kind: 'completed' })] });
    const overview = overviewOf(SOURCE, ended, NOW);
    expect(overview).toMatchObject({ lowWatermark: ago(5_000), partitions: [] });
    expect(overview).not.toHaveProperty('lagMillis');
  });

  test('tells no headroom where the retention is not known, and none below 0', () => {
    const { retention, ...unknown } = SOURCE;
    expect(retention).toBeDefined();
    expect(overviewOf(unknown, LEDGER, NOW)).not.toHaveProperty('headroomMillis');
    const short = { ...SOURCE, retention: { millis: 1_000, fetchedAt: 0 } };
    expect(overviewOf(short, LEDGER, NOW).headroomMillis).toBe(0);
  });

  test('tells parked tokens, and the timers of a missing part', () => {
    const overview = overviewOf(SOURCE, LEDGER, NOW);
    expect(overview.merges).toEqual([{ target: range('k', 'p'), parked: [range('k', 'm')], lagMillis: 20_000 }]);
    expect(overview.missing).toEqual([
      {
        ...{ range: range('m', ''), missingMillis: 60_000, lagMillis: 100_000 },
        ...{ fromTokensMillis: 60_000, tokenlessMillis: 19 * 60_000 },
      },
    ]);
  });

  test('tells the owner of a slot, its lease, and its partitions of this start alone', () => {
    const slot = slotWith(3, { own: held('', 'b'), old: held('b', '', [], 1n, { generation: 0 }) });
    const slots = new Map([
      [0, { ...slot, updatedAt: 1_000, readAt: 21_000 }],
      [1, { ...slot, updatedAt: 1_000, readAt: 61_000 }],
    ]);
    expect(overviewOf(SOURCE, ledgerOf({ slots }), NOW).slots).toEqual([
      { slot: 0, owner: 'o', epoch: 3, leaseMillis: 40_000, partitions: 1 },
      { slot: 1, owner: 'o', epoch: 3, leaseMillis: 0, partitions: 1 },
    ]);
  });
});
