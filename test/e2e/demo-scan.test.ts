import { expect, test } from 'vitest';
import { runScanDemo } from '../../infra/local/demo/scan/run.ts';

test('the demo of the scan source ends well: topic, letters and copy are the table, although a slot is killed, one is stopped, tablets move and the topic refuses', async ({
  signal,
}) => {
  const written: string[] = [];
  const out = { isTTY: false, write: (text: string): boolean => written.push(text) > 0 };
  const isRight = await runScanDemo({ flights: 3000, functionTimeScale: 3, out, signal });
  const text = written.join('');
  expect(text).toMatch(
    /slot \d \(process \d+\) was killed with \d splits in hand, and \d+ rows published since its last commit/,
  );
  expect(text).toMatch(/slot \d \(process \d+\) was stopped; it gave everything back within [\d,]+ ms/);
  expect(text).toMatch(/^topic: rows, each once +2,998 +2,998 +ok$/m);
  expect(text).toMatch(/^copy: rows +2,999 +2,999 +ok$/m);
  expect(text).toContain('Every count is as it must be.');
  expect(isRight).toBe(true);
}, 240_000);
