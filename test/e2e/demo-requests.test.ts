import { expect, test } from 'vitest';
import { runRequestsDemo } from '../../infra/local/demo/requests/run.ts';

test('the demo of the request sink ends well, although acknowledgements and answers are lost', async ({ signal }) => {
  const written: string[] = [];
  const out = { isTTY: false, write: (text: string): boolean => written.push(text) > 0 };
  const isRight = await runRequestsDemo({ flights: 500, out, signal });
  const text = written.join('');
  expect(text).toMatch(
    /[1-9]\d* answers of Bigtable were lost on purpose; [1-9]\d* messages were redelivered because of one/,
  );
  expect(text).toContain('a counter said 1, 2, 3');
  expect(text).toContain('Every count is as it must be.');
  expect(isRight).toBe(true);
}, 120_000);
