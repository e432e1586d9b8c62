import { setTimeout as wait } from 'node:timers/promises';
import { endWith, programArgument } from '../../support/program.ts';
import { drainClient, WRITES_PER_SEGMENT } from '../distinct-rows/drain-client.ts';
import type { CommitterArgument, CommitterResult } from './case.ts';

/** Drains without end, and counts what was applied within the window that all committers of a measurement share. */
const { address, windowStartsAt, windowMillis } = programArgument() as CommitterArgument;
const { write, takeApplied } = drainClient(address);
const drained = drainUntil(windowStartsAt + windowMillis);
await wait(Math.max(0, windowStartsAt - Date.now()));
const startedAt = performance.now();
takeApplied();
await wait(windowMillis);
const counted = takeApplied();
const millis = performance.now() - startedAt;
await drained;
endWith({ writesPerSecond: (counted * 1000) / millis } satisfies CommitterResult);

async function drainUntil(end: number): Promise<void> {
  while (Date.now() < end) await write(8 * WRITES_PER_SEGMENT);
}
