import { scanTable } from '../../support/null-scan.ts';
import { endWith, programArgument } from '../../support/program.ts';
import type { Layer, LayerArgument, LayerResult } from './layers.ts';

/** Hands a table on through one layer: a warm-up, then the measured part. Only the layer's own modules are loaded. */
const argument = programArgument() as LayerArgument;
const { warmUpRows, rows, valueBytes } = argument;
const layer = await open(argument);
await handOn(warmUpRows);

const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
await handOn(rows);
const millis = performance.now() - startedAt;
const { user, system } = process.cpuUsage(cpuBefore);
await layer.close();
endWith({
  rowsPerCpuSecond: (rows * 1e6) / (user + system),
  rowsPerSecond: (rows * 1000) / millis,
  peakRssMiB: process.resourceUsage().maxRSS / 1024,
} satisfies LayerResult);

async function handOn(count: number): Promise<void> {
  const handed = await layer.handOn(scanTable(count, valueBytes));
  if (handed !== count) throw new Error(`${handed} rows of ${count} were handed on`);
}

async function open({ client, address, perMessage }: LayerArgument): Promise<Layer> {
  return client === 'ours'
    ? (await import('./our-layer.ts')).ourLayer(address, perMessage)
    : (await import('./official-layer.ts')).officialLayer(address);
}
