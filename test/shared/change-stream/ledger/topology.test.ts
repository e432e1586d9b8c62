import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  closePartition,
  type ClosedPartition,
  type Successor,
} from '../../../../shared/change-stream/ledger/close-partition.ts';
import { common, gapsIn, overlaps, tiles } from '../../../../shared/change-stream/ledger/cover.ts';
import { coveredBy, type Ledger, lowWatermarkOf } from '../../../../shared/change-stream/ledger/ledger.ts';
import { heldOf, isOpen, type Partition } from '../../../../shared/change-stream/ledger/partition.ts';
import { reconcile } from '../../../../shared/change-stream/ledger/reconcile.ts';
import { formatRange, type RowRange, WHOLE_TABLE } from '../../../../shared/model/row-range.ts';
import { applied, ledgerOf } from '../../../support/ledgers.ts';
import { held, partition, range } from '../../../support/partitions.ts';

/**
 * Any sequence of splits, merges, new splits over moved boundaries, moves, closes that come twice or without successors,
 * lost and forged tokens and looks of the reconciler, at any times.
 */
const KEYS = ['b', 'd', 'f', 'h', 'k', 'm', 'p', 's', 'v'];

type Step =
  /** One of those that are open is closed; the service has these boundaries by then. */
  | {
      readonly kind: 'close';
      readonly which: number;
      readonly boundaries: readonly string[];
      readonly isLossy: boolean;
    }
  /** The same close is decided once more. */
  | { readonly kind: 'again' }
  | { readonly kind: 'no-successors'; readonly which: number; readonly isEnd: boolean }
  | { readonly kind: 'look'; readonly boundaries: readonly string[] }
  | { readonly kind: 'wait'; readonly minutes: number };

const boundaries = fc.subarray(KEYS, { minLength: 0 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('close' as const),
        which: fc.nat(20),
        boundaries,
        isLossy: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('again' as const) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('no-successors' as const), which: fc.nat(20), isEnd: fc.boolean() }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('look' as const), boundaries }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), minutes: fc.constantFrom(1, 2, 5, 20) }) },
  ),
  { maxLength: 40 },
);

const partitionsAt = (keys: readonly string[]): RowRange[] =>
  ['', ...keys].map((start, index) => range(start, keys[index] ?? ''));

class World {
  ledger: Ledger = ledgerOf({ partitions: [partition('first', held('', '', [], 100n))] });
  now = 1_000_000;
  readonly #isBounded: boolean;
  #tokens = 0;
  #low = 100n;
  #last: { readonly id: string; readonly closed: ClosedPartition } | undefined;

  constructor(isBounded: boolean) {
    this.#isBounded = isBounded;
  }

  run(step: Step): void {
    switch (step.kind) {
      case 'wait':
        this.now += step.minutes * 60_000;
        return;
      case 'look':
        this.ledger = applied(this.ledger, this.look(partitionsAt(step.boundaries)).writes);
        return;
      case 'close':
        this.#close(this.#open(step.which), this.#successors(step));
        return;
      case 'no-successors':
        this.#close(this.#open(step.which), [], step.isEnd);
        return;
      case 'again': {
        // Whoever has the partition no more writes nothing of it; were it written, it would name what is there.
        const last = this.#last;
        if (last?.closed.kind !== 'done') return;
        const before = this.ledger.partitions.find(({ value }) => value.id === last.id);
        expect(before?.value.state.kind).toBe('done');
        return;
      }
      default:
        step satisfies never;
    }
  }

  look(service: readonly RowRange[]) {
    const done = this.ledger.partitions.map(({ value }) => value).filter(({ state }) => state.kind === 'done');
    return reconcile({ ...{ generation: 1, service, ledger: this.ledger, done, startTime: 0n, now: this.now } });
  }

