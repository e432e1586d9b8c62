import { describe, expect, test, vi } from 'vitest';
import { DeadlineError, RedeliverError } from '../../../shared/base/errors.ts';
import { createLogger, describeError } from '../../../shared/base/logging.ts';
import { createMetrics } from '../../../shared/base/metrics.ts';
import {
  deadLetterPolicy,
  type DeadLetterPolicyOptions,
  failPolicy,
  isTopicOutage,
  logAndDropPolicy,
} from '../../../shared/letters/policy.ts';
import type { OutgoingMessage } from '../../../shared/model/publishing.ts';
import { failedRecord, PLANTED } from '../../support/failed-record.ts';
import { FakePublisher } from '../../support/fake-publisher.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const signal = new AbortController().signal;

/** Failed records of one message, told apart by their index. */
const failures = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const failed = failedRecord();
    return { ...failed, record: { ...failed.record, index } };
  });

/** The error a promise rejects with. */
async function rejection(promise: Promise<unknown>): Promise<RedeliverError> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof RedeliverError)) throw new Error('a RedeliverError was expected', { cause: error });
  return error;
}

describe('fail', () => {
  test('asks for redelivery and says how many records, of which table, by which rule, and what to do', async () => {
    const error = await rejection(failPolicy().handle(failures(2), signal));
    expect(error.reason).toBe('failure-policy');
    expect(error.message).toBe(
      "2 records for p.i.t cannot be written: rejected because the mutation is invalid (INVALID_ARGUMENT). failurePolicy is fail: fix the record's source, or choose dead-letter",
    );
    expect((await rejection(failPolicy().handle(failures(1), signal))).message).toContain('1 record for p.i.t');
    expect(describeError(error)).not.toContain(PLANTED);
  });

  test('a message without failures passes, and no record ever leaves the stream', async () => {
    const policy = failPolicy();
    await policy.handle([], signal);
    await policy.close();
    expect(policy.mayDrop).toBe(false);
  });
});

describe('log-and-drop', () => {
  test('logs one warning per record that names it without any of its data, and counts it', async () => {
    const lines: string[] = [];
    const metrics = createMetrics();
    const logger = createLogger({}, (line) => {
      lines.push(line);
    });
    const policy = logAndDropPolicy({ clock: new ManualClock(), logger, metrics });
    await policy.handle(failures(2), signal);
    await policy.close();
    expect(policy.mayDrop).toBe(true);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
      [0, 1].map((recordIndex) => ({
        severity: 'WARNING',
        message: 'a record was dropped: rejected because the mutation is invalid (INVALID_ARGUMENT)',
        destination: 'p.i.t',
        reason: 'rejected',
        messageId: '1',
        recordIndex,
        bytes: PLANTED.length,
      })),
    );
    expect(lines.join('\n')).not.toContain(PLANTED);
    expect(lines.join('\n')).not.toContain(Buffer.from(PLANTED).toString('base64').slice(0, -2));
    expect(metrics.snapshot().counters).toEqual({ recordsDropped: 2 });
  });
});

