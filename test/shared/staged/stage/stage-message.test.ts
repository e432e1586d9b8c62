import { describe, expect, test } from 'vitest';
import { RECORDS_PER_TURN } from '../../../../shared/base/clock.ts';
import { RecordError, RedeliverError } from '../../../../shared/base/errors.ts';
import { type DeadLetter, deadLetterOf } from '../../../../shared/letters/write.ts';
import type { FailedRecord } from '../../../../shared/letters/failed-record.ts';
import type { FailurePolicy } from '../../../../shared/letters/policy.ts';
import type { Serializer } from '../../../../shared/mapping/serializer.ts';
import { identityOf, identityOfId } from '../../../../shared/model/identity.ts';
import type { PushedMessage } from '../../../../shared/model/record.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import { entryOf } from '../../../../shared/staged/envelope/create-envelope.ts';
import type { Envelope } from '../../../../shared/staged/envelope/envelope.ts';
import { failedEnvelope } from '../../../../shared/staged/write/failed-envelope.ts';
import { type StagedSink, stageMessage } from '../../../../shared/staged/stage/stage-message.ts';
import { cell, rowEntry } from '../../../support/envelopes.ts';
import { pushedMessage } from '../../../support/pushed-message.ts';
import { ANY_LETTER, returnedLetter } from '../../../support/returned-letter.ts';
import { testRuntime } from '../../../support/runtime.ts';

const signal = new AbortController().signal;
const SUBSCRIPTION = 'projects/p/subscriptions/configured';
const FIRST: Partial<PushedMessage> = { messageId: 'first', publishTimeMicros: 1_700_000_000_123_456n };

/** Lines are words: `skip`, `throw`, `marker`, `delete`, `elsewhere`, or the key of a row. */
const serializer: Serializer = {
  resolve: ({ data }) => (data.toString() === 'elsewhere' ? 'a.b.' : undefined),
  serialize({ data }) {
    const word = data.toString();
    if (word === 'skip') return null;
    if (word === 'throw') throw new RecordError('field: must be there');
    if (word === 'marker') return rowEntry('k', cell('v', 'markers'));
    if (word === 'delete') return rowEntry('k', { kind: 'deleteFromRow' });
    return rowEntry(word);
  },
};

interface Given {
  readonly envelopes?: Partial<StagedSink['envelopes']>;
  readonly framing?: StagedSink['framing'];
  readonly keep?: StagedSink['keep'];
  readonly admit?: StagedSink['admit'];
}

