import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Delivery } from '../../../../../../infra/local/servers/pubsub/delivery/entry.ts';
import {
  MessageStore,
  type StoredMessage,
} from '../../../../../../infra/local/servers/pubsub/delivery/message-store.ts';
import type { SubscriptionSettings } from '../../../../../../infra/local/servers/pubsub/delivery/settings.ts';
import { SubscriptionState } from '../../../../../../infra/local/servers/pubsub/delivery/subscription-state.ts';

const START = 1_700_000_000_000;
const ALL = { messages: Infinity, bytes: Infinity };

const SETTINGS: SubscriptionSettings = {
  name: 'projects/p/subscriptions/sub',
  ackDeadlineMillis: 10_000,
  isOrdered: true,
  isExactlyOnce: false,
  filter: () => true,
  retry: { minimumMillis: 100, maximumMillis: 1000 },
  deadLetter: undefined,
  retainsAcknowledged: false,
  retentionMicros: 600_000_000n,
  push: undefined,
};

function newState(settings: Partial<SubscriptionSettings> = {}) {
  const store = new MessageStore(1e9, START);
  const state = new SubscriptionState({ ...SETTINGS, ...settings }, store);
  const publish = (orderingKey = '', now = START) => {
    const message = store.stamp(
      { data: Buffer.from('x'), attributes: {}, messageId: '', publishTime: undefined, orderingKey },
      now,
    );
    state.offer(message);
    return message;
  };
  return { state, store, publish };
}

const sequences = (deliveries: readonly Delivery[]) => deliveries.map(({ message }) => message.sequence);

test('a lease ends exactly at its time, and the message waits for its retry delay', () => {
  const { state, publish } = newState();
  const { sequence } = publish();
  expect(sequences(state.take(START, ALL, 500))).toEqual([sequence]);
  expect(state.nextDueAt).toBe(START + 500);
  expect(state.advance(START + 499)).toBe(0);
  expect(state.advance(START + 500)).toBe(1);
  expect(state.take(START + 500, ALL, 500)).toEqual([]);
  expect(state.nextDueAt).toBe(START + 600);
  state.advance(START + 600);
  const [second] = state.take(START + 600, ALL, 500);
  expect(second?.attempt).toBe(2);
});

test('a message past its retention is given up instead of delivered', () => {
  const { state, store, publish } = newState();
  publish('k', START);
  const young = publish('k', START + 1000);
  expect(sequences(state.take(START + 600_500, ALL, 500))).toEqual([young.sequence]);
  expect(state.backlogSize).toBe(1);
  expect(store.retainedBytes).toBeGreaterThan(0);
});

test('acknowledged messages are retained for a seek no longer than the retention', () => {
  const { state, store, publish } = newState({ retainsAcknowledged: true });
  publish('', START);
  publish('', START + 600_000);
  const [first, second] = state.take(START + 1, ALL, 500);
  state.acknowledge(first!.ackId, START + 1);
  expect(state.retainedSize).toBe(1);
  state.acknowledge(second!.ackId, START + 600_001);
  expect(state.retainedSize).toBe(1);
  state.dropRetained();
  expect(store.retainedBytes).toBe(0);
});

test('taking stops at the bytes asked for, but always moves one message', () => {
  const { state, publish } = newState();
  for (let index = 0; index < 5; index += 1) publish();
  expect(state.take(START, { messages: 10, bytes: 2 }, 500).length).toBe(2);
  expect(state.take(START, { messages: 10, bytes: 0.5 }, 500).length).toBe(1);
  expect(state.take(START, { messages: 1, bytes: Infinity }, 500).length).toBe(1);
});

test.each(['', '7', '7:x', ':', '-1:1', '9999999999999999:1', `${'1'.repeat(40)}:1`])(
  'the acknowledgement id %j acknowledges nothing',
  (ackId) => {
    const { state, publish } = newState();
    publish();
    state.take(START, ALL, 500);
    expect(state.acknowledge(ackId, START)).toBe(false);
    expect(state.backlogSize).toBe(1);
  },
);

