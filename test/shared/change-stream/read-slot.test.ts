import { describe, expect, test } from 'vitest';
import { StreamFailedError } from '../../../shared/change-stream/reading/ports.ts';
import { LEASE_MILLIS } from '../../../shared/slots/lease.ts';
import { ChangeStreamSlotWorld, idAt, rangeAt, textsOf } from '../../support/change-stream-slot-world.ts';
import { at, change, closeInto, heartbeat } from '../../support/fake-partition-streams.ts';
import { status } from '../../support/fake-topic.ts';
import { rangeFrom } from '../../support/slot-world.ts';

const world = (...started: Parameters<ChangeStreamSlotWorld['started']>) =>
  new ChangeStreamSlotWorld().started(...started);

test.each(['starting', 'stopped', 'paused', 'done'] as const)(
  'a source that is %s is not read, and its slot is not even taken',
  async (state) => {
    const here = await world(1, { status: state });
    const { done } = here.invoke();
    await here.clock.advance(0);
    expect(await done).toEqual({ outcome: 'idle', status: state });
    expect([here.store.slot(0), here.clock.pending]).toEqual([undefined, 0]);
  },
);

test('a slot takes partitions in their turn, the oldest low watermark first, and never more than it reads at once', async () => {
  const here = await world(5);
  here.invoke(0, { maxConcurrentStreams: 2 });
  await here.clock.advance(10);
  expect(here.reading.map(({ range }) => range)).toEqual([rangeAt(0), rangeAt(1)]);
  await here.clock.advance(30_000);
  expect(here.streams.length).toBe(2);
});

test("of two slots each takes its share first, and what nobody takes for 3 s is anybody's", async () => {
  const here = await world(4);
  here.invoke(0, { parallelism: 2 });
  await here.clock.advance(10);
  expect(here.reading.length).toBe(2);
  await here.clock.advance(10_000);
  expect(here.reading.length).toBe(4);
});

test('positions are written every 5 s while a change moved one, and every minute where heartbeats alone did', async () => {
  const here = await world(1);
  here.invoke();
  await here.clock.advance(10);
  const positions = () => textsOf(here.store.slot(0)?.units[idAt(0)]?.position.tokens ?? []);
  here.open(rangeAt(0)).feed(change('b', 1));
  await here.clock.advance(5_000);
  expect(positions()).toEqual(['t1']);
  here.open(rangeAt(0)).feed(heartbeat(2));
  await here.clock.advance(50_000);
  expect(positions()).toEqual(['t1']);
  await here.clock.advance(15_000);
  expect(positions()).toEqual(['t2']);
});

