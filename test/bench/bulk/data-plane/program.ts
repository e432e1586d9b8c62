import { endWith, programArgument } from '../../support/program.ts';
import type { Layer, LayerArgument, LayerName, LayerResult } from './layers.ts';

/** Writes rows through one layer: a warm-up, then the measured part. Only the layer's own modules are loaded. */
const { layer: name, address, warmUpRows, rows } = programArgument() as LayerArgument;
const layer = await open(name);
await layer.write(0, warmUpRows);

const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
await layer.write(warmUpRows, warmUpRows + rows);
const millis = performance.now() - startedAt;
const { user, system } = process.cpuUsage(cpuBefore);
await layer.close();
endWith({
  cpuMicrosPerEntry: (user + system) / rows,
  entriesPerSecond: (rows * 1000) / millis,
  peakRssMiB: process.resourceUsage().maxRSS / 1024,
} satisfies LayerResult);

async function open(wanted: LayerName): Promise<Layer> {
  switch (wanted) {
    case 'data plane':
      return (await import('./our-layers.ts')).dataPlaneLayer(address);
    case 'batcher':
      return (await import('./our-layers.ts')).batcherLayer(address);
    case 'Table.mutate':
      return (await import('./official-layers.ts')).mutateLayer(address);
    case 'table.insert':
      return (await import('./official-layers.ts')).insertLayer(address);
  }
}
