import { expect, test } from 'vitest';
import { lazy } from '../../../shared/base/lazy.ts';

test('nothing is made before the first call, and all calls share one value', async () => {
  let made = 0;
  const value = lazy(() => Promise.resolve({ number: ++made }));
  expect(made).toBe(0);
  const [first, second] = await Promise.all([value(), value()]);
  expect(first).toBe(second);
  expect(await value()).toBe(first);
  expect(made).toBe(1);
});

test('a failure reaches everybody who waits for it and is forgotten: the next call tries again', async () => {
  let attempts = 0;
  const value = lazy(() => {
    attempts += 1;
    return attempts === 1 ? Promise.reject(new Error('first attempt')) : Promise.resolve('made');
  });
  const results = await Promise.allSettled([value(), value()]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(attempts).toBe(1);
  expect(await value()).toBe('made');
  expect(await value()).toBe('made');
  expect(attempts).toBe(2);
});

test('a maker that throws at once is a failed attempt like any other', async () => {
  let attempts = 0;
  const value = lazy((): Promise<string> => {
    attempts += 1;
    if (attempts === 1) throw new Error('at once');
    return Promise.resolve('made');
  });
  await expect(value()).rejects.toThrow('at once');
  expect(await value()).toBe('made');
});
