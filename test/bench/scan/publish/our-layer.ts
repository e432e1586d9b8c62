import { systemClock } from '../../../../shared/base/clock.ts';
import { createLogger } from '../../../../shared/base/logging.ts';
import { createMetrics } from '../../../../shared/base/metrics.ts';
import { systemRandom } from '../../../../shared/base/random.ts';
import { createEmission } from '../../../../shared/emission/emission.ts';
import { rowKeyAttribute } from '../../../../shared/emission/messages/attributes.ts';
import { orderingKeyOf } from '../../../../shared/emission/messages/ordering-key.ts';
import { createPublishCalls } from '../../../../shared/google/pubsub/publish-calls.ts';
import { COMMON, dataOf, type Keys, type Layer, rowKeyOf, TOPIC } from './layers.ts';

/** What production hands a row's bytes to, window, budget and position included. */
export function ourLayer(address: string, keys: Keys): Layer {
  const runtime = { clock: systemClock, random: systemRandom, metrics: createMetrics(), logger: createLogger({}) };
  const calls = createPublishCalls({ emulatorEndpoint: address });
  const end = new AbortController();
  const emission = createEmission({
    send: calls.send,
    runtime,
    remainingMillis: () => 60_000,
    signal: end.signal,
    maxOutstandingBytes: 64 * 1024 * 1024,
  });
  const unit = emission.open<number>({
    topic: TOPIC,
    attributes: COMMON,
    maxRecordsPerMessage: 1,
    oversizedMessage: 'fail',
    failurePolicy: 'fail',
    setApart: () => Promise.reject(new Error('the null server refuses nothing')),
  });
  const keyOf = orderingKeyOf(keys === 'each' ? 'row' : keys);
  return {
    async publish(from, to) {
      for (let row = from; row < to; row += 1) {
        const rowKey = Buffer.from(rowKeyOf(row));
        const orderingKey = keyOf(rowKey);
        const data = dataOf();
        const attributes = rowKeyAttribute(rowKey);
        const message = orderingKey === undefined ? { data, attributes } : { data, attributes, orderingKey };
        const waiting = unit.emit(message);
        if (waiting) await waiting;
        unit.pass(row);
      }
      await unit.settled(end.signal);
      if (unit.takeCommittable() !== to - 1) throw new Error('not every message was confirmed');
    },
    close() {
      emission.close();
      calls.close();
      return Promise.resolve();
    },
  };
}