describe('a partition that the service closes', () => {
  test('ends in one commit with its children, which begin after its last message is confirmed', async () => {
    const here = await world(1);
    here.topic.next({ kind: 'confirm', delayMillis: 2_000 });
    const [left, right] = [rangeFrom('a', 'ab'), rangeFrom('ab', 'b')];
    here.invoke();
    await here.clock.advance(10);
    here.open(rangeAt(0)).feed(change('a1', 1), closeInto({ range: left, token: 'l' }, { range: right, token: 'r' }));
    await here.clock.advance(1_990);
    expect([here.streams.length, here.partition(idAt(0)).state.kind]).toEqual([1, 'held']);
    await here.clock.advance(1_000);
    expect(here.topic.texts).toEqual(['a1']);
    expect(here.partition(idAt(0)).state.kind).toBe('done');
    expect(here.reading.map(({ position }) => textsOf(position.tokens))).toEqual([['l'], ['r']]);
    expect(here.counter('changeStreamPartitionSplits')).toBe(2);
  });

  test('is as before when its slot dies before the commit, and whoever takes it over reads it again and closes it', async () => {
    const here = await world(1);
    const dying = here.invoke(0, { parallelism: 2 });
    await here.clock.advance(10);
    here.store.fault = ({ method }) => (method === 'commitSlot' ? 'error-before' : undefined);
    here.open(rangeAt(0)).feed(heartbeat(3), closeInto({ range: rangeAt(0), token: 'next' }));
    await here.clock.advance(1_000);
    dying.end.abort(new Error('killed'));
    here.store.fault = () => undefined;
    expect(here.store.partitions.map(({ id, state }) => [id, state.kind])).toEqual([[idAt(0), 'held']]);
    await here.clock.advance(LEASE_MILLIS);
    here.invoke(1, { parallelism: 2 });
    await here.clock.advance(10_000);
    expect(here.reading.map(({ position }) => textsOf(position.tokens))).toEqual([[]]);
    expect(here.store.slot(1)?.units[idAt(0)]?.failures).toBe(1);
    here.open(rangeAt(0)).feed(heartbeat(3), closeInto({ range: rangeAt(0), token: 'next' }));
    await here.clock.advance(10_000);
    expect(here.reading.map(({ position }) => textsOf(position.tokens))).toEqual([['next']]);
    expect(here.store.partitions.length).toBe(2);
  });

  test('with another parent of the same child in one slot makes that child once, with both tokens', async () => {
    const here = await world(2);
    const target = rangeFrom('a', 'c');
    here.invoke();
    await here.clock.advance(10);
    for (const place of [0, 1]) {
      const close = { range: rangeAt(place), token: `m${place}` };
      here.open(rangeAt(place)).feed({
        kind: 'close',
        isEnd: false,
        status: status('OUT_OF_RANGE'),
        successors: [{ target, token: close }],
      });
    }
    await here.clock.advance(10_000);
    expect(here.reading.map(({ position }) => textsOf(position.tokens))).toEqual([['m0', 'm1']]);
    expect([here.store.merges, here.counter('changeStreamPartitionMerges')]).toEqual([[], 1]);
  });

  test('without successors is read on from its last position, and that is counted', async () => {
    const here = await world(1);
    here.invoke();
    await here.clock.advance(10);
    here.open(rangeAt(0)).feed(heartbeat(3), closeInto());
    await here.clock.advance(5_000);
    expect(here.reading.map(({ position }) => textsOf(position.tokens))).toEqual([['t3']]);
    expect(here.counter('successorlessCloses')).toBe(1);
  });
});

describe('where more partitions wait than are read', () => {
  test('each waits for ⌈partitions / streams⌉ residencies at most', async () => {
    const here = await world(5);
    const waits = new Map<string, number>();
    const seen = new Map<string, number>();
    let most = 0;
    here.onOpen = (stream) => {
      const name = JSON.stringify(stream.range);
      most = Math.max(most, here.clock.now() - (seen.get(name) ?? begun));
      waits.set(name, (waits.get(name) ?? 0) + 1);
      stream.feed(heartbeat(Math.floor(here.clock.now() / 1000)));
    };
    const begun = here.clock.now();
    here.invoke(0, { maxConcurrentStreams: 2 });
    for (let second = 0; second < 600; second += 1) {
      await here.clock.advance(1_000);
      for (const { range } of here.reading) seen.set(JSON.stringify(range), here.clock.now());
    }
    expect([...waits.values()].every((times) => times >= 3)).toBe(true);
    expect(most).toBeLessThanOrEqual(Math.ceil(5 / 2) * 60_000);
    expect(here.counter('readsCancelled')).toBeGreaterThan(0);
  });

  test('a partition that has not moved yet is not cancelled', async () => {
    const here = await world(2);
    here.invoke(0, { maxConcurrentStreams: 1 });
    await here.clock.advance(300_000);
    expect([here.streams.length, here.counter('readsCancelled')]).toEqual([1, 0]);
  });

  test('a window that does not settle holds up no commit of the others', async () => {
    const here = await world(3);
    here.topic.decide = ({ texts }) =>
      texts[0]?.startsWith('stuck') ? { kind: 'refuse', status: status('UNAVAILABLE') } : undefined;
    here.invoke(0, { maxConcurrentStreams: 2 });
    await here.clock.advance(10);
    here.open(rangeAt(0)).feed(heartbeat(1), change('stuck', 2));
    await here.clock.advance(66_000);
    here.open(rangeAt(1)).feed(change('b', 9));
    await here.clock.advance(6_000);
    expect(textsOf(here.store.slot(0)?.units[idAt(1)]?.position.tokens ?? [])).toEqual(['t9']);
  });
});

test('without partitions that wait nothing is cancelled', async () => {
  const here = await world(2);
  here.onOpen = (stream) => {
    stream.feed(heartbeat(1));
  };
  here.invoke();
  await here.clock.advance(600_000);
  expect([here.streams.length, here.counter('readsCancelled')]).toEqual([2, 0]);
});