describe('dead-letter', () => {
  function setUp(given: Partial<DeadLetterPolicyOptions> = {}) {
    const clock = new ManualClock();
    const metrics = createMetrics();
    const topic = new FakePublisher();
    const options = {
      pipeline: 'orders',
      payload: 'entry',
      topic: 'projects/p/topics/dlq',
      maxOutstandingMessages: 100,
      flushTimeoutMillis: 60_000,
      ...given,
    } as const;
    return { clock, metrics, topic, policy: deadLetterPolicy(topic, options, { clock, metrics }) };
  }

  /** Whether a promise has settled by now. */
  async function isSettled(promise: Promise<unknown>, clock: ManualClock): Promise<boolean> {
    let settled = false;
    const note = (): void => {
      settled = true;
    };
    promise.then(note, note);
    await clock.advance(0);
    return settled;
  }

  test('resolves only when every letter is confirmed', async () => {
    const { clock, topic, metrics, policy } = setUp();
    const handling = policy.handle(failures(3), signal);
    expect(await isSettled(handling, clock)).toBe(false);
    topic.confirm(2);
    expect(await isSettled(handling, clock)).toBe(false);
    expect(metrics.snapshot()).toMatchObject({
      counters: { deadLettersPublished: 2 },
      gauges: { outstandingDeadLetters: 1 },
    });
    topic.confirm();
    await handling;
    expect(metrics.snapshot()).toMatchObject({
      counters: { deadLettersPublished: 1 },
      gauges: { outstandingDeadLetters: 0 },
    });
    expect(topic.messages.map(({ attributes }) => attributes['dlq-record-index'])).toEqual(['0', '1', '2']);
    expect(topic.messages[0]?.attributes['dlq-pipeline']).toBe('orders');
    expect(policy.mayDrop).toBe(true);
    expect(clock.pending).toBe(0);
  });

  test('one letter that is refused among many: the message goes back, with the counts, after all others were waited for', async () => {
    const { clock, topic, metrics, policy } = setUp();
    const refusal = Object.assign(new Error('5 NOT_FOUND: no such topic'), { code: 5 });
    const handling = policy.handle(failures(5), signal);
    await clock.advance(0);
    topic.confirm(2);
    topic.refuse(refusal);
    expect(await isSettled(handling, clock)).toBe(false);
    topic.confirm(2);
    const error = await rejection(handling);
    expect(error.reason).toBe('dead-letter-unconfirmed');
    expect(error.message).toContain(
      '1 of 5 dead letters were not confirmed by projects/p/topics/dlq: 5 NOT_FOUND: no such topic',
    );
    expect(error.cause).toBe(refusal);
    expect(describeError(error)).not.toContain(PLANTED);
    expect(metrics.snapshot().counters).toEqual({ deadLettersPublished: 4 });
    expect(clock.pending).toBe(0);
  });

  test.each([
    ['UNAVAILABLE', 14, true],
    ['DEADLINE_EXCEEDED', 4, true],
    ['ABORTED', 10, true],
    ['INTERNAL', 13, true],
    ['RESOURCE_EXHAUSTED', 8, true],
    ['NOT_FOUND', 5, false],
    ['PERMISSION_DENIED', 7, false],
    ['INVALID_ARGUMENT', 3, false],
  ])('a topic that answers %s: is it only away?', async (name, code, isAway) => {
    const { clock, topic, policy } = setUp();
    const handling = policy.handle(failures(1), signal);
    await clock.advance(0);
    topic.refuse(Object.assign(new Error(`${code} ${name}`), { code }));
    expect(isTopicOutage(await rejection(handling))).toBe(isAway);
  });

  test('a topic that refuses one letter is not only away, whatever became of the others', async () => {
    const { clock, topic, policy } = setUp();
    const handling = policy.handle(failures(2), signal);
    await clock.advance(0);
    topic.refuse(Object.assign(new Error('14 UNAVAILABLE'), { code: 14 }));
    topic.refuse(Object.assign(new Error('3 INVALID_ARGUMENT'), { code: 3 }));
    const error = await rejection(handling);
    expect([error.message.includes('3 INVALID_ARGUMENT'), isTopicOutage(error)]).toEqual([true, false]);
  });

  test('a topic that confirms nothing in time is only away, and a policy of another kind is no topic', async () => {
    const { clock, policy } = setUp({ flushTimeoutMillis: 1000 });
    const refusal = rejection(policy.handle(failures(1), signal));
    await clock.advance(1000);
    expect(isTopicOutage(await refusal)).toBe(true);
    expect(isTopicOutage(await rejection(failPolicy().handle(failures(1), signal)))).toBe(false);
  });

  test('a message that is redelivered files only the letters that were not confirmed, until all of it is decided', async () => {
    const { clock, topic, policy } = setUp();
    const first = policy.handle(failures(3), signal);
    await clock.advance(0);
    topic.confirm();
    topic.refuse(new Error('unavailable'));
    topic.confirm();
    await rejection(first);
    const indexes = (): (string | undefined)[] =>
      topic.messages.splice(0).map(({ attributes }) => attributes['dlq-record-index']);
    expect(indexes()).toEqual(['0', '1', '2']);
    const second = policy.handle(failures(3), signal);
    await clock.advance(0);
    expect(indexes()).toEqual(['1']);
    topic.confirm();
    await second;
    const again = policy.handle(failures(3), signal);
    await clock.advance(0);
    topic.confirm(3);
    await again;
    expect(indexes()).toEqual(['0', '1', '2']);
  });

  test('the budget is one for all letters of a message, however many wait their turn', async () => {
    const { clock, topic, policy } = setUp({ maxOutstandingMessages: 1, flushTimeoutMillis: 1000 });
    const handling = policy.handle(failures(4), signal);
    for (let confirmed = 0; confirmed < 2; confirmed += 1) {
      await clock.advance(400);
      topic.confirm();
    }
    expect(await isSettled(handling, clock)).toBe(false);
    await clock.advance(200);
    const error = await rejection(handling);
    expect(error.message).toContain('2 of 4 dead letters were not confirmed');
    expect(error.message).toContain('flushTimeout of 1000 ms was used up');
    expect(topic.messages).toHaveLength(3);
    expect(topic.open).toBe(0);
    expect(clock.pending).toBe(0);
  });

  test('the end of the invocation ends the wait as well, and its reason is the cause', async () => {
    const { clock, topic, policy } = setUp();
    const invocation = new AbortController();
    const reason = new DeadlineError('the invocation ended');
    const handling = policy.handle(failures(2), invocation.signal);
    await clock.advance(0);
    topic.confirm();
    invocation.abort(reason);
    const error = await rejection(handling);
    expect(error.message).toContain('1 of 2 dead letters were not confirmed');
    expect(error.cause).toBe(reason);
    expect(clock.pending).toBe(0);
    expect((await rejection(policy.handle(failures(2), invocation.signal))).cause).toBe(reason);
  });

  test('no more letters are outstanding than the bound, over all messages, and messages take turns: a few letters do not wait for many', async () => {
    const { clock, topic, metrics, policy } = setUp({ maxOutstandingMessages: 3 });
    const handling = Promise.all([policy.handle(failures(4), signal), policy.handle(failures(4), signal)]);
    for (const handedOver of [3, 4, 5, 6, 7, 8]) {
      await clock.advance(0);
      expect(topic.messages).toHaveLength(handedOver);
      expect(topic.open).toBe(3);
      expect(metrics.snapshot().gauges.outstandingDeadLetters).toBe(3);
      topic.confirm();
    }
    await clock.advance(0);
    topic.confirm(2);
    await handling;
    expect(topic.messages.map(({ attributes }) => attributes['dlq-record-index'])).toEqual([
      '0',
      '0',
      '1',
      '1',
      '2',
      '2',
      '3',
      '3',
    ]);
  });

  test('letters by the thousand add no listener each to the signal of their invocation, and let others run in between', async () => {
    const clock = new ManualClock();
    const metrics = createMetrics();
    const published: number[] = [];
    const topic = {
      publish(letter: OutgoingMessage) {
        published.push(Number(letter.attributes['dlq-record-index']));
        return Promise.resolve();
      },
      close: () => Promise.resolve(),
    };
    const options = {
      pipeline: 'o',
      payload: 'record',
      topic: 't',
      maxOutstandingMessages: 3,
      flushTimeoutMillis: 1,
    } as const;
    const policy = deadLetterPolicy(topic, options, { clock, metrics });
    const invocation = new AbortController();
    const added = vi.spyOn(AbortSignal.prototype, 'addEventListener');
    const soon = vi.spyOn(clock, 'soon');
    const handling = policy.handle(failures(2500), invocation.signal);
    await clock.advance(0);
    await handling;
    expect(added.mock.calls.length).toBeLessThanOrEqual(1);
    added.mockRestore();
    expect(soon).toHaveBeenCalledTimes(4);
    expect(published).toEqual(Array.from({ length: 2500 }, (_, index) => index));
  });

  test('a letter that failed gives its place back', async () => {
    const { clock, topic, policy } = setUp({ maxOutstandingMessages: 1 });
    const first = policy.handle(failures(1), signal);
    await clock.advance(0);
    topic.refuse(new Error('unavailable'));
    await rejection(first);
    const second = policy.handle(failures(1), signal);
    await clock.advance(0);
    topic.confirm();
    await second;
  });

  test('the gauges tell the last wait and the longest; a message without failures changes neither', async () => {
    const { clock, topic, metrics, policy } = setUp();
    const gauges = () => {
      const { deadLetterFlushMillis: last, longestDeadLetterFlushMillis: longest } = metrics.snapshot().gauges;
      return { last, longest };
    };
    expect(gauges()).toEqual({ last: 0, longest: 0 });
    for (const millis of [300, 100]) {
      const handling = policy.handle(failures(1), signal);
      await clock.advance(millis);
      topic.confirm();
      await handling;
    }
    expect(gauges()).toEqual({ last: 100, longest: 300 });
    await policy.handle([], signal);
    expect(gauges()).toEqual({ last: 100, longest: 300 });
  });

  test('a wait that fails counts as a wait', async () => {
    const { clock, metrics, policy } = setUp({ flushTimeoutMillis: 500 });
    const rejected = rejection(policy.handle(failures(1), signal));
    await clock.advance(500);
    await rejected;
    expect(metrics.snapshot().gauges).toMatchObject({
      deadLetterFlushMillis: 500,
      longestDeadLetterFlushMillis: 500,
      outstandingDeadLetters: 0,
    });
  });

  test('closing the policy closes the topic', async () => {
    const { topic, policy } = setUp();
    await policy.close();
    expect(topic.isClosed).toBe(true);
  });
});
