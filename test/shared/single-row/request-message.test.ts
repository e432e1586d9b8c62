import { describe, expect, test, vi } from 'vitest';
import { RecordError, RedeliverError } from '../../../shared/base/errors.ts';
import type { FailedRecord } from '../../../shared/letters/failed-record.ts';
import type { FailurePolicy } from '../../../shared/letters/policy.ts';
import type { Serializer } from '../../../shared/mapping/serializer.ts';
import { noCell } from '../../../shared/model/filter/filter.ts';
import { identityOf } from '../../../shared/model/identity.ts';
import type { RowReply } from '../../../shared/model/row-call.ts';
import type { RowRequestDocument } from '../../../shared/model/row-request.ts';
import { tableName } from '../../../shared/model/table-name.ts';
import { createRowExecutor } from '../../../shared/single-row/execute.ts';
import type { WrittenForms } from '../../../shared/single-row/ports.ts';
import type { RequestSink } from '../../../shared/single-row/delivery.ts';
import { answerMessage } from '../../../shared/single-row/request-message.ts';
import { createResultPublisher } from '../../../shared/single-row/results.ts';
import { conditionalReply, counterReply, FakeRowCalls, failure, type HeldCall } from '../../support/fake-row-calls.ts';
import { testRuntime } from '../../support/runtime.ts';
import { pushedMessage } from '../../support/pushed-message.ts';
import { ANY_LETTER } from '../../support/returned-letter.ts';
import { addToQ, conditional, hasQ, increment } from '../../support/row-requests.ts';

const T = tableName('p', 'i', 't');
/** As configured. */
const SUBSCRIPTION = 'projects/p/subscriptions/configured';

/** Lines are words: `skip`, `throw`, `set` or the key of a row whose counter is incremented; `key=word` gives both. */
const serializer: Serializer<RowRequestDocument> = {
  serialize({ data }) {
    const word = data.toString();
    if (word === 'skip') return null;
    if (word === 'throw') throw new RecordError('field: must be there');
    if (word === 'set') return { request: conditional({ predicate: hasQ }) };
    if (word === 'count') return { request: conditional({ predicate: noCell(), otherwise: [addToQ(1n)] }) };
    return { request: increment(1n, word), ...(word === 'named' && { correlationId: 'mine' }) };
  },
};

/** A word for which there is no table. */
const elsewhere = ({ data }: { readonly data: Buffer }): string | undefined =>
  data.toString() === 'elsewhere' ? 'a.b.' : undefined;

/** The key of the row that a call is for: the words above. */
const wordOf = ({ request }: { readonly request: Buffer }): string =>
  /[a-z]+/.exec(request.subarray(request.indexOf('tables/t') + 10).toString('latin1'))?.[0] ?? '';

const forms: WrittenForms = {
  readRequest: (data) => ({ request: increment(BigInt(data.toString()), 'letter') }),
  writeRequest: ({ request }) => Buffer.from(`written ${request.request.rowKey.toString()}`),
  writeResult: ({ correlationId, outcome, replayed }) =>
    Buffer.from([correlationId, outcome.kind, ...(replayed ? ['replayed'] : [])].join(' ')),
};

interface Options {
  readonly handle?: () => Promise<void>;
  readonly publish?: (text: string) => Promise<void>;
  readonly sink?: Partial<RequestSink>;
  readonly maxInFlightRequests?: number;
}

