import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';

/** A second, and what an idle machine takes to end a process. */
const SOON_MILLIS = 1_500;

/** How much longer a program may take than Node with nothing to do: it has modules to unload and lines to write. */
const SLOWER_THAN_NOTHING = 5;

/**
 * Asserts that something which ended a process, or a wait, took about a second. Where it took longer, the machine may be
 * busy: what Node takes at this moment to start and end is then added, some times over.
 *
 * @param sinceMillis by `performance.now()`.
 */
export function expectSoon(sinceMillis: number, withinMillis = SOON_MILLIS): void {
  const tookMillis = performance.now() - sinceMillis;
  if (tookMillis < withinMillis) return;
  const at = performance.now();
  spawnSync(process.execPath, ['--eval', '0']);
  expect(tookMillis).toBeLessThan(withinMillis + SLOWER_THAN_NOTHING * (performance.now() - at));
}
