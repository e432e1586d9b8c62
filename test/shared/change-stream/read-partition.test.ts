import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ChangeFilter,
  changeFilter,
  type ChangeFilterOptions,
} from '../../../shared/change-stream/change-filter.ts';
import type { HeldPartition } from '../../../shared/change-stream/ledger/partition.ts';
import { type PartitionEnding, readPartition } from '../../../shared/change-stream/read-partition.ts';
import { type StreamEvent, StreamFailedError } from '../../../shared/change-stream/reading/ports.ts';
import type { StreamWork } from '../../../shared/change-stream/stream-work.ts';
import type { StatusName } from '../../../shared/model/status.ts';
import type { Change } from '../../../shared/model/change.ts';
import { setCellOf } from '../../support/changes.ts';
import { OUT, startEmission } from '../../support/emission-harness.ts';
import {
  at,
  change,
  closeInto,
  closeWith,
  FakeStream,
  heartbeat,
  reachedEnd,
} from '../../support/fake-partition-streams.ts';
import { status } from '../../support/fake-topic.ts';
import { rangeFrom } from '../../support/slot-world.ts';

const RANGE = rangeFrom('a', 'm');
const HELD: HeldPartition = {
  generation: 1,
  range: RANGE,
  position: { tokens: [{ range: RANGE, token: 't0' }], lowWatermark: at(0) },
  failures: 0,
  round: 1,
};

/** A change whose row begins with `skip` has no message, with `two` two, and with `odd` no form. */
const messagesOf: StreamWork['messagesOf'] = ({ rowKey }, restarted) => {
  const text = rowKey.toString();
  if (text.startsWith('skip')) return [];
  if (text.startsWith('odd')) throw new Error('a rule is broken');
  const message = (data: string) => ({
    data: Buffer.from(data),
    attributes: restarted ? { restarted: restarted.how } : {},
    orderingKey: text.slice(0, 1),
  });
  return text.startsWith('two') ? [message(`${text}/1`), message(`${text}/2`)] : [message(text)];
};

/** A partition that is read before a topic in memory. */
function start(held = HELD, maxOutstandingBytes?: number, filter?: ChangeFilter) {
  const harness = startEmission(maxOutstandingBytes);
  const { clock, topic, runtime, emission } = harness;
  const streams: FakeStream[] = [];
  const stop = new AbortController();
  const end = new AbortController();
  const reader = readPartition({
    held,
    work: {
      open(range, position, signal) {
        const stream = new FakeStream(range, position, signal);
        streams.push(stream);
        return stream;
      },
      ...(filter && { filter }),
      messagesOf,
      unit: {
        topic: OUT,
        attributes: {},
        maxRecordsPerMessage: 1,
        oversizedMessage: 'fail',
        failurePolicy: 'fail',
        setApart: () => Promise.reject(new Error('nothing is set apart here')),
      },
    },
    openUnit: (options, onConfirmed) => emission.open(options, onConfirmed),
    ...{ runtime, stop: stop.signal, end: end.signal },
  });
  const stream = streams[0] as FakeStream;
  let ending: PartitionEnding | undefined;
  const ended = reader.ended.then((how) => {
    ending = how;
  });
  return {
    ...{ clock, topic, runtime, stream, stop, end, reader, ended },
    get ending() {
      return ending;
    },
    token: () => reader.takePlace()?.position.tokens.map(({ token }) => token),
    feed(...events: readonly (StreamEvent | Error)[]) {
      stream.feed(...events);
      return clock.advance(0);
    },
  };
}

const failed = (code: StatusName) =>
  new StreamFailedError('status', { table: { project: 'p', instance: 'i', table: 't' }, range: RANGE }, status(code));

test('a stream is opened with all tokens of the partition, and the partition has one of its own after the first confirmed position', async () => {
  const parents = [
    { range: rangeFrom('a', 'f'), token: 'left' },
    { range: rangeFrom('f', 'm'), token: 'right' },
  ];
  const world = start({ ...HELD, position: { tokens: parents, lowWatermark: at(0) } });
  expect(world.stream.position.tokens).toEqual(parents);
  await world.feed(change('b1', 1));
  expect(world.reader.takePlace()).toBeUndefined();
  await world.clock.advance(1);
  expect(world.reader.takePlace()).toEqual({
    position: { tokens: [{ range: RANGE, token: 't1' }], lowWatermark: at(1) },
    changes: 1,
  });
});

