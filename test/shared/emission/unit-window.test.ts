import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UnitWindow } from '../../../shared/emission/unit-window.ts';

test('the position moves to the end of the contiguous confirmed run, whatever the order of confirmations', () => {
  const window = new UnitWindow<number>();
  const enterAndPass = (position: number): number => {
    const sequence = window.enter();
    window.pass(position);
    return sequence;
  };
  const [first, second, third] = [enterAndPass(1), enterAndPass(2), enterAndPass(3)];
  window.confirm(second);
  expect(window.takeCommittable()).toBeUndefined();
  window.confirm(first);
  expect(window.takeCommittable()).toBe(2);
  expect(window.takeCommittable()).toBeUndefined();
  window.confirm(third);
  expect([window.takeCommittable(), window.isConfirmed]).toEqual([3, true]);
});

test('a window of many thousands keeps every place and position, also when it grows in the middle of its ring', () => {
  const window = new UnitWindow<number>();
  const open: number[] = [];
  for (let round = 0; round < 200; round += 1) {
    for (let count = 0; count < 50; count += 1) {
      open.push(window.enter());
      window.pass(open.length + round * 1000);
    }
    for (let count = 0; count < 20; count += 1) window.confirm(open.shift() ?? 0);
  }
  expect([open.length, window.isIdle, window.isOpen(open[0] ?? 0)]).toEqual([6000, false, true]);
  for (const sequence of open.toReversed()) window.confirm(sequence);
  expect([window.isIdle, window.isConfirmed, window.takeCommittable()]).toEqual([true, true, 6020 + 199 * 1000]);
});

test('a position that needs no publishing is committable at once when nothing is on its way, and else behind it', () => {
  const window = new UnitWindow<number>();
  window.pass(1);
  expect(window.takeCommittable()).toBe(1);
  const entry = window.enter();
  window.pass(2);
  window.pass(3);
  expect(window.takeCommittable()).toBeUndefined();
  window.confirm(entry);
  expect(window.takeCommittable()).toBe(3);
});

test('nothing behind a failure counts, and what is before it does', () => {
  const window = new UnitWindow<number>();
  const [first, second, third] = [1, 2, 3].map((position) => {
    const entry = window.enter();
    window.pass(position);
    return entry;
  }) as [number, number, number];
  window.confirm(third);
  window.fail(second);
  window.pass(4);
  expect([window.takeCommittable(), window.isIdle]).toEqual([undefined, false]);
  window.confirm(first);
  expect([window.takeCommittable(), window.isIdle, window.isConfirmed]).toEqual([1, true, false]);
});

test('an entry that ends twice, or enters a poisoned window, is a defect', () => {
  const window = new UnitWindow<number>();
  const entry = window.enter();
  window.confirm(entry);
  expect(() => {
    window.confirm(entry);
  }).toThrow('ended twice');
  window.poison();
  expect(() => window.enter()).toThrow('poisoned');
});

test('whoever asks is told of a position when the last message before it is confirmed, and of nothing that needs none', () => {
  const told: number[] = [];
  const window = new UnitWindow<number>((position) => told.push(position));
  window.pass(0);
  const [first, second] = [window.enter(), window.enter()];
  window.pass(2);
  const third = window.enter();
  window.pass(3);
  window.confirm(third);
  window.confirm(second);
  expect(told).toEqual([]);
  window.confirm(first);
  expect([told, window.takeCommittable()]).toEqual([[3], 3]);
});

type Step =
  { readonly kind: 'enter' | 'pass' | 'take' } | { readonly kind: 'confirm' | 'fail'; readonly which: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<Step>({ kind: 'enter' }, { kind: 'pass' }, { kind: 'take' }) },
  { weight: 6, arbitrary: fc.nat(20).map((which): Step => ({ kind: 'confirm', which })) },
  { weight: 1, arbitrary: fc.nat(20).map((which): Step => ({ kind: 'fail', which })) },
);

test('a position that is told never passes an entry that is not confirmed, and never goes back', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const window = new UnitWindow<number>();
      /** The oracle: every entry in order, and how many had entered when a position was passed. */
      const entered: { readonly entry: number; end?: 'confirmed' | 'failed' }[] = [];
      const enteredBefore: number[] = [];
      let isPoisoned = false;
      let told = -1;
      const open = (): typeof entered => entered.filter(({ end }) => end === undefined);
      for (const each of steps) {
        switch (each.kind) {
          case 'enter':
            if (!isPoisoned) entered.push({ entry: window.enter() });
            break;
          case 'pass':
            window.pass(enteredBefore.length);
            enteredBefore.push(isPoisoned ? Infinity : entered.length);
            break;
          case 'confirm':
          case 'fail': {
            const target = open()[each.which % Math.max(1, open().length)];
            if (!target) break;
            target.end = each.kind === 'confirm' ? 'confirmed' : 'failed';
            if (each.kind === 'confirm') window.confirm(target.entry);
            else window.fail(target.entry);
            isPoisoned ||= each.kind === 'fail';
            break;
          }
          case 'take':
        }
        const run = entered.findIndex(({ end }) => end !== 'confirmed');
        const confirmed = run < 0 ? entered.length : run;
        const best = enteredBefore.findLastIndex((count) => count <= confirmed);
        const taken = window.takeCommittable();
        expect(Math.max(told, best)).toBe(taken ?? told);
        told = taken ?? told;
        expect(window.isIdle).toBe(open().length === 0);
      }
    }),
    { numRuns: 2000 },
  );
});
