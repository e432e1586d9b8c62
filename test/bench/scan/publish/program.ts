import { endWith, programArgument } from '../../support/program.ts';
import type { Layer, LayerArgument, LayerResult } from './layers.ts';

/** Publishes through one layer: a warm-up, then the measured part. Only the layer's own modules are loaded. */
const argument = programArgument() as LayerArgument;
const { warmUpMessages, messages } = argument;
const layer = await open(argument);
await layer.publish(0, warmUpMessages);

const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
await layer.publish(warmUpMessages, warmUpMessages + messages);
const millis = performance.now() - startedAt;
const { user, system } = process.cpuUsage(cpuBefore);
await layer.close();
endWith({
  cpuMicrosPerMessage: (user + system) / messages,
  messagesPerSecond: (messages * 1000) / millis,
  peakRssMiB: process.resourceUsage().maxRSS / 1024,
} satisfies LayerResult);

async function open({ client, address, keys }: LayerArgument): Promise<Layer> {
  return client === 'ours'
    ? (await import('./our-layer.ts')).ourLayer(address, keys)
    : (await import('./official-layer.ts')).officialLayer(address, keys);
}