test('a position counts when everything before it is confirmed: a heartbeat never passes a change that is not', async () => {
  const world = start();
  world.topic.next({ kind: 'confirm', delayMillis: 5_000 });
  await world.feed(change('b1', 1), heartbeat(2), heartbeat(3));
  await world.clock.advance(4_999);
  expect(world.token()).toBeUndefined();
  await world.clock.advance(1);
  expect(world.token()).toEqual(['t3']);
  expect(world.topic.texts).toEqual(['b1']);
});

test('heartbeats move the position without a change, and the place says that none was read', async () => {
  const world = start();
  await world.feed(heartbeat(7));
  expect(world.reader.takePlace()).toMatchObject({ position: { lowWatermark: at(7) }, changes: 0 });
});

test('a change that is left out moves the position in its turn, and counts as skipped', async () => {
  const world = start();
  world.topic.next({ kind: 'confirm', delayMillis: 50 });
  await world.feed(change('b1', 1), change('skip', 2));
  expect(world.token()).toBeUndefined();
  await world.clock.advance(50);
  expect(world.reader.takePlace()).toMatchObject({ position: { lowWatermark: at(2) }, changes: 2 });
  expect(world.runtime.metrics.snapshot().counters.recordsSkipped).toBe(1);
});

describe('a filter', () => {
  const onlyKept = { families: { mode: 'include', patterns: ['kept'] }, collected: 'drop' } as const;
  const startFiltered = async (options: ChangeFilterOptions) => start(HELD, undefined, await changeFilter(options));
  const half = { entries: [setCellOf('kept', 'q', 'v'), setCellOf('gone', 'q', 'v')] };
  const gone = { entries: [setCellOf('gone', 'q', 'v'), setCellOf('gone', 'q', 'v')] };

  test('leaves out changes whole: they make no message, move the position and count as skipped', async () => {
    const world = await startFiltered({ ...onlyKept, skipMessagesWithoutChange: true });
    await world.feed(change('b1', 1, gone), change('b2', 2, half));
    await world.feed(change('b3', 3, { ...half, type: 'GARBAGE_COLLECTION', sourceCluster: '' }));
    await world.clock.advance(10);
    expect(world.topic.texts).toEqual(['b2']);
    expect(world.token()).toEqual(['t3']);
    expect(world.runtime.metrics.snapshot().counters).toMatchObject({
      changeStreamMutationsRead: 3,
      changeStreamMutationEntriesFiltered: 3,
      changeStreamRecordsSkippedWithoutChange: 1,
      recordsSkipped: 2,
    });
  });

  test('hands on a change without entries where it is not to be skipped', async () => {
    const world = await startFiltered({ ...onlyKept, skipMessagesWithoutChange: false });
    await world.feed(change('b1', 1, gone), change('two', 2, half));
    await world.clock.advance(10);
    expect(world.topic.texts).toEqual(['b1', 'two/1', 'two/2']);
    const { counters } = world.runtime.metrics.snapshot();
    expect(counters.changeStreamMutationEntriesFiltered).toBe(3);
    expect(counters.recordsSkipped ?? 0).toBe(0);
  });

  test('counts what it left out once the position is behind it, and nothing of a change that has no form', async () => {
    const world = await startFiltered({ ...onlyKept, skipMessagesWithoutChange: false });
    await world.feed(change('odd', 1, half));
    await world.ended;
    expect(world.runtime.metrics.snapshot().counters.changeStreamMutationEntriesFiltered ?? 0).toBe(0);
    expect(world.token()).toBeUndefined();
  });

  test('leaves the latency of the changes that have a message as it is, however late a change behind them was committed', async () => {
    const world = await startFiltered({ ...onlyKept, skipMessagesWithoutChange: true });
    const now = BigInt(world.clock.now()) * 1_000_000n;
    world.topic.next({ kind: 'confirm', delayMillis: 50 });
    await world.feed(change('b1', 1, { ...half, commitTime: now }));
    await world.feed(change('b2', 2, { ...gone, commitTime: now + 40_000_000n }));
    await world.clock.advance(50);
    expect(world.runtime.metrics.snapshot().distributions.commitToPublishLatency).toMatchObject({ count: 1, sum: 50 });
  });

  test('that cannot decide fails the reading, with the row and what to do', async () => {
    const world = start(HELD, undefined, () => {
      throw new Error('use a list of families');
    });
    await world.feed(change('b1', 1));
    await world.ended;
    expect(world.ending).toMatchObject({
      kind: 'failed',
      problem: 'the change of row b1 cannot be filtered: use a list of families',
    });
    expect(world.token()).toBeUndefined();
  });

  test('moves no position, whatever its options are: a partition comes exactly as far as without one', async () => {
    const list = fc.option(
      fc.record({
        mode: fc.constantFrom('include' as const, 'exclude' as const),
        patterns: fc.subarray(['a', 'b', 'a:.*', '.*cQ==', '.*'], { minLength: 1 }),
      }),
      { nil: undefined },
    );
    const options = fc.record({
      ...{ families: list, qualifiers: list },
      skipMessagesWithoutChange: fc.boolean(),
      collected: fc.constantFrom('include' as const, 'drop' as const),
      sourceClusters: fc.option(fc.subarray(['c', 'd']), { nil: undefined }),
    });
    const entries = fc.subarray([setCellOf('a', 'q', '1'), setCellOf('b', 'q', '2'), setCellOf('b', 'r', '3')]);
    const told = fc.oneof(
      fc.record({ entries, sourceCluster: fc.constantFrom('c', 'd') }),
      fc.record({ entries, type: fc.constant('GARBAGE_COLLECTION' as const), sourceCluster: fc.constant('') }),
      fc.constant('heartbeat' as const),
    );
    const end = async (events: readonly StreamEvent[], filter?: ChangeFilter) => {
      const world = start(HELD, undefined, filter);
      await world.feed(...events);
      await world.clock.advance(1_000);
      const { recordsSkipped = 0 } = world.runtime.metrics.snapshot().counters;
      return { place: world.reader.takePlace(), changes: world.topic.texts.length + recordsSkipped };
    };
    await fc.assert(
      fc.asyncProperty(fc.array(told, { minLength: 1, maxLength: 8 }), options, async (parts, written) => {
        const events = parts.map((part: 'heartbeat' | Partial<Change>, index) =>
          part === 'heartbeat' ? heartbeat(index) : change(`b${index}`, index, part),
        );
        const { families, qualifiers, sourceClusters, ...rest } = written;
        const filter = await changeFilter({
          ...rest,
          ...(families && { families }),
          ...(qualifiers && { qualifiers }),
          ...(sourceClusters && { sourceClusters }),
        });
        expect(await end(events, filter)).toEqual(await end(events));
      }),
    );
  });
});

