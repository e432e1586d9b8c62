import { expect, test } from 'vitest';
import { Faults, type FaultRule } from '../../../../../infra/local/servers/rpc/faults.ts';

interface Points {
  readonly Write: { readonly request: { readonly key: string }; readonly effect: string };
  readonly Read: { readonly request: { readonly key: string }; readonly effect: string };
}

/** The effects on this many writes of `key`, one after the other; `-` where nothing goes wrong. */
const effects = (faults: Faults<Points>, calls: number, key = 'k'): string =>
  Array.from({ length: calls }, () => faults.take('Write', { key }) ?? '-').join('');

const ruled = (rule: Partial<FaultRule<'Write', Points['Write']>>): Faults<Points> => {
  const faults = new Faults<Points>();
  faults.add({ method: 'Write', effect: 'x', ...rule });
  return faults;
};

test('a rule meets one call of its method, unless it says how many', () => {
  expect(effects(ruled({}), 3)).toBe('x--');
  expect(effects(ruled({ times: 2 }), 4)).toBe('xx--');
  expect(effects(ruled({ times: Infinity }), 4)).toBe('xxxx');
  expect(ruled({}).take('Read', { key: 'k' })).toBeUndefined();
});

test('a rule meets every n-th call from a first one on', () => {
  expect(effects(ruled({ every: 2, times: 2 }), 6)).toBe('-x-x--');
  expect(effects(ruled({ fromCall: 3 }), 4)).toBe('--x-');
  expect(effects(ruled({ fromCall: 3, every: 2, times: Infinity }), 6)).toBe('---x-x');
});

test('a rule counts only the calls that it is for', () => {
  const faults = ruled({ where: ({ key }) => key === 'k', every: 2, times: Infinity });
  expect(effects(faults, 3, 'other')).toBe('---');
  expect(effects(faults, 2)).toBe('-x');
});

test('the oldest rule that meets a call gives it its one effect', () => {
  const faults = ruled({ every: 2, times: 1 });
  faults.add({ method: 'Write', effect: 'y', times: 2 });
  expect(effects(faults, 4)).toBe('yxy-');
});

test('a handle tells what its rule has met, and takes it away', () => {
  const faults = new Faults<Points>();
  const rule = faults.add({ method: 'Write', times: Infinity, effect: 'x' });
  expect(effects(faults, 2)).toBe('xx');
  rule.remove();
  expect(effects(faults, 1)).toBe('-');
  expect(rule.hits).toBe(2);
});

test('clear takes every rule away and serves what was held', () => {
  const faults = ruled({ times: Infinity });
  faults.stall();
  expect(faults.stalled).toBeInstanceOf(Promise);
  faults.clear();
  expect(faults.stalled).toBeUndefined();
  expect(effects(faults, 1)).toBe('-');
});
