import { scanTable } from '../../support/null-scan.ts';
import { endWith, programArgument } from '../../support/program.ts';
import type { Layer, LayerArgument, LayerName, LayerResult } from './layers.ts';

/** Reads through one layer: a warm-up, then the measured part. Only the layer's own modules are loaded. */
const { layer: name, address, warmUpRows, rows, valueBytes } = programArgument() as LayerArgument;
const layer = await open(name);
await read(warmUpRows);

const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
await read(rows);
const millis = performance.now() - startedAt;
const { user, system } = process.cpuUsage(cpuBefore);
await layer.close();
endWith({
  cpuMicrosPerRow: (user + system) / rows,
  rowsPerSecond: (rows * 1000) / millis,
  peakRssMiB: process.resourceUsage().maxRSS / 1024,
} satisfies LayerResult);

async function read(count: number): Promise<void> {
  const seen = await layer.read(scanTable(count, valueBytes));
  if (seen.rows !== count || seen.valueBytes !== count * valueBytes) {
    throw new Error(`${name} read ${seen.rows} rows of ${count}, ${seen.valueBytes} bytes of values`);
  }
}

async function open(wanted: LayerName): Promise<Layer> {
  switch (wanted) {
    case 'ours':
      return (await import('./our-layers.ts')).ourLayer(address);
    case 'generated decoder':
      return (await import('./our-layers.ts')).generatedDecoderLayer(address);
    case 'createReadStream':
      return (await import('./official-layers.ts')).readStreamLayer(address);
    case 'generated client':
      return (await import('./official-layers.ts')).generatedClientLayer(address);
  }
}
