import { endWith, programArgument } from '../../support/program.ts';
import { openScanWorld, untilDone } from '../world.ts';
import type { SlotsArgument, SlotsResult } from './case.ts';

/** One run, read by so many slots: from its plan to its end. */
const { slots, rows, tablets, rowsPerSecond } = programArgument() as SlotsArgument;
const world = await openScanWorld({
  ...{ rows, tablets, rowsPerSecond, valueBytes: 100 },
  options: { parallelism: slots, maxConcurrentSplits: 1, maxRecordsPerMessage: 100 },
});
await world.start();
const { readingSince = 0, endedAt = 0, totals } = await untilDone(world, ({ state }) => state === 'done');
if (totals?.rows !== rows) throw new Error(`${totals?.rows} of ${rows} rows were read`);
await world[Symbol.asyncDispose]();
endWith({ rowsPerSecond: (rows * 1000) / (endedAt - readingSince) } satisfies SlotsResult);