test('all messages of a change are confirmed before the position is behind it', async () => {
  const world = start();
  world.topic.next({ kind: 'confirm' }, { kind: 'confirm', delayMillis: 50 });
  await world.feed(change('two', 1));
  await world.clock.advance(10);
  expect(world.topic.texts).toEqual(['two/1', 'two/2'].slice(0, world.topic.texts.length));
  await world.clock.advance(50);
  expect(world.topic.texts).toEqual(['two/1', 'two/2']);
  expect(world.token()).toEqual(['t1']);
});

test('while there is no room for messages the stream is not asked, so that a topic that refuses costs no memory', async () => {
  const world = start(HELD, 1_000);
  world.topic.decide = ({ at: time }) =>
    time < startOf + 3_600_000 ? { kind: 'refuse', status: status('UNAVAILABLE') } : undefined;
  const startOf = world.clock.now();
  await world.feed(...Array.from({ length: 100 }, (_, index) => change('b', index + 1)));
  await world.clock.advance(3_600_000);
  expect(world.stream.asked).toBeLessThan(5);
  expect(world.token()).toBeUndefined();
  await world.clock.advance(600_000);
  expect(world.stream.asked).toBe(101);
  expect(world.token()).toEqual(['t100']);
});

test('messages say that the partition was restarted until its low watermark passes the one it had before', async () => {
  const world = start({ ...HELD, restarted: { how: 'tokenless', until: at(5) } });
  await world.feed(change('b1', 1), change('b2', 5), change('b3', 6), change('b4', 4));
  await world.clock.advance(10);
  expect(world.topic.published.map(({ text, attributes }) => [text, attributes.restarted])).toEqual([
    ['b1', 'tokenless'],
    ['b2', 'tokenless'],
    ['b3', undefined],
    ['b4', undefined],
  ]);
});

