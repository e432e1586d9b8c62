import { expect, test } from 'vitest';
import { announce, DEMO_NAMES, DEMOS } from '../../../../infra/local/demo/demos.ts';

test.each(DEMO_NAMES)('the run of %s says at its start how long it takes, and what it prints', (name) => {
  const said = announce(DEMOS[name]);
  expect(said).toMatch(/^This takes about /);
  expect(said).toContain(DEMOS[name].shows);
});
