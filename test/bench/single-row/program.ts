import { endWith, programArgument } from '../support/program.ts';
import { askAll, type Layer, type LayerArgument, type LayerName, type LayerResult } from './layers.ts';

/** Makes requests through one layer: a warm-up, then the measured part. Only the layer's own modules are loaded. */
const { layer: name, address, warmUpRequests, requests } = programArgument() as LayerArgument;
const layer = await open(name);
await askAll(layer.ask, 0, warmUpRequests);

const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
await askAll(layer.ask, warmUpRequests, warmUpRequests + requests);
const millis = performance.now() - startedAt;
const { user, system } = process.cpuUsage(cpuBefore);
await layer.close();
endWith({
  cpuMicrosPerRequest: (user + system) / requests,
  requestsPerSecond: (requests * 1000) / millis,
  peakRssMiB: process.resourceUsage().maxRSS / 1024,
} satisfies LayerResult);

async function open(wanted: LayerName): Promise<Layer> {
  switch (wanted) {
    case 'executor conditional':
      return (await import('./our-layers.ts')).conditionalLayer(address);
    case 'executor increment':
      return (await import('./our-layers.ts')).incrementLayer(address);
    case 'row.filter':
      return (await import('./official-layers.ts')).filterLayer(address);
    case 'row.increment':
      return (await import('./official-layers.ts')).incrementLayer(address);
  }
}