describe('the reading of a partition ends', () => {
  test('as closed, with its successors, once everything before is confirmed and the stream has ended', async () => {
    const world = start();
    world.topic.next({ kind: 'confirm', delayMillis: 500 });
    const successors = [{ target: RANGE, token: { range: RANGE, token: 'next' } }];
    await world.feed(change('b1', 1), closeWith(successors));
    await world.clock.advance(499);
    expect(world.ending).toBeUndefined();
    await world.clock.advance(1);
    await world.ended;
    expect(world.ending).toMatchObject({ kind: 'closed', close: { isEnd: false, successors } });
    expect([world.stream.isClosed, world.token(), world.clock.pending]).toEqual([true, ['t1'], 0]);
  });

  test('as closed at the end time', async () => {
    const world = start();
    await world.feed(heartbeat(1), reachedEnd);
    expect(world.ending).toMatchObject({ kind: 'closed', close: { isEnd: true } });
  });

  test('as stopped when it is told to, after what is on its way; nothing is asked for any more', async () => {
    const world = start();
    world.topic.next({ kind: 'confirm', delayMillis: 500 });
    await world.feed(change('b1', 1));
    world.stop.abort(new Error('rotation'));
    await world.feed(change('b2', 2));
    await world.clock.advance(499);
    expect(world.ending).toBeUndefined();
    await world.clock.advance(1);
    expect(world.ending).toEqual({ kind: 'stopped' });
    expect([world.token(), world.topic.texts]).toEqual([['t1'], ['b1']]);
  });

  test('as stopped at its end, whatever is still on its way, and what is confirmed counts', async () => {
    const world = start(HELD, 1_000);
    world.topic.next({ kind: 'confirm' }, { kind: 'silence' });
    await world.feed(change('b1', 1));
    await world.clock.advance(1);
    await world.feed(change('b2', 2), change('b3', 3), change('b4', 4));
    world.end.abort(new Error('the time is used up'));
    await world.clock.advance(0);
    expect(world.ending).toEqual({ kind: 'stopped' });
    expect(world.token()).toEqual(['t1']);
    await world.clock.advance(60_000);
    expect(world.topic.attempts.length).toBe(2);
  });

  test('as failed where the stream failed, after what is on its way, which counts', async () => {
    const world = start();
    world.topic.next({ kind: 'confirm', delayMillis: 500 });
    await world.feed(change('b1', 1), failed('INTERNAL'));
    expect(world.ending).toBeUndefined();
    await world.clock.advance(500);
    expect(world.ending).toMatchObject({ kind: 'failed', isOfAll: false });
    expect([world.token(), world.stream.isClosed]).toEqual([['t1'], true]);
  });

  test('as failed where the stream fails although it was told to stop: an error beside our own cancel is an error', async () => {
    const world = start();
    world.stream.feed(failed('INTERNAL'));
    world.stop.abort(new Error('rotation'));
    await world.clock.advance(0);
    expect(world.ending).toMatchObject({ kind: 'failed' });
  });

  test('as failed where a message of it is refused before its close: what it closed into does not begin', async () => {
    const world = start();
    await world.feed(change('bad', 1), closeInto({ range: RANGE, token: 'next' }));
    await world.clock.advance(1_000);
    expect(world.ending).toMatchObject({ kind: 'failed', isOfAll: false });
    expect(world.token()).toBeUndefined();
  });

  test('as failed where a change has no form, and the problem names the row', async () => {
    const world = start();
    await world.feed(change('b1', 1), change('odd', 2), change('b3', 3));
    await world.clock.advance(1);
    expect(world.ending).toEqual({
      kind: 'failed',
      problem: 'the change of row odd has no form: a rule is broken',
      isOfAll: false,
    });
    expect([world.token(), world.topic.texts]).toEqual([['t1'], ['b1']]);
  });

  test.each(['FAILED_PRECONDITION', 'NOT_FOUND', 'PERMISSION_DENIED', 'UNAUTHENTICATED'] as const)(
    'as failed for every partition where the stream is refused with %s',
    async (code) => {
      const world = start();
      await world.feed(failed(code));
      expect(world.ending).toMatchObject({ kind: 'failed', isOfAll: true });
    },
  );

  test('as failed for every partition where the topic stays wrong', async () => {
    const world = start();
    world.topic.decide = () => ({ kind: 'refuse', status: status('NOT_FOUND') });
    await world.feed(change('b1', 1));
    await world.clock.advance(3_600_000);
    expect(world.ending).toMatchObject({ kind: 'failed', isOfAll: true });
  });
});

test('every kind of record is counted', async () => {
  const world = start();
  await world.feed(
    change('b1', 1),
    change('b2', 2, { type: 'GARBAGE_COLLECTION' }),
    heartbeat(3),
    closeInto({ range: RANGE, token: 'next' }),
  );
  expect(world.runtime.metrics.snapshot().counters).toMatchObject({
    changeStreamMutationsRead: 2,
    changeStreamUserMutationsRead: 1,
    changeStreamGarbageCollectionMutationsRead: 1,
    changeStreamHeartbeatsRead: 1,
    changeStreamCloseStreamsRead: 1,
  });
});
