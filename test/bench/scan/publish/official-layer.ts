import { PubSub } from '@google-cloud/pubsub';
import { COMMON, dataOf, type Keys, type Layer, rowKeyOf } from './layers.ts';

/** Batches as large as the client makes them. */
const BATCHING = { maxMessages: 1000, maxBytes: 9 * 1024 * 1024, maxMilliseconds: 10 };

/** Messages that are awaited together: as many bytes as ours has on their way. */
const TOGETHER = 40_000;

/** The same messages by `publishMessage`. */
export function officialLayer(address: string, keys: Keys): Layer {
  const client = new PubSub({ projectId: 'p', apiEndpoint: address, emulatorMode: true });
  const topic = client.topic('out', { messageOrdering: keys !== 'none', batching: BATCHING });
  const keyOf = (row: number, rowKey: string): { orderingKey?: string } => {
    if (keys === 'none') return {};
    return { orderingKey: keys === 'each' ? rowKey : `group-${row % keys}` };
  };
  return {
    async publish(from, to) {
      for (let start = from; start < to; start += TOGETHER) {
        const publishes: Promise<string>[] = [];
        for (let row = start; row < Math.min(to, start + TOGETHER); row += 1) {
          const rowKey = rowKeyOf(row);
          const attributes = { ...COMMON, 'row-key': rowKey };
          publishes.push(topic.publishMessage({ data: dataOf(), attributes, ...keyOf(row, rowKey) }));
        }
        await Promise.all(publishes);
      }
    },
    close: () => client.close(),
  };
}
