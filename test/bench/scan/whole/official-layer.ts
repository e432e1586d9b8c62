import { Bigtable, type Row } from '@google-cloud/bigtable';
import { PubSub } from '@google-cloud/pubsub';
import type { Layer } from './layers.ts';

/** Batches as large as the client makes them. */
const BATCHING = { maxMessages: 1000, maxBytes: 9 * 1024 * 1024, maxMilliseconds: 10 };

/** Messages that are awaited together: as many bytes as ours has on their way. */
const TOGETHER = 40_000;

interface Cell {
  readonly value: Buffer;
  readonly timestamp: string;
}

/** The loop that one would write: the rows of a read stream, each a message of JSON with its bytes as base64. */
export function officialLayer(address: string): Layer {
  process.env.BIGTABLE_EMULATOR_HOST = address;
  // Values are not decoded, and there are no client-side metrics: both favour it.
  const bigtable = new Bigtable({ projectId: 'p', metricsEnabled: false });
  const pubsub = new PubSub({ projectId: 'p', apiEndpoint: address, emulatorMode: true });
  const topic = pubsub.topic('out', { batching: BATCHING });
  return {
    async handOn(table) {
      let rows = 0;
      let publishes: Promise<string>[] = [];
      const stream = bigtable.instance('i').table(table).createReadStream({ decode: false });
      for await (const row of stream as AsyncIterable<Row>) {
        publishes.push(topic.publishMessage({ data: jsonOf(row) }));
        rows += 1;
        if (publishes.length < TOGETHER) continue;
        await Promise.all(publishes);
        publishes = [];
      }
      await Promise.all(publishes);
      return rows;
    },
    async close() {
      await pubsub.close();
      await bigtable.close();
    },
  };
}

/** As our form writes it: a decoder of one reads the other. */
function jsonOf({ id, data }: Row): Buffer {
  const families = data as Record<string, Record<string, readonly Cell[]>>;
  const cells = Object.entries(families).flatMap(([family, columns]) =>
    Object.entries(columns).flatMap(([qualifier, versions]) =>
      versions.map(({ value, timestamp }) => ({
        family,
        qualifier: { base64: Buffer.from(qualifier).toString('base64') },
        timestampMicros: timestamp,
        value: base64Of(value),
      })),
    ),
  );
  // Its type says text; a stream that decodes nothing gives the bytes.
  return Buffer.from(JSON.stringify({ rowKey: base64Of(id as unknown as Buffer), cells }));
}

const base64Of = (bytes: Buffer): { readonly base64: string } => ({ base64: bytes.toString('base64') });