function setUp({ envelopes, framing = 'ndjson', keep, admit = () => undefined }: Given = {}) {
  const runtime = testRuntime();
  const { clock, metrics } = runtime;
  const kept: Envelope[] = [];
  const handled: FailedRecord[] = [];
  const order: string[] = [];
  const policy: FailurePolicy = {
    mayDrop: true,
    handle(failed) {
      order.push('policy');
      handled.push(...failed);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
  const sink: StagedSink = {
    serializer,
    destination: { table: tableName('p', 'i', 't'), home: { project: 'p', instance: 'i' } },
    framing,
    letters: ANY_LETTER,
    envelopes: {
      pipeline: 'orders',
      subscription: SUBSCRIPTION,
      framing,
      appProfileId: 'single',
      markerFamily: 'markers',
      ...envelopes,
    },
    admit,
    keep:
      keep ??
      (async (some) => {
        await Promise.resolve();
        order.push('kept');
        kept.push(...some.map(({ envelope }) => envelope));
      }),
    policy,
    perDestinationMetrics: true,
    runtime,
  };
  const stage = (lines: readonly string[], given: Partial<PushedMessage> = {}): Promise<void> =>
    stageMessage(pushedMessage({ ...FIRST, ...given, data: Buffer.from(lines.join('\n')) }), sink, signal);
  return { clock, metrics, kept, handled, order, stage, sink };
}

describe('a message', () => {
  test('becomes an envelope for each record, in order, known by message and place', async () => {
    const { stage, kept, handled } = setUp();
    await stage(['a', 'b']);
    expect(kept.map(({ rowKey }) => rowKey.toString())).toEqual(['a', 'b']);
    expect(kept.map(({ identity }) => identity)).toEqual(
      [0, 1].map((recordIndex) =>
        identityOf({ pipeline: 'orders', subscription: SUBSCRIPTION, messageId: 'first', recordIndex }),
      ),
    );
    expect(kept[1]).toMatchObject({
      table: { table: 't' },
      appProfileId: 'single',
      markerFamily: 'markers',
      source: { messageId: 'first', recordIndex: 1, publishTimeMicros: FIRST.publishTimeMicros },
    });
    expect(handled).toEqual([]);
  });

  test('is the same envelopes at every delivery, whatever the trigger calls its subscription', async () => {
    const { stage, kept } = setUp();
    await stage(['a']);
    await stage(['a'], { subscription: '', deliveryAttempt: 5 });
    expect(kept[1]!.request).toEqual(kept[0]!.request);
  });

  test('that is equal to another is another effect', async () => {
    const { stage, kept } = setUp();
    await stage(['a']);
    await stage(['a'], { messageId: 'second' });
    expect(kept[1]!.identity).not.toBe(kept[0]!.identity);
  });

  test('waits outside while nothing more is admitted: not even its records are read', async () => {
    const { stage, order } = setUp({
      admit: () => {
        throw new RedeliverError('backlog', 'full');
      },
    });
    await expect(stage(['throw'])).rejects.toMatchObject({ reason: 'backlog' });
    expect(order).toEqual([]);
  });

  test('whose destination cannot be right is redelivered, and nothing of it is kept', async () => {
    const { stage, order } = setUp();
    await expect(stage(['a', 'elsewhere'])).rejects.toMatchObject({ reason: 'destination' });
    expect(order).toEqual([]);
  });

  test('without a record is acknowledged and counted', async () => {
    const { stage, kept, metrics } = setUp();
    await stage(['', ' ']);
    expect(kept).toEqual([]);
    expect(metrics.snapshot().counters).toEqual({ messagesWithoutRecords: 1 });
  });

  test('of records by the thousand lets others run in between', async () => {
    let read = 0;
    const { clock, kept, stage, sink } = setUp();
    const counting: Serializer = {
      serialize: () => {
        read += 1;
        return rowEntry('k');
      },
    };
    Object.assign(sink, { serializer: counting });
    const staged = stage(Array.from({ length: 1200 }, () => 'a'));
    expect(read).toBe(RECORDS_PER_TURN);
    await clock.advance(0);
    await staged;
    expect(kept).toHaveLength(1200);
  });

  test('that cannot be kept reaches no policy', async () => {
    const { stage, order, metrics } = setUp({ keep: () => Promise.reject(new RedeliverError('transient', 'no')) });
    await expect(stage(['a', 'throw'])).rejects.toMatchObject({ reason: 'transient' });
    expect(order).toEqual([]);
    expect(metrics.snapshot().counters.numRecordsSendErrors).toBeUndefined();
  });

  test('counts its skips, and needs no envelope', async () => {
    const { stage, metrics, kept } = setUp();
    await stage(['skip', 'skip']);
    expect(kept).toEqual([]);
    expect(metrics.snapshot().counters.recordsSkipped).toBe(2);
  });
});

describe('a record that is wrong', () => {
  test.each([
    ['throw', /^could not be serialized: field: must be there$/, false],
    ['marker', /^cannot be applied exactly once: entry\.mutations\[0\].*marker family/, true],
    ['delete', /^cannot be applied exactly once: .*deleteFromFamily/, true],
  ])('(%s) goes to the policy, once all else is kept', async (word, detail, hasEntry) => {
    const { stage, order, handled, metrics } = setUp();
    await stage(['a', word, 'b']);
    expect(order).toEqual(['kept', 'policy']);
    const [failed] = handled;
    expect(failed).toMatchObject({ reason: 'serializer', destination: { table: 't' }, record: { index: 1 } });
    expect(failed!.detail).toMatch(detail);
    expect(failed!.entry !== undefined).toBe(hasEntry);
    expect(metrics.snapshot()).toMatchObject({
      counters: { numRecordsSendErrors: 1 },
      labelled: [{ metric: 'destination.sendErrors', label: 'p.i.t', value: 1 }],
    });
  });
});

describe('an id of the publisher', () => {
  const withId = (id: string): Partial<PushedMessage> => ({ attributes: { 'event-id': id } });

  test('makes two messages one effect', async () => {
    const { stage, kept } = setUp({ framing: 'single', envelopes: { idAttribute: 'event-id' } });
    await stage(['a'], withId('e-1'));
    await stage(['b'], { ...withId('e-1'), messageId: 'second' });
    expect(kept.map(({ identity }) => identity)).toEqual([
      identityOfId('orders', 'e-1'),
      identityOfId('orders', 'e-1'),
    ]);
  });

  test('leaves the records of one message effects of their own', async () => {
    const { stage, kept } = setUp({ envelopes: { idAttribute: 'event-id' } });
    await stage(['a', 'b'], withId('e-1'));
    await stage(['a', 'b'], { ...withId('e-1'), messageId: 'second' });
    const identities = kept.map(({ identity }) => identity);
    expect(new Set(identities).size).toBe(2);
    expect(identities.slice(2)).toEqual(identities.slice(0, 2));
  });

  test.each([{}, withId('')])('that is missing gives way to the id of the message: %j', async (given) => {
    const { stage, kept } = setUp({ envelopes: { idAttribute: 'event-id' } });
    await stage(['a'], given);
    const origin = { pipeline: 'orders', subscription: SUBSCRIPTION, messageId: 'first', recordIndex: 0 };
    expect(kept[0]!.identity).toBe(identityOf(origin));
  });
});

test('with a horizon markers carry the time of the publish, and 0 without', async () => {
  const without = setUp();
  await without.stage(['a']);
  expect(without.kept[0]!.markerTimestampMicros).toBe(0n);
  const horizon = setUp({ envelopes: { markerHorizonMillis: 691_200_000 } });
  await horizon.stage(['a']);
  expect(horizon.kept[0]!.markerTimestampMicros).toBe(1_700_000_000_123_000n);
});

describe('a dead letter that is published back', () => {
  const failedAs = (message: PushedMessage, index: number): FailedRecord => ({
    record: { message, index, data: Buffer.from('b') },
    destination: tableName('p', 'i', 't'),
    reason: 'rejected',
    entry: rowEntry('b'),
    summary: 'refused',
    detail: 'refused',
  });
  const first = pushedMessage({ ...FIRST, data: Buffer.from('a\nb') });
  const letterOf = (payload: 'entry' | 'record'): DeadLetter =>
    deadLetterOf(failedAs(first, 1), { pipeline: 'orders', payload }, 0);
  const staged = async (message: PushedMessage): Promise<Envelope> => {
    const { sink, kept } = setUp();
    await stageMessage(message, sink, signal);
    return kept[0]!;
  };

  test.each(['entry', 'record'] as const)('(%s) is the effect of its first message and record', async (payload) => {
    const { stage, kept } = setUp();
    await stage(['a', 'b']);
    const again = await staged(returnedLetter(letterOf(payload)));
    expect(again.identity).toBe(kept[1]!.identity);
    expect(again.source).toEqual(kept[1]!.source);
    expect(entryOf(again).rowKey.toString()).toBe('b');
  });

  test('of a record that was staged keeps its identity, whatever identified it at first', async () => {
    const { stage, kept } = setUp({ envelopes: { idAttribute: 'event-id' } });
    await stage(['a'], { attributes: { 'event-id': 'e-1' } });
    const [first] = kept;
    const refused = { kind: 'rejected', status: { code: 'INVALID_ARGUMENT', message: 'no' } } as const;
    const letter = deadLetterOf(failedEnvelope(first!, refused)!, { pipeline: 'orders', payload: 'entry' }, 0);
    expect((await staged(returnedLetter(letter))).request).toEqual(first!.request);
  });

  test('of a record that never became an envelope has the identity that it would have had, wherever it is taken back', async () => {
    const { stage, handled } = setUp({ envelopes: { idAttribute: 'event-id' } });
    await stage(['throw', 'delete'], { attributes: { 'event-id': 'e-1' } });
    expect(handled.map(({ identity }) => identity)).toEqual([
      identityOfId('orders', '0:e-1'),
      identityOfId('orders', '1:e-1'),
    ]);
    const letter = deadLetterOf(
      { ...handled[0]!, record: { ...handled[0]!.record, data: Buffer.from('a') } },
      { pipeline: 'orders', payload: 'record' },
      0,
    );
    const taken = returnedLetter(letter, { pipeline: 'sales', acceptLettersOf: ['orders'] });
    expect((await staged(taken)).identity).toBe(identityOfId('orders', '0:e-1'));
  });

  test('of a renamed pipeline keeps the identity that it had there', async () => {
    const letter = { ...letterOf('record') };
    const { sink, kept } = setUp({ envelopes: { pipeline: 'sales' } });
    const taken = returnedLetter(letter, { pipeline: 'sales', acceptLettersOf: ['orders'] });
    await stageMessage(taken, sink, signal);
    const origin = { pipeline: 'orders', subscription: SUBSCRIPTION, messageId: 'first', recordIndex: 1 };
    expect(kept[0]!.identity).toBe(identityOf(origin));
  });
});

test('attributes of a dead letter on the topic of the pipeline are attributes like others', async () => {
  const { stage, kept, handled } = setUp();
  const attributes = {
    'dlq-connector': 'bigtable',
    'dlq-pipeline': 'orders',
    'dlq-payload': 'entry',
    'dlq-original-message-id': 'first-of-all',
    'dlq-record-index': '7',
    'dlq-original-publish-time-micros': '1',
    'dlq-identity': '0'.repeat(32),
  };
  await stage(['a', 'throw'], { attributes });
  const origin = { pipeline: 'orders', subscription: SUBSCRIPTION, messageId: 'first', recordIndex: 0 };
  expect(kept[0]).toMatchObject({
    identity: identityOf(origin),
    source: { messageId: 'first', recordIndex: 0, publishTimeMicros: FIRST.publishTimeMicros },
  });
  const letter = deadLetterOf(handled[0]!, { pipeline: 'orders', payload: 'record' }, 0);
  expect(letter.attributes).toMatchObject({
    'dlq-original-message-id': 'first',
    'dlq-record-index': '1',
    'dlq-identity': identityOf({ ...origin, recordIndex: 1 }),
  });
});
