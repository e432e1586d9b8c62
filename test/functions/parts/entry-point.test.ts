import { create } from 'node:domain';
import { expect, test } from 'vitest';
import { leaveFrameworkDomain } from '../../../functions/parts/entry-point.ts';

const activeDomain = (): unknown => (process as { readonly domain?: unknown }).domain;

test('what follows belongs to no request: neither code, nor what waits, nor a timer', async () => {
  const domain = create();
  const failures: unknown[] = [];
  domain.on('error', (error) => failures.push(error));
  const seen = await new Promise<unknown[]>((resolve) => {
    domain.run(() => {
      process.nextTick(() => {
        expect(activeDomain()).toBe(domain);
        leaveFrameworkDomain();
        const inside = activeDomain();
        setTimeout(() => {
          resolve([inside, activeDomain()]);
        }, 1);
      });
    });
  });
  expect(seen.map((active) => active ?? 'none')).toEqual(['none', 'none']);
  expect(failures).toEqual([]);
});

test('is nothing where no domain is active', () => {
  expect(() => {
    leaveFrameworkDomain();
  }).not.toThrow();
});
