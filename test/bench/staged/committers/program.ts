import { setTimeout as wait } from 'node:timers/promises';
import { endWith, programArgument } from '../../support/program.ts';
import { drainClient, WRITES_PER_SEGMENT } from '../distinct-rows/drain-client.ts';
import type { CommitterArgument, CommitterResult } from './case.ts';

/** Drains without end, and counts what was applied within the window that all committers of a measurement share. */
const { address, windowStartsAt, windowMillis } = programArgument() as CommitterArgument;
let applied = 0;
const write = drainClient(address, () => {
  applied += 1;
});
const drained = drainUntil(windowStartsAt + windowMillis);
await wait(Math.max(0, windowStartsAt - Date.now()));
const startedAt = performance.now();
const before = applied;
await wait(windowMillis);
const counted = applied - before;
const millis = performance.now() - startedAt;
await drained;
endWith({ writesPerSecond: (counted * 1000) / millis } satisfies CommitterResult);

async function drainUntil(end: number): Promise<void> {
  while (Date.now() < end) await write(8 * WRITES_PER_SEGMENT);
}