  #open(which: number): Partition | undefined {
    const open = this.ledger.partitions.map(({ value }) => value).filter(isOpen);
    return open[which % Math.max(1, open.length)];
  }

  /** For each new partition of the service that the closed one has a part of, a token of that part. */
  #successors({ which, boundaries: keys, isLossy }: Step & { kind: 'close' }): Successor[] {
    const parent = this.#open(which);
    if (!parent) return [];
    const successors = partitionsAt(keys)
      .filter((target) => overlaps(target, parent.range))
      .map((target) => ({ target, token: { range: common(target, parent.range), token: `t${(this.#tokens += 1)}` } }));
    return isLossy ? successors.slice(1) : successors;
  }

  #close(parent: Partition | undefined, successors: readonly Successor[], isEnd = false): void {
    if (!parent) return;
    const lowWatermark = (this.#low += 10n);
    const { id } = parent;
    const of = heldOf(parent);
    const close = { position: { tokens: of.position.tokens, lowWatermark }, isEnd, successors };
    const merges = new Map(this.ledger.merges.map((each) => [each.value.id, each]));
    const options = { now: this.now, isBounded: this.#isBounded, keptMillis: 1 };
    const closed = closePartition(id, of, close, merges, options);
    if (closed.kind === 'refused') throw new Error(closed.problem);
    // Decided anew from the same, it is the same.
    expect(closePartition(id, of, close, merges, options)).toEqual(closed);
    this.ledger = applied(this.ledger, closed.writes);
    this.#last = { id, closed };
  }
}

const parked = ({ merges }: Ledger): RowRange[] =>
  merges.flatMap(({ value }) => value.tokens.map(({ range: of }) => of));
const lost = ({ missing }: Ledger): RowRange[] => missing.map(({ value }) => value.range);

function expectDisjoint(ranges: readonly RowRange[]): void {
  for (const [place, left] of ranges.entries()) {
    for (const right of ranges.slice(place + 1)) {
      if (overlaps(left, right)) throw new Error(`${formatRange(left)} and ${formatRange(right)} share a key`);
    }
  }
}

describe.each([
  ['that goes on', false],
  ['that is bounded', true],
])('after any changes of the topology, in a run %s,', (_, isBounded) => {
  const after = (check: (world: World, step: Step) => void): void => {
    fc.assert(
      fc.property(steps, (all) => {
        const world = new World(isBounded);
        for (const step of all) {
          world.run(step);
          check(world, step);
        }
      }),
      { numRuns: 300 },
    );
  };

  test('what waits, what is held and what is completed share no key, and neither do parked tokens', () => {
    after(({ ledger }) => {
      expectDisjoint([...coveredBy(ledger), ...parked(ledger)]);
      expectDisjoint(lost(ledger));
    });
  });

  test('these, parked tokens and what is missing make up the key space', () => {
    after(({ ledger }) => {
      expect(gapsIn(WHOLE_TABLE, [...coveredBy(ledger), ...parked(ledger), ...lost(ledger)])).toEqual([]);
      expect(lowWatermarkOf(ledger)).toBeDefined();
    });
  });

  test('no name of a partition was there before', () => {
    // A name that recurs is refused by the ledger of the test.
    after(({ ledger }) => {
      expect(new Set(ledger.partitions.map(({ value }) => value.id)).size).toBe(ledger.partitions.length);
    });
  });

  test('no tokens wait that make up their target', () => {
    after(({ ledger }) => {
      for (const { value } of ledger.merges) {
        expect(
          tiles(
            value.target,
            value.tokens.map(({ range: of }) => of),
          ),
        ).toBe(false);
      }
    });
  });

  test('an hour of looks leaves nothing parked and nothing missing, and all of the table is read', () => {
    fc.assert(
      fc.property(steps, boundaries, (all, keys) => {
        const world = new World(isBounded);
        for (const step of all) world.run(step);
        for (let minute = 0; minute < 60; minute += 1) {
          world.run({ kind: 'look', boundaries: keys });
          world.run({ kind: 'wait', minutes: 1 });
        }
        const { ledger } = world;
        expect(ledger.merges).toEqual([]);
        expect(ledger.missing).toEqual([]);
        expect(gapsIn(WHOLE_TABLE, coveredBy(ledger))).toEqual([]);
        expect(world.look(partitionsAt(keys)).writes).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});
