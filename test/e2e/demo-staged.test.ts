import { expect, test } from 'vitest';
import { runStagedDemo } from '../../infra/local/demo/staged/run.ts';

test('the demo of the staged sink ends well, and tells of checkpoints, of the killed committer, of the family that was missing and of what stays set apart', async ({
  signal,
}) => {
  const written: string[] = [];
  const out = { isTTY: false, write: (text: string): boolean => written.push(text) > 0 };
  const isRight = await runStagedDemo({ flights: 1000, functionTimeScale: 10, out, signal });
  const text = written.join('');
  expect(text).toMatch(/committer of airports \(process \d+\) was killed with 20 writes applied and not answered/);
  expect(text).toContain('56 records came for the one row of ORD;');
  expect(text).toMatch(/5 records of remarks were set apart, because they name the column family "remark"/);
  expect(text).toMatch(/^flights: poison records set apart, and so they stay +110 +110 +ok$/m);
  expect(text).toMatch(/^airports {2,}1 .*\d$/m);
  expect(text).toMatch(/^flights {3,}1 .*\d$/m);
  expect(text).toContain('Every count is as it must be.');
  expect(isRight).toBe(true);
}, 180_000);