type Step =
  | { readonly kind: 'publish'; readonly key: string }
  | { readonly kind: 'take'; readonly count: number; readonly overtake: number }
  | { readonly kind: 'acknowledge' | 'refuse' | 'lose' | 'extend' | 'acknowledge-late'; readonly index: number }
  | { readonly kind: 'wait'; readonly millis: number }
  | { readonly kind: 'seek'; readonly back: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('publish' as const), key: fc.constantFrom('', '', 'a', 'b') }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('take' as const),
      count: fc.integer({ min: 1, max: 4 }),
      overtake: fc.nat(3),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'acknowledge' as const,
        'refuse' as const,
        'lose' as const,
        'extend' as const,
        'acknowledge-late' as const,
      ),
      index: fc.nat(20),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), millis: fc.integer({ min: 1, max: 800 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('seek' as const), back: fc.oneof(fc.nat(20), fc.nat(2000)) }) },
);

test('under any schedule every message is delivered until it is acknowledged, keys stay in order, and memory is given back', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), fc.boolean(), (steps, retainsAcknowledged) => {
      const { state, store, publish } = newState({ retainsAcknowledged });
      let now = START;
      const published = new Map<number, StoredMessage>();
      const keyOf = (sequence: number) => published.get(sequence)?.wire.orderingKey ?? '';
      const remember = (message: StoredMessage) => published.set(message.sequence, message);
      const acknowledged = new Set<number>();
      const past: Delivery[] = [];
      /** Of each key, the sequence whose delivery the key is at. */
      const at = new Map<string, number>();
      const deliver = (deliveries: readonly Delivery[]): void => {
        for (const delivery of deliveries) {
          past.push(delivery);
          const { sequence } = delivery.message;
          const key = keyOf(sequence);
          expect(acknowledged.has(sequence)).toBe(false);
          if (key === '') continue;
          const isEarlier = (other: number) => other < sequence && keyOf(other) === key && !acknowledged.has(other);
          expect([...published.keys()].filter(isEarlier)).toEqual([]);
          expect(at.get(key) ?? 0).toBeLessThanOrEqual(sequence);
          at.set(key, sequence);
        }
      };
      for (const action of steps) {
        now += 1;
        state.advance(now);
        const reference = 'index' in action ? past.at(-1 - (action.index % Math.max(1, past.length))) : undefined;
        switch (action.kind) {
          case 'publish':
            remember(publish(action.key, now));
            break;
          case 'take':
            deliver(state.take(now, { messages: action.count, bytes: Infinity }, 300, undefined, action.overtake));
            break;
          case 'acknowledge':
          case 'acknowledge-late':
            if (reference && state.acknowledge(reference.ackId, now)) acknowledged.add(reference.message.sequence);
            break;
          case 'refuse':
            if (reference) state.refuse(reference.ackId, now);
            break;
          case 'lose':
            if (reference) state.loseAcknowledgement(reference.ackId);
            break;
          case 'extend':
            if (reference) state.extend(reference.ackId, now, 500);
            break;
          case 'wait':
            now += action.millis;
            break;
          case 'seek': {
            const micros = BigInt(now - action.back) * 1000n;
            state.seek(micros);
            for (const { ackId } of past.splice(0)) expect(state.acknowledge(ackId, now)).toBe(false);
            at.clear();
            for (const { sequence, publishMicros } of published.values()) {
              if (publishMicros < micros) acknowledged.add(sequence);
              else if (retainsAcknowledged) acknowledged.delete(sequence);
            }
            break;
          }
        }
        expect(state.backlogSize).toBe(published.size - acknowledged.size);
      }
      for (let rounds = 0; acknowledged.size < published.size && rounds < 300; rounds += 1) {
        now += 1000;
        state.advance(now);
        const deliveries = state.take(now, ALL, 300);
        deliver(deliveries);
        for (const { ackId, message } of deliveries) {
          expect(state.acknowledge(ackId, now)).toBe(true);
          acknowledged.add(message.sequence);
        }
      }
      expect(acknowledged.size).toBe(published.size);
      state.dropRetained();
      expect(store.retainedBytes).toBe(0);
    }),
  );
});
