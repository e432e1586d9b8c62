import { describe, expect, test, vi } from 'vitest';
import { RecordError, RedeliverError } from '../../../shared/base/errors.ts';
import type { Outcome } from '../../../shared/bulk/outcome.ts';
import { RejectionGuard } from '../../../shared/bulk/rejection-guard.ts';
import { type BulkSink, writeMessage } from '../../../shared/bulk/write-message.ts';
import type { FailedRecord } from '../../../shared/letters/failed-record.ts';
import { MessageMemory } from '../../../shared/letters/message-memory.ts';
import type { FailurePolicy } from '../../../shared/letters/policy.ts';
import type { Serializer } from '../../../shared/mapping/serializer.ts';
import type { PushedMessage } from '../../../shared/model/record.ts';
import type { RowEntry } from '../../../shared/model/mutation.ts';
import { ANY_LETTER } from '../../support/returned-letter.ts';
import { testRuntime } from '../../support/runtime.ts';
import { numberedEntry } from '../../support/simulated-bigtable.ts';

const signal = new AbortController().signal;

const message = (lines: readonly string[], attributes = {}): PushedMessage => ({
  messageId: '1',
  publishTimeMicros: 1_700_000_000_123_456n,
  data: Buffer.from(lines.join('\n')),
  attributes,
  orderingKey: '',
  subscription: 's',
});

/** Lines are words: `skip`, `throw`, or an outcome that the batcher then gives. */
const serializer: Serializer = {
  serialize({ data, index }) {
    const word = data.toString();
    if (word === 'skip') return null;
    if (word === 'throw') throw new RecordError('field: must be there');
    if (word === 'none') return { rowKey: Buffer.from('k'), mutations: [] };
    return numberedEntry(word, index);
  },
};

const outcomes: Record<string, Outcome> = {
  good: { kind: 'applied' },
  bad: { kind: 'rejected', status: { code: 'INVALID_ARGUMENT', message: 'row secret-key: timestamp' } },
  later: { kind: 'redeliver', reason: 'transient', message: 'UNAVAILABLE' },
};

