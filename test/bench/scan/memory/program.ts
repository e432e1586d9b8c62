import { setTimeout as wait } from 'node:timers/promises';
import type { Point } from '../../support/chart.ts';
import { rssMiBOf } from '../../support/process-usage.ts';
import { endWith, programArgument } from '../../support/program.ts';
import { openScanWorld, untilDone } from '../world.ts';
import type { MemoryArgument, MemoryResult } from './case.ts';

/** One slot reads as fast as it can, while its topic takes requests and answers none; or with a large row among the others, to the end. */
const { stallMillis, warmUpMillis, options, largeRow, ...table } = programArgument() as MemoryArgument;
const SAMPLE_MILLIS = 50;

const world = await openScanWorld({ ...table, options: { parallelism: 1, ...options } });
const connector = await world.start();
const { pid } = connector.functionOf('readScan').process;
// Everything is loaded and has run, with little in flight.
await wait(warmUpMillis);
if ((world.pubsub.requestCounts().Publish ?? 0) === 0) throw new Error('nothing was published before the measurement');
const baseline = await rssMiBOf(pid);

const points: Point[] = [];
const startedAt = performance.now();
if (largeRow) await readToTheEnd(largeRow);
else await stall();
endWith({ baseline, points } satisfies MemoryResult);

async function stall(): Promise<void> {
  world.pubsub.faults.stall();
  world.speedUp();
  while (performance.now() - startedAt < stallMillis) await sample();
  const { state } = await world.read();
  if (state !== 'reading') throw new Error(`the run was ${state} before the stall was over`);
}

async function readToTheEnd({ cells, cellBytes }: NonNullable<MemoryArgument['largeRow']>): Promise<void> {
  world.addLastRow(cells, cellBytes);
  world.speedUp();
  const ended = new AbortController();
  const done = untilDone(world, ({ state }) => state === 'done').finally(() => {
    ended.abort();
  });
  while (!ended.signal.aborted) await sample();
  const { totals } = await done;
  if (totals?.rows !== table.rows + 1) throw new Error(`${totals?.rows} of ${table.rows + 1} rows were read`);
}

async function sample(): Promise<void> {
  points.push({ second: (performance.now() - startedAt) / 1000, value: await rssMiBOf(pid) });
  await wait(SAMPLE_MILLIS);
}
