import { expect, test } from 'vitest';
import { emitAll, numbered, startEmission } from '../../../support/emission-harness.ts';
import { status } from '../../../support/fake-topic.ts';

test('of an ordering key one request is out, and what arrives meanwhile leaves together in the next', async () => {
  const { clock, topic, open } = startEmission();
  topic.decide = () => ({ kind: 'confirm', delayMillis: 50 });
  const unit = open();
  emitAll(unit, ['m1'], 'k');
  await clock.advance(10);
  for (const message of numbered('m', 5, 2)) {
    emitAll(unit, [message], 'k');
    await clock.advance(5);
  }
  await clock.advance(100);
  expect(topic.attempts.map(({ texts }) => texts)).toEqual([['m1'], numbered('m', 5, 2)]);
  expect(topic.maxOutstanding).toBe(1);
});

test('without an ordering key a few requests are out at a time', async () => {
  const { clock, topic, open } = startEmission();
  topic.decide = () => ({ kind: 'confirm', delayMillis: 50 });
  const unit = open();
  for (const message of numbered('m', 20)) {
    emitAll(unit, [message]);
    await clock.advance(1);
  }
  await clock.advance(200);
  expect(topic.maxOutstanding).toBe(4);
  expect(topic.attempts.map(({ texts }) => texts.length)).toEqual([1, 1, 1, 1, 16]);
});

test('a request holds at most 1,000 messages, and about 1 MiB', async () => {
  const { clock, topic, open } = startEmission();
  const unit = open();
  emitAll(unit, numbered('m', 2500), 'k');
  emitAll(
    unit,
    numbered('m', 30, 2501).map((name) => name.padEnd(100_000)),
    'k',
  );
  await clock.advance(100);
  expect(topic.attempts.map(({ texts }) => texts.length)).toEqual([1000, 1000, 510, 10, 10]);
  expect(Math.max(...topic.attempts.map(({ bytes }) => bytes))).toBeLessThan(1024 * 1024);
  expect(unit.takeCommittable()).toBe(2530);
});

test('messages of every key leave in their order, whatever fails in between', async () => {
  const { clock, topic, open } = startEmission();
  let count = 0;
  const faults = [
    { kind: 'refuse', status: status('UNAVAILABLE') },
    { kind: 'lose-answer', status: status('INTERNAL') },
    { kind: 'refuse', status: status('RESOURCE_EXHAUSTED') },
    undefined,
  ] as const;
  topic.decide = () => faults[(count += 1) % 4];
  const unit = open();
  for (let row = 1; row <= 400; row += 1) {
    emitAll(unit, [`m${row}`], `key-${row % 7}`);
    if (row % 10 === 0) await clock.advance(20);
  }
  await clock.advance(600_000);
  expect(unit.takeCommittable()).toBe(400);
  const first = new Map<string, string[]>();
  for (const { text, key } of topic.published) {
    const known = first.get(key) ?? [];
    if (!known.includes(text)) first.set(key, [...known, text]);
  }
  for (const [key, texts] of first) {
    const rows = numbered('m', 400).filter((_, index) => `key-${(index + 1) % 7}` === key);
    expect(texts).toEqual(rows);
  }
});

test('many keys with little in them make few small requests at a time, and keys with much pass beside them', async () => {
  const { clock, topic, open } = startEmission();
  topic.decide = () => ({ kind: 'confirm', delayMillis: 50 });
  const unit = open();
  for (let key = 0; key < 64; key += 1) emitAll(unit, [`m${key}`], `small-${key}`);
  await clock.advance(10);
  expect(topic.outstanding).toBeLessThanOrEqual(8);
  for (let key = 0; key < 5; key += 1) emitAll(unit, [`m${key}`.padEnd(100_000)], `large-${key}`);
  await clock.advance(10);
  expect(topic.attempts.filter(({ key }) => key.startsWith('large')).length).toBe(5);
  await clock.advance(2000);
  expect(topic.published.length).toBe(69);
});

test('many thousands of keys are served by many requests at a time', async () => {
  const { clock, topic, open } = startEmission();
  topic.decide = () => ({ kind: 'confirm', delayMillis: 50 });
  const unit = open();
  for (let key = 0; key < 5000; key += 1) emitAll(unit, [`m${key}`], `key-${key}`);
  await clock.advance(10);
  expect(topic.outstanding).toBe(64);
  await clock.advance(10_000);
  expect([topic.published.length, topic.maxOutstanding, clock.pending]).toEqual([5000, 64, 0]);
});

test('keys whose requests fail do not keep the others from leaving', async () => {
  const { clock, topic, open } = startEmission();
  topic.decide = ({ key }) => (key.startsWith('stuck') ? { kind: 'refuse', status: status('UNAVAILABLE') } : undefined);
  const unit = open();
  for (let key = 0; key < 20; key += 1) emitAll(unit, [`m${key}`], `stuck-${key}`);
  await clock.advance(5_000);
  for (let key = 0; key < 20; key += 1) emitAll(unit, [`m${key}`], `good-${key}`);
  await clock.advance(100);
  expect(topic.published.length).toBe(20);
});

test('RESOURCE_EXHAUSTED makes requests fewer, the time they wait is counted, and the pace comes back', async () => {
  const { clock, topic, runtime, open } = startEmission();
  const start = clock.now();
  topic.decide = ({ at }) =>
    at < start + 5_000
      ? { kind: 'refuse', status: status('RESOURCE_EXHAUSTED') }
      : { kind: 'confirm', delayMillis: 50 };
  const unit = open();
  for (let key = 0; key < 640; key += 1) emitAll(unit, [`m${key}`], `key-${key}`);
  await clock.advance(5_000);
  const refused = topic.attempts.length;
  topic.maxOutstanding = 0;
  await clock.advance(5_000);
  expect(topic.maxOutstanding).toBeLessThan(40);
  await clock.advance(600_000);
  expect([refused < 640, topic.published.length]).toEqual([true, 640]);
  const { counters } = runtime.metrics.snapshot();
  expect(counters.throttledTime).toBeGreaterThan(4_000);
});

test('while the topic says nothing only so much is in requests, whatever waits', async () => {
  const { clock, topic, open, runtime } = startEmission();
  topic.decide = () => ({ kind: 'silence' });
  const unit = open();
  for (let key = 0; key < 60; key += 1)
    emitAll(
      unit,
      numbered('m', 10).map((name) => name.padEnd(100_000)),
      `key-${key}`,
    );
  await clock.advance(9_000);
  const out = topic.attempts.reduce((sum, { bytes }) => sum + bytes, 0);
  expect(out).toBeGreaterThan(8_000_000);
  expect(out).toBeLessThan(8 * 1024 * 1024 + 1024 * 1024);
  expect(runtime.metrics.snapshot().gauges.emissionWindowBytes).toBeGreaterThan(60_000_000);
});