function setUp({ mayDrop = true, limit = 100, handle = (): Promise<void> => Promise.resolve() } = {}) {
  const runtime = testRuntime();
  const { clock, metrics, lines } = runtime;
  const handled: FailedRecord[][] = [];
  const submitted: RowEntry[] = [];
  const policy: FailurePolicy = {
    mayDrop,
    handle(failed) {
      if (failed.length > 0) handled.push([...failed]);
      return failed.length > 0 ? handle() : Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
  const sink: BulkSink = {
    batcher: {
      submit(_table, entry, _signal, onOutcome) {
        submitted.push(entry);
        queueMicrotask(() => {
          onOutcome(outcomes[entry.rowKey.toString()]!);
        });
        return undefined;
      },
    },
    serializer,
    destination: {
      table: { project: 'p', instance: 'i', table: 't' },
      home: { project: 'p', instance: 'i' },
      attribute: 'to',
    },
    framing: 'ndjson',
    letters: ANY_LETTER,
    policy,
    rejections: new RejectionGuard({ maxConsecutiveRejections: limit, cooldownMillis: 1000 }, runtime),
    memory: new MessageMemory(100),
    perDestinationMetrics: true,
    runtime,
  };
  return { sink, handled, submitted, metrics, lines, clock };
}

describe('one message', () => {
  test('is acknowledged when every record is applied, skipped or handled', async () => {
    const { sink, handled, metrics } = setUp();
    await writeMessage(message(['good', 'skip', 'bad', 'throw', 'none']), sink, signal);
    expect(handled[0]!.map(({ record, reason }) => [record.index, reason])).toEqual([
      [2, 'rejected'],
      [3, 'serializer'],
      [4, 'serializer'],
    ]);
    const { counters, labelled } = metrics.snapshot();
    expect(counters).toMatchObject({ recordsSkipped: 1, numRecordsSendErrors: 3 });
    expect(labelled).toContainEqual({ metric: 'destination.sendErrors', label: 'p.i.t', value: 3 });
    expect(labelled).toContainEqual({ metric: 'destination.recordsSend', label: 'p.i.t', value: 2 });
  });

  test('is redelivered as a whole when one record must be redelivered, and then nothing of it is filed yet', async () => {
    const { sink, handled } = setUp();
    const writing = writeMessage(message(['good', 'bad', 'later']), sink, signal);
    await expect(writing).rejects.toMatchObject({ reason: 'transient' });
    expect(handled).toEqual([]);
  });

  test('is redelivered with what was rejected known: the others alone are sent, and once it is decided nothing is known', async () => {
    const { sink, handled, submitted, metrics } = setUp();
    const keys = (): string[] => submitted.splice(0).map(({ rowKey }) => rowKey.toString());
    const lines = ['good', 'bad', 'later', 'bad'];
    await expect(writeMessage(message(lines), sink, signal)).rejects.toMatchObject({ reason: 'transient' });
    expect(keys()).toEqual(lines);
    await expect(writeMessage(message(lines), sink, signal)).rejects.toMatchObject({ reason: 'transient' });
    expect(keys()).toEqual(['good', 'later']);
    // The id alone does not make it the same record.
    await writeMessage(message(['good', 'good', 'bad']), sink, signal);
    expect(keys()).toEqual(['good', 'good', 'bad']);
    expect(handled.splice(0)[0]!.map(({ record }) => record.index)).toEqual([2]);
    await writeMessage(message(lines.slice(0, 2)), sink, signal);
    expect(keys()).toEqual(['good', 'bad']);
    expect(metrics.snapshot().counters.numRecordsSendErrors).toBe(2);
  });

  test('that nobody may drop records of is asked about anew each time, because somebody may have fixed the table', async () => {
    const { sink, submitted } = setUp({
      mayDrop: false,
      handle: () => Promise.reject(new RedeliverError('failure-policy', 'no')),
    });
    for (let delivery = 0; delivery < 2; delivery += 1) {
      await expect(writeMessage(message(['bad']), sink, signal)).rejects.toMatchObject({ reason: 'failure-policy' });
    }
    expect(submitted).toHaveLength(2);
  });

  test('without a record is acknowledged and counted', async () => {
    const { sink, metrics } = setUp();
    await writeMessage(message(['', ' ']), sink, signal);
    expect(metrics.snapshot().counters).toEqual({ messagesWithoutRecords: 1 });
  });

  test('is redelivered when the failure policy cannot take its records', async () => {
    const { sink } = setUp({ handle: () => Promise.reject(new RedeliverError('dead-letter-unconfirmed', 'no')) });
    await expect(writeMessage(message(['bad']), sink, signal)).rejects.toMatchObject({
      reason: 'dead-letter-unconfirmed',
    });
  });

  test('without records is acknowledged', async () => {
    const { sink, submitted } = setUp();
    await writeMessage(message(['', '']), sink, signal);
    expect(submitted).toEqual([]);
  });

  test('that is not framed as configured is one bad record, with its own bytes', async () => {
    const { sink, handled } = setUp();
    await writeMessage(message(['not an array']), { ...sink, framing: 'json-array' }, signal);
    expect(handled[0]!.map(({ record, reason }) => [record.data?.toString(), reason])).toEqual([
      ['not an array', 'serializer'],
    ]);
  });

  test('gives its serializer the publish time floored to milliseconds', async () => {
    const { sink } = setUp();
    let seen: bigint | undefined;
    const spying: Serializer = {
      serialize: (record, { publishTimeMicros }) => {
        seen = publishTimeMicros;
        return serializer.serialize(record, { publishTimeMicros });
      },
    };
    await writeMessage(message(['good']), { ...sink, serializer: spying }, signal);
    expect(seen).toBe(1_700_000_000_123_000n);
  });

  test('without a table is redelivered, never filed: a configuration that is wrong is no bad record', async () => {
    const { sink, handled } = setUp();
    const writing = writeMessage(message(['good'], { to: 'a/b' }), sink, signal);
    await expect(writing).rejects.toMatchObject({ reason: 'destination' });
    expect(handled).toEqual([]);
  });

  test('resolves the table before it serializes, so that a refused record is reported against it', async () => {
    const { sink, handled } = setUp();
    await writeMessage(message(['throw'], { to: 'projects/q/instances/j/tables/u' }), sink, signal);
    expect(handled[0]![0]!.destination).toEqual({ project: 'q', instance: 'j', table: 'u' });
  });

  test('writes no row key and no value to any log line, whatever a user’s serializer throws', async () => {
    const { sink, lines } = setUp();
    const leaky: Serializer = {
      serialize: () => {
        throw new Error('cannot parse secret-value');
      },
    };
    await writeMessage(message(['bad']), sink, signal);
    await writeMessage(message(['secret-value']), { ...sink, serializer: leaky }, signal);
    expect(lines.join('\n')).not.toMatch(/secret/);
  });
});

test('bad records by the thousand let others run in between, and are filed in their order', async () => {
  const { sink, handled, clock } = setUp();
  const lines = Array.from({ length: 2500 }, () => 'throw');
  const soon = vi.spyOn(clock, 'soon');
  const writing = writeMessage(message(lines), sink, signal);
  expect(soon).toHaveBeenCalledTimes(1);
  await clock.advance(0);
  await writing;
  expect(soon).toHaveBeenCalledTimes(4);
  expect(handled[0]!.map(({ record }) => record.index)).toEqual(lines.map((_, index) => index));
});

describe('maxConsecutiveRejections', () => {
  const misaligned: Serializer = {
    serialize({ data, index }) {
      const entry = numberedEntry(data.toString(), index);
      if (data.toString() === 'good') return entry;
      const mutation = { kind: 'setCell' as const, family: 'f', qualifier: Buffer.alloc(0), value: Buffer.alloc(0) };
      return { ...entry, mutations: [{ ...mutation, timestampMicros: 1001n }] };
    },
  };

  test('counts records that are refused unsent, unless others of their message are applied', async () => {
    const { sink, submitted } = setUp({ limit: 3 });
    const reading = { ...sink, serializer: misaligned };
    await writeMessage(message(['bad', 'bad', 'bad', 'good']), reading, signal);
    expect(submitted).toHaveLength(1);
    const writing = writeMessage(message(['bad', 'bad', 'bad']), reading, signal);
    await expect(writing).rejects.toMatchObject({ reason: 'rejection-limit' });
  });

  test('files what tripped it, then acknowledges nothing until a probe is applied', async () => {
    const { sink, handled, clock, metrics } = setUp({ limit: 2 });
    const write = (word: string): Promise<string> =>
      writeMessage(message([word]), sink, signal).then(
        () => 'acknowledged',
        (error: unknown) => (error as RedeliverError).reason,
      );
    expect(await write('bad')).toBe('acknowledged');
    // The one that trips it is not acknowledged: it was decided under the limit that it broke.
    expect(await write('bad')).toBe('rejection-limit');
    expect(await write('good')).toBe('rejection-limit');
    await clock.advance(1000);
    expect(await write('bad')).toBe('acknowledged');
    expect(await write('good')).toBe('rejection-limit');
    await clock.advance(1000);
    expect(await write('good')).toBe('acknowledged');
    expect(await write('good')).toBe('acknowledged');
    expect(handled).toHaveLength(2);
    expect(metrics.snapshot().counters).toMatchObject({ rejectionLimitTrips: 1 });
  });
});
