import { setTimeout as wait } from 'node:timers/promises';
import type { Point } from '../../support/chart.ts';
import { rssMiBOf } from '../../support/process-usage.ts';
import { endWith, programArgument } from '../../support/program.ts';
import { openScanWorld } from '../world.ts';
import type { MemoryArgument, MemoryResult } from './case.ts';

/** One slot reads as fast as it can, while its topic takes requests and answers none. */
const { stallMillis, warmUpMillis, maxRecordsPerMessage, ...table } = programArgument() as MemoryArgument;
const SAMPLE_MILLIS = 100;

const world = await openScanWorld({ ...table, options: { parallelism: 1, maxRecordsPerMessage } });
const connector = await world.start();
const { pid } = connector.functionOf('readScan').process;
// Everything is loaded and has run, with little in flight.
await wait(warmUpMillis);
if ((world.pubsub.requestCounts().Publish ?? 0) === 0) throw new Error('nothing was published before the stall');
const baseline = await rssMiBOf(pid);

world.pubsub.faults.stall();
world.speedUp();
const points: Point[] = [];
const startedAt = performance.now();
for (let millis = 0; millis < stallMillis; millis = performance.now() - startedAt) {
  points.push({ second: millis / 1000, value: await rssMiBOf(pid) });
  await wait(SAMPLE_MILLIS);
}
const { state } = await world.read();
if (state !== 'reading') throw new Error(`the run was ${state} before the stall was over`);
endWith({ baseline, points } satisfies MemoryResult);