describe('told to stop', () => {
  test('a slot gives every partition back behind all that wait, at its last confirmed position, with failures untouched, and leaves nothing behind', async () => {
    const here = await world(4, { held: { failures: 2 } });
    here.topic.next({ kind: 'confirm', delayMillis: 1_000 });
    const invocation = here.invoke(0, { maxConcurrentStreams: 2 });
    await here.clock.advance(10);
    here.open(rangeAt(1)).feed(change('b', 5));
    await here.clock.advance(10);
    invocation.stop.abort(new Error('SIGTERM'));
    await here.clock.advance(9_000);
    expect(invocation.report).toMatchObject({ outcome: 'worked', partitionsTaken: 2 });
    expect(here.partition(idAt(0))).toMatchObject({ state: { kind: 'waiting' }, failures: 2, round: 1 });
    expect(here.partition(idAt(1))).toMatchObject({ state: { kind: 'waiting' }, failures: 0, round: 1 });
    expect(textsOf(here.partition(idAt(1)).position.tokens)).toEqual(['t5']);
    expect([here.reading, here.clock.pending]).toEqual([[], 0]);
  });

  test('a slot whose topic refuses gives everything back in time, and no failure is counted', async () => {
    const here = await world(1);
    here.topic.decide = () => ({ kind: 'refuse', status: status('UNAVAILABLE') });
    const invocation = here.invoke();
    await here.clock.advance(10);
    here.open(rangeAt(0)).feed(change('a', 5));
    await here.clock.advance(10);
    invocation.stop.abort(new Error('SIGTERM'));
    here.clock.after(7_000, () => {
      invocation.end.abort(new Error('the time is used up'));
    });
    await here.clock.advance(9_000);
    expect(invocation.report).toMatchObject({ outcome: 'worked' });
    expect(here.partition(idAt(0))).toMatchObject({ state: { kind: 'waiting' }, failures: 0 });
    expect(here.partition(idAt(0)).position.lowWatermark).toBe(at(0));
  });
});

test('a slot whose source is paused meanwhile gives everything back', async () => {
  const here = await world(2);
  const invocation = here.invoke();
  await here.clock.advance(1_000);
  await here.becomes({ status: 'paused' });
  await here.clock.advance(10_000);
  expect(invocation.report).toMatchObject({ outcome: 'worked' });
  expect(here.store.partitions.map(({ state }) => state.kind)).toEqual(['waiting', 'waiting']);
});

test('a slot that holds more than its share gives the excess to one that has less', async () => {
  const here = await world(4);
  here.onOpen = (stream) => {
    stream.feed(heartbeat(100));
  };
  here.invoke(0, { parallelism: 2 });
  await here.clock.advance(20_000);
  expect(Object.keys(here.store.slot(0)?.units ?? {}).length).toBe(4);
  here.invoke(1, { parallelism: 2 });
  await here.clock.advance(40_000);
  expect([0, 1].map((slot) => Object.keys(here.store.slot(slot)?.units ?? {}).length)).toEqual([2, 2]);
  expect(here.counter('readsCancelled')).toBe(2);
});

test('what ended its reader three times is read alone until it moves, and its neighbours wait for another slot', async () => {
  const here = await world(3);
  const suspect = {
    ...here.partition(idAt(1)),
    failures: 3,
    problem: 'the invocation that read it ended without giving it back',
  };
  await here.becomes({}, [{ kind: 'partition', partition: suspect }]);
  here.invoke();
  await here.clock.advance(6_000);
  expect(here.reading.map(({ range }) => range)).toEqual([rangeAt(1)]);
  await here.clock.advance(6_000);
  expect(Object.keys(here.store.slot(0)?.units ?? {})).toEqual([idAt(1)]);
  here.open(rangeAt(1)).feed(change('b', 9));
  await here.clock.advance(15_000);
  expect(here.reading.length).toBe(3);
});

test('what is refused for every partition rests for a minute, and is no failure of the partition', async () => {
  const here = await world(1);
  here.invoke();
  await here.clock.advance(10);
  const call = { table: { project: 'p', instance: 'i', table: 't' }, range: rangeAt(0) };
  here.open(rangeAt(0)).feed(new StreamFailedError('status', call, status('FAILED_PRECONDITION')));
  await here.clock.advance(1_000);
  expect(here.partition(idAt(0))).toMatchObject({ state: { kind: 'resting' }, failures: 0 });
  expect(here.partition(idAt(0)).problem).toContain('FAILED_PRECONDITION');
});
