import { endWith, programArgument } from '../../support/program.ts';
import type { ClientArgument, ClientName, ClientResult, Write } from './clients.ts';

/** Conditional writes through one client: a warm-up, then the measured part. Only the client's own modules are loaded. */
const { client, address, warmUpWrites, writes } = programArgument() as ClientArgument;
const write = await open(client);
await write(warmUpWrites);

const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
await write(writes);
const millis = performance.now() - startedAt;
const { user, system } = process.cpuUsage(cpuBefore);
endWith({
  cpuMicrosPerWrite: (user + system) / writes,
  writesPerSecond: (writes * 1000) / millis,
  peakRssMiB: process.resourceUsage().maxRSS / 1024,
} satisfies ClientResult);

async function open(wanted: ClientName): Promise<Write> {
  switch (wanted) {
    case 'drain':
      return (await import('./drain-client.ts')).drainClient(address).write;
    case 'checkAndMutateRow':
      return (await import('./generated-client.ts')).generatedClient(address);
  }
}
