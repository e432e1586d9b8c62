import { sleep, systemClock } from '../../../../shared/base/clock.ts';
import { isOpen, type Run } from '../../../../shared/scan/runs/run.ts';
import { endWith, programArgument } from '../../support/program.ts';
import { openScanWorld, untilDone } from '../world.ts';
import type { BilledArgument, BilledResult } from './case.ts';

/** One run from its start until nothing is left to do for it, and then attempts of a slot that find nothing; the server counts. */
const { rows, tablets, slots, rowsPerSecond, idleAttempts } = programArgument() as BilledArgument;

/** Slots that have nothing to do end their sessions within this. */
const IDLE_MILLIS = 20_000;

const world = await openScanWorld({
  ...{ rows, tablets, rowsPerSecond, valueBytes: 100 },
  options: { parallelism: slots, maxRecordsPerMessage: 1000 },
});
let looks = 0;
const connector = await world.start();
const run = await untilDone({ read: look }, (now) => now.state === 'done' && !isOpen(now));
const { endedAt = 0, readingSince = 0, totals } = run;
if (totals?.rows !== rows) throw new Error(`${totals?.rows} of ${rows} rows were read`);
const whole = total();

await connector.functionOf('coordinate').process.stop();
await sleep(systemClock, IDLE_MILLIS);
const { url } = connector.functionOf('readScan').process;
const before = total();
for (let attempt = 0; attempt < idleAttempts; attempt += 1) {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify({ slot: 0 }) });
  const answer = (await response.json()) as { readonly outcome: string };
  if (answer.outcome !== 'idle') throw new Error(`the slot answered ${JSON.stringify(answer)}`);
}
const idle = total() - before;
await world[Symbol.asyncDispose]();
endWith({
  operations: whole,
  seconds: (endedAt - readingSince) / 1000,
  operationsPerIdleAttempt: idle / idleAttempts,
} satisfies BilledResult);

/** Everything but what this program read to see how far the run is. */
function total(): number {
  const { reads, writes, deletes } = world.firestore.billed();
  return reads + writes + deletes - looks;
}

function look(): Promise<Run> {
  looks += 1;
  return world.read();
}
