import { afterEach, expect, test } from 'vitest';
import { startChild, type Child } from '../../../../infra/local/base/child-process.ts';
import { REPOSITORY } from '../../../../infra/local/run/start-functions.ts';

let child: Child | undefined;
afterEach(async () => {
  await child?.kill();
  child = undefined;
});

/** Runs a script under the clock; the last line that it prints. */
async function printed(clock: string, script: string): Promise<string> {
  child = await startChild({
    name: 'a script under a faster clock',
    command: process.execPath,
    args: ['--import', './infra/local/base/faster-clock.ts', '--eval', script],
    workingDirectory: REPOSITORY,
    env: { LOCAL_CLOCK: clock },
  });
  await child.exited;
  return child.lastLines().at(-1) ?? '';
}

test('dates run faster from the instant that is named, and dates that are given stay as they are', async () => {
  const since = Date.now() - 60_000;
  const seen = await printed(
    `10@${since}`,
    'console.log(JSON.stringify([Date.now(), new Date().getTime(), new Date(5).getTime(), new Date() instanceof Date]))',
  );
  const [now, dated, given, isDate] = JSON.parse(seen) as [number, number, number, boolean];
  expect(now - since).toBeGreaterThanOrEqual(600_000);
  expect(now - since).toBeLessThanOrEqual((Date.now() - since) * 10);
  expect(dated).toBeGreaterThanOrEqual(now);
  expect([given, isDate]).toEqual([5, true]);
});

test('a timer fires when its delay is over by that clock, and passes its arguments on', async () => {
  const script = `const startedAt = Date.now();
    setTimeout((word) => console.log(JSON.stringify([word, Date.now() - startedAt])), 5000, 'done');`;
  const startedAt = Date.now();
  const [word, millis] = JSON.parse(await printed(`50@${startedAt}`, script)) as [string, number];
  expect(word).toBe('done');
  // A timer of Node is up to a millisecond early, which is fifty here.
  expect(millis).toBeGreaterThanOrEqual(4900);
});

test('a value that names no clock ends the process', async () => {
  await printed('soon', 'console.log("ran")');
  expect(child!.lastLines().join('\n')).toContain('LOCAL_CLOCK: must be <factor>@<milliseconds>');
  expect((await child!.exited).code).toBe(1);
});