function setUp({ handle = () => Promise.resolve(), publish, sink: given, maxInFlightRequests = 100 }: Options = {}) {
  const service = new FakeRowCalls();
  const runtime = testRuntime();
  const { clock, metrics } = runtime;
  const handled: FailedRecord[] = [];
  const published: { text: string; attributes: Readonly<Record<string, string>> }[] = [];
  const policy: FailurePolicy = {
    mayDrop: true,
    handle(failed) {
      handled.push(...failed);
      return handle();
    },
    close: () => Promise.resolve(),
  };
  const options = {
    appProfileId: '',
    requestTimeoutMillis: 20_000,
    maxInFlightRequests,
    perDestinationMetrics: true,
    countsRecords: true,
  };
  const results = createResultPublisher(
    {
      async publish({ data, attributes }) {
        await publish?.(data.toString());
        published.push({ text: data.toString(), attributes });
      },
      close: () => Promise.resolve(),
    },
    { forms: () => Promise.resolve(forms), runtime },
  );
  const sink: RequestSink = {
    identities: { pipeline: 'counters', subscription: SUBSCRIPTION, framing: 'ndjson' },
    serializer,
    destination: { table: T },
    framing: 'ndjson',
    letters: ANY_LETTER,
    executor: createRowExecutor(options, { send: service.send, runtime }),
    policy,
    emptyBranchPolicy: 'ignore',
    results,
    forms: () => Promise.resolve(forms),
    perDestinationMetrics: true,
    runtime,
    ...given,
  };
  const controller = new AbortController();
  const push = (lines: readonly string[], message = {}): Promise<void> =>
    answerMessage(
      pushedMessage({ messageId: 'm', data: Buffer.from(lines.join('\n')), ...message }),
      sink,
      controller.signal,
    );
  return { clock, service, metrics, handled, published, push, controller };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Answers what is out until nothing is any more. */
async function answerAll(service: FakeRowCalls, reply: (word: string) => RowReply): Promise<void> {
  for (let at = 0; ; at += 1) {
    await settled();
    if (at >= service.calls.length) return;
    service.calls[at]?.answer(reply(wordOf(service.calls[at] as HeldCall)));
  }
}

const ending = (pushed: Promise<void>): Promise<RedeliverError> =>
  pushed.then(
    () => expect.unreachable('the message was acknowledged'),
    (error: unknown) => error as RedeliverError,
  );

describe('a message', () => {
  test('of very many records has 10,000 of them asked at a time, and ends when all are answered', async () => {
    const { clock, service, published, push } = setUp({ maxInFlightRequests: 20_000 });
    const pushed = push(Array.from({ length: 10_600 }, (_, at) => `k${at}`));
    await clock.advance(0);
    expect(service.calls).toHaveLength(10_000);
    service.reply = () => counterReply(1n);
    for (const call of service.calls.slice()) call.answer(counterReply(1n));
    while (published.length < 10_600) {
      await settled();
      await clock.advance(0);
    }
    await pushed;
    expect(service.calls).toHaveLength(10_600);
  });

  test('is acknowledged when every record is answered, skipped, or handed to the failure policy', async () => {
    const { service, metrics, handled, push } = setUp();
    service.reply = (call) => (wordOf(call) === 'bad' ? failure('INVALID_ARGUMENT') : counterReply(1n));
    await push(['a', 'skip', 'throw', 'bad', 'b']);
    expect(handled.map(({ reason, record }) => [reason, record.index])).toEqual([
      ['serializer', 2],
      ['rejected', 3],
    ]);
    expect(metrics.snapshot().counters).toMatchObject({
      recordsSkipped: 1,
      requestsAccepted: 3,
      numRecordsSend: 3,
      requestsCompleted: 2,
      requestsFailed: 2,
      numRecordsSendErrors: 2,
      resultsPublished: 2,
    });
  });

  test('counts for its table on request, sends and errors alike', async () => {
    const { service, metrics, push } = setUp();
    service.reply = () => failure('INVALID_ARGUMENT');
    await push(['a']);
    expect(metrics.snapshot().labelled).toEqual(
      expect.arrayContaining([
        { metric: 'destination.recordsSend', label: 'p.i.t', value: 1 },
        { metric: 'destination.sendErrors', label: 'p.i.t', value: 1 },
      ]),
    );
  });

  test('runs its records at once, but those of one row in their order', async () => {
    const { service, push } = setUp();
    const pushed = push(['a', 'b', 'a', 'c']);
    await settled();
    expect(service.calls.map(wordOf)).toEqual(['a', 'b', 'c']);
    service.calls[1]?.answer(counterReply(1n));
    await settled();
    expect(service.calls).toHaveLength(3);
    service.calls[0]?.answer(failure('INVALID_ARGUMENT'));
    await settled();
    expect(service.calls.map(wordOf)).toEqual(['a', 'b', 'c', 'a']);
    service.calls[2]?.answer(counterReply(1n));
    service.calls[3]?.answer(counterReply(1n));
    await pushed;
  });

  test('is read whole before a request is made: of one that must be redelivered, each would be made again', async () => {
    const { clock, service, push } = setUp({ sink: { serializer: { ...serializer, resolve: elsewhere } } });
    const pushed = ending(push([...Array.from({ length: 1200 }, () => 'a'), 'elsewhere']));
    await clock.advance(0);
    expect((await pushed).reason).toBe('destination');
    expect(service.calls).toEqual([]);
  });

  test('of records by the thousand lets others run between reading them and between asking', async () => {
    const { clock, service, push } = setUp({ maxInFlightRequests: 10_000 });
    service.reply = () => counterReply(1n);
    const soon = vi.spyOn(clock, 'soon');
    const pushed = push(Array.from({ length: 1200 }, (_, index) => `k${index}`));
    await clock.advance(0);
    await pushed;
    expect(soon).toHaveBeenCalledTimes(2 + 2);
    expect(service.calls).toHaveLength(1200);
  });

  test('without a record is acknowledged and counted', async () => {
    const { push, metrics } = setUp();
    await push(['', ' ']);
    expect(metrics.snapshot().counters).toEqual({ messagesWithoutRecords: 1 });
  });

  test('ends with the first failure in time; what is out is still counted, what is not out is not sent', async () => {
    const { service, metrics, handled, push } = setUp({ maxInFlightRequests: 2 });
    const pushed = ending(push(['throw', 'a', 'b', 'a', 'c']));
    await settled();
    service.calls[1]?.answer(failure('UNAVAILABLE'));
    await settled();
    service.calls[0]?.answer(failure('NOT_FOUND'));
    const error = await pushed;
    expect(error).toMatchObject({ name: 'RedeliverError', reason: 'ambiguous' });
    expect(error.message).toContain('a replay appends or increments again');
    expect(service.calls.map(wordOf)).toEqual(['a', 'b']);
    // Its own failures are filed once, when nothing else sends the message back.
    expect(handled).toEqual([]);
    expect(metrics.snapshot().counters).toMatchObject({ requestsAccepted: 2, requestsFailed: 3 });
  });

  test.each([
    ['UNAVAILABLE', 'ambiguous'],
    ['DEADLINE_EXCEEDED', 'ambiguous'],
    ['NOT_FOUND', 'missing-table'],
    ['RESOURCE_EXHAUSTED', 'transient'],
    ['PERMISSION_DENIED', 'refused'],
  ] as const)('that meets %s is redelivered as %s, and no policy sees it', async (code, reason) => {
    const { service, handled, push } = setUp();
    service.reply = () => failure(code);
    expect(await ending(push(['a']))).toMatchObject({ reason });
    expect(handled).toEqual([]);
  });

  test('whose table cannot be told is redelivered and sends nothing of that record', async () => {
    const { service, push } = setUp({ sink: { destination: { attribute: 'table' } } });
    expect(await ending(push(['a']))).toMatchObject({ reason: 'destination' });
    expect(service.calls).toEqual([]);
  });

  test('whose policy cannot keep what was refused is redelivered', async () => {
    const { push } = setUp({ handle: () => Promise.reject(new RedeliverError('dead-letter-unconfirmed', 'no')) });
    expect(await ending(push(['throw']))).toMatchObject({ reason: 'dead-letter-unconfirmed' });
  });

  test('whose module returns what no request is has a bad record', async () => {
    const wrong = { request: { kind: 'conditional', request: { rowKey: Buffer.from('k'), then: [], otherwise: [] } } };
    const { handled, push } = setUp({ sink: { serializer: { serialize: () => wrong as RowRequestDocument } } });
    await push(['a']);
    expect(handled).toMatchObject([{ reason: 'serializer', detail: expect.stringContaining('branches') as string }]);
  });
});

describe('a refused request', () => {
  test('is handed on in full, with words for a log that quote nothing', async () => {
    const { service, handled, push } = setUp();
    service.reply = () => failure('INVALID_ARGUMENT', 'row secret: bad');
    await push(['a']);
    const [failed] = handled;
    expect(failed?.encodeRequest?.().toString()).toBe('written a');
    expect(failed?.summary).not.toContain('secret');
    expect(failed?.detail).toContain('row secret: bad');
    expect(failed?.destination).toEqual(T);
  });

  test('that comes back in a dead letter is read without the serializer', async () => {
    const { service, push, published } = setUp();
    service.reply = () => counterReply(1n);
    await push(['7'], { messageId: 'first', letter: { payload: 'request', pipeline: 'counters', recordIndex: 4 } });
    expect(service.calls.map(wordOf)).toEqual(['letter']);
    expect(published[0]?.attributes).toMatchObject({ 'message-id': 'first', 'record-index': '4' });
  });
});

describe('an empty branch', () => {
  test('is no failure by default', async () => {
    const { service, metrics, push } = setUp();
    service.reply = () => conditionalReply(true);
    await push(['set']);
    expect(metrics.snapshot().counters).toMatchObject({ emptyBranchesSelected: 1, requestsCompleted: 1 });
  });

  test('under fail sends the message back after it was counted, whatever the policy, and is no failed request', async () => {
    const { service, metrics, handled, published, push } = setUp({ sink: { emptyBranchPolicy: 'fail' } });
    service.reply = () => conditionalReply(true);
    expect(await ending(push(['set', 'throw']))).toMatchObject({ reason: 'empty-branch' });
    expect(handled).toEqual([]);
    expect(published).toEqual([]);
    expect(metrics.snapshot().counters).toMatchObject({
      emptyBranchesSelected: 1,
      requestsCompleted: 1,
      requestsFailed: 1,
    });
  });
});

describe('results', () => {
  test('are published with what finds the record again, before the message is acknowledged', async () => {
    const confirmed = Promise.withResolvers<undefined>();
    const { service, push, published } = setUp({ publish: () => confirmed.promise.then(() => undefined) });
    service.reply = () => counterReply(1n);
    let isAcknowledged = false;
    const pushed = push(['a', 'named']).then(() => (isAcknowledged = true));
    await settled();
    expect(isAcknowledged).toBe(false);
    confirmed.resolve(undefined);
    await pushed;
    expect(published).toEqual([
      {
        text: 'm readModifyWrite',
        attributes: {
          'content-type': 'application/json',
          'correlation-id': 'm',
          'message-id': 'm',
          'record-index': '0',
        },
      },
      {
        text: 'mine readModifyWrite',
        attributes: expect.objectContaining({ 'correlation-id': 'mine', 'record-index': '1' }) as object,
      },
    ]);
  });

  test('that are not confirmed send the message back', async () => {
    const { service, metrics, push } = setUp({ publish: () => Promise.reject(new Error('no topic')) });
    service.reply = () => counterReply(1n);
    expect(await ending(push(['a']))).toMatchObject({ reason: 'result-unconfirmed' });
    expect(metrics.snapshot().counters.resultsPublished).toBeUndefined();
  });

  test('of records that were answered are published although another record sends the message back', async () => {
    const { service, published, push } = setUp();
    const pushed = ending(push(['a', 'b']));
    await answerAll(service, (word) => (word === 'a' ? counterReply(1n) : failure('ABORTED')));
    await pushed;
    expect(published).toHaveLength(1);
  });
});

describe('with replay protection', () => {
  const sound = { markerFamily: 'm', check: () => Promise.resolve(undefined) };
  const sink = { protection: sound };

  test('every request carries the marker of its record, the same at every delivery', async () => {
    const { service, push } = setUp({ sink });
    service.reply = () => conditionalReply(false);
    await push(['count', 'skip', 'count']);
    await push(['count', 'skip', 'count']);
    const identity = (recordIndex: number): string =>
      identityOf({ pipeline: 'counters', subscription: SUBSCRIPTION, messageId: 'm', recordIndex });
    expect(service.calls.map(({ request }) => [0, 2].filter((at) => request.includes(identity(at))))).toEqual([
      [0],
      [2],
      [0],
      [2],
    ]);
  });

  test('the marker of a dead letter that is published back is that of its first message', async () => {
    const { service, push } = setUp({ sink });
    service.reply = () => conditionalReply(false);
    const letter = { payload: 'record', pipeline: 'counters', recordIndex: 4 };
    await push(['count'], { messageId: 'first', subscription: 'projects/p/subscriptions/letters', letter });
    const origin = { pipeline: 'counters', subscription: SUBSCRIPTION };
    const identity = identityOf({ ...origin, messageId: 'first', recordIndex: 4 });
    expect(service.calls[0]?.request.includes(identity)).toBe(true);
  });

  test('a record that is wrong is handed on with what its effect would be known by', async () => {
    const { service, handled, push } = setUp({ sink });
    service.reply = () => failure('INVALID_ARGUMENT');
    await push(['throw', 'count']);
    const identity = (recordIndex: number): string =>
      identityOf({ pipeline: 'counters', subscription: SUBSCRIPTION, messageId: 'm', recordIndex });
    expect(handled.map(({ identity: known }) => known)).toEqual([identity(0), identity(1)]);
  });

  test('a table that cannot hold markers gets no request, and the message is redelivered', async () => {
    const asked: (readonly string[])[] = [];
    const protection = {
      ...sound,
      check: (_table: unknown, families: readonly string[]) => {
        asked.push(families);
        return Promise.resolve(new RedeliverError('refused', 'the family m has a GC rule'));
      },
    };
    const { service, handled, push } = setUp({ sink: { protection } });
    expect(await ending(push(['count']))).toMatchObject({ reason: 'refused', message: 'the family m has a GC rule' });
    expect(asked).toEqual([['f']]);
    expect(service.calls).toEqual([]);
    expect(handled).toEqual([]);
  });

  test('a result says that it is a replay’s', async () => {
    const { service, published, push } = setUp({ sink });
    service.reply = () => conditionalReply(true);
    await push(['count']);
    expect(published[0]?.text).toBe('m conditional replayed');
  });

  test('a request that cannot carry a marker is the record’s failure', async () => {
    const { service, handled, push } = setUp({ sink });
    await push(['a']);
    expect(service.calls).toEqual([]);
    expect(handled).toMatchObject([
      { reason: 'rejected', summary: expect.stringContaining('aggregate family') as string },
    ]);
  });
});
