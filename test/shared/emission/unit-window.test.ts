import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UnitWindow, type WindowEntry } from '../../../shared/emission/unit-window.ts';

test('the position moves to the end of the contiguous confirmed run, whatever the order of confirmations', () => {
  const window = new UnitWindow<number>();
  const entries = [1, 2, 3].map((position) => {
    const entry = window.enter(10);
    window.pass(position);
    return entry;
  });
  window.confirm(entries[1] as WindowEntry<number>);
  expect(window.takeCommittable()).toBeUndefined();
  window.confirm(entries[0] as WindowEntry<number>);
  expect(window.takeCommittable()).toBe(2);
  expect(window.takeCommittable()).toBeUndefined();
  window.confirm(entries[2] as WindowEntry<number>);
  expect([window.takeCommittable(), window.isConfirmed, window.bytes]).toEqual([3, true, 0]);
});

test('a position that needs no publishing is committable at once when nothing is on its way, and else behind it', () => {
  const window = new UnitWindow<number>();
  window.pass(1);
  expect(window.takeCommittable()).toBe(1);
  const entry = window.enter(10);
  window.pass(2);
  window.pass(3);
  expect(window.takeCommittable()).toBeUndefined();
  window.confirm(entry);
  expect(window.takeCommittable()).toBe(3);
});

test('nothing behind a failure counts, and what is before it does', () => {
  const window = new UnitWindow<number>();
  const [first, second, third] = [1, 2, 3].map((position) => {
    const entry = window.enter(10);
    window.pass(position);
    return entry;
  }) as [WindowEntry<number>, WindowEntry<number>, WindowEntry<number>];
  window.confirm(third);
  window.fail(second, new Error('refused'));
  window.pass(4);
  expect([window.takeCommittable(), window.isIdle]).toEqual([undefined, false]);
  window.confirm(first);
  expect([window.takeCommittable(), window.isIdle, window.isConfirmed]).toEqual([1, true, false]);
});

test('an entry that ends twice, or enters a poisoned window, is a defect', () => {
  const window = new UnitWindow<number>();
  const entry = window.enter(1);
  window.confirm(entry);
  expect(() => {
    window.confirm(entry);
  }).toThrow('ended twice');
  window.poison(new Error('over'));
  expect(() => window.enter(1)).toThrow('poisoned');
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
      const entered: { readonly entry: WindowEntry<number>; end?: 'confirmed' | 'failed' }[] = [];
      const enteredBefore: number[] = [];
      let isPoisoned = false;
      let told = -1;
      const open = (): typeof entered => entered.filter(({ end }) => end === undefined);
      for (const each of steps) {
        switch (each.kind) {
          case 'enter':
            if (!isPoisoned) entered.push({ entry: window.enter(1) });
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
            else window.fail(target.entry, new Error('refused'));
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
        expect([window.bytes, window.isIdle]).toEqual([open().length, open().length === 0]);
      }
    }),
    { numRuns: 2000 },
  );
});
