import { describe, expect, test } from 'vitest';
import { DeadlineError } from '../../../shared/base/errors.ts';
import { noCell } from '../../../shared/model/filter/filter.ts';
import type { StatusName } from '../../../shared/model/status.ts';
import { tableName } from '../../../shared/model/table-name.ts';
import { createRowExecutor, type ExecutorOptions } from '../../../shared/single-row/execute.ts';
import type { ExecuteOptions } from '../../../shared/single-row/ports.ts';
import { conditionalReply, counterReply, FakeRowCalls, failure } from '../../support/fake-row-calls.ts';
import { testRuntime } from '../../support/runtime.ts';
import { addToQ, conditional, hasQ, increment, setQ } from '../../support/row-requests.ts';

const T = tableName('p', 'i', 't');
const MARKER = { family: 'm', identity: '0123456789abcdef0123456789abcdef' };

function setUp(given: Partial<ExecutorOptions> = {}) {
  const service = new FakeRowCalls();
  const runtime = testRuntime();
  const { clock, metrics } = runtime;
  const executor = createRowExecutor(
    {
      appProfileId: 'profile',
      requestTimeoutMillis: 20_000,
      maxInFlightRequests: 100,
      perDestinationMetrics: false,
      countsRecords: false,
      ...given,
    },
    { send: service.send, runtime },
  );
  const controller = new AbortController();
  const options: ExecuteOptions = { signal: controller.signal, wait: true };
  return { service, clock, metrics, executor, controller, options, counters: () => metrics.snapshot().counters };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('one attempt', () => {
  test('carries the request with its table, profile and the whole timeout, once', async () => {
    const { service, executor, options } = setUp();
    service.reply = () => failure('UNAVAILABLE');
    await executor.execute(T, increment(), options);
    expect(service.calls).toHaveLength(1);
    expect(service.calls[0]).toMatchObject({
      method: 'ReadModifyWriteRow',
      table: T,
      appProfileId: 'profile',
      timeoutMillis: 20_000,
    });
  });

  test('answers with the changed cells of a read-modify-write', async () => {
    const { service, executor, options, counters } = setUp();
    service.reply = () => counterReply(7n);
    const outcome = await executor.execute(T, increment(), options);
    expect(outcome).toMatchObject({
      kind: 'answered',
      isEmptyBranch: false,
      answer: { kind: 'readModifyWrite', cells: [{ family: 'f', timestampMicros: 1000n }] },
    });
    expect(counters()).toEqual({ requestsAccepted: 1, requestsCompleted: 1 });
  });

  test.each([
    { matched: true, then: [], isEmptyBranch: true },
    { matched: true, then: [setQ], isEmptyBranch: false },
    { matched: false, then: [setQ], isEmptyBranch: true },
  ])('answers $matched with an empty branch: $isEmptyBranch', async ({ matched, then, isEmptyBranch }) => {
    const { service, executor, options, counters } = setUp();
    service.reply = () => conditionalReply(matched);
    const request = conditional({ predicate: hasQ, then, otherwise: then.length === 0 ? [setQ] : [] });
    expect(await executor.execute(T, request, options)).toEqual({
      kind: 'answered',
      answer: { kind: 'conditional', predicateMatched: matched },
      isEmptyBranch,
    });
    expect(counters()).toEqual({
      requestsAccepted: 1,
      requestsCompleted: 1,
      [matched ? 'predicatesMatched' : 'predicatesNotMatched']: 1,
      ...(isEmptyBranch && { emptyBranchesSelected: 1 }),
    });
  });

  test.each<[StatusName, object]>([
    ['INVALID_ARGUMENT', { kind: 'rejected' }],
    ['UNAVAILABLE', { kind: 'ambiguous', isTimeout: false }],
    ['DEADLINE_EXCEEDED', { kind: 'ambiguous', isTimeout: true }],
    ['NOT_FOUND', { kind: 'fatal', reason: 'missing-table' }],
    ['RESOURCE_EXHAUSTED', { kind: 'fatal', reason: 'transient' }],
  ])('that ends with %s is counted as failed, by its status', async (code, expected) => {
    const { service, executor, options, metrics } = setUp();
    service.reply = () => failure(code);
    const outcome = await executor.execute(T, increment(), options);
    expect(outcome).toMatchObject({ ...expected, status: { code } });
    const { counters, labelled } = metrics.snapshot();
    expect(counters).toEqual({
      requestsAccepted: 1,
      requestsFailed: 1,
      ...(code === 'DEADLINE_EXCEEDED' && { requestsTimedOut: 1 }),
    });
    expect(labelled).toEqual([{ metric: 'errorClass.errors', label: code, value: 1 }]);
  });

  test('that no client could take is fatal, known not to have applied, and counted nowhere', async () => {
    const { service, executor, options, counters } = setUp();
    service.reply = () => failure('UNAVAILABLE', 'no client', true);
    const outcome = await executor.execute(T, increment(), options);
    expect(outcome).toMatchObject({ kind: 'fatal', reason: 'client' });
    expect(counters()).toEqual({});
  });

  test('whose answer cannot be read is ambiguous: something happened', async () => {
    const { service, executor, options } = setUp();
    service.reply = () => ({ kind: 'answered', answer: Buffer.from([0xff]) });
    expect(await executor.execute(T, increment(), options)).toMatchObject({ kind: 'ambiguous', isTimeout: false });
  });

  test('is counted for its table only on request, and its latency always', async () => {
    const { service, executor, options, metrics, clock } = setUp({ perDestinationMetrics: true });
    const waiting = executor.execute(T, increment(), options);
    await clock.advance(30);
    service.calls[0]?.answer(counterReply(1n));
    await waiting;
    const { labelled, distributions } = metrics.snapshot();
    expect(labelled).toEqual([{ metric: 'destination.recordsSend', label: 'p.i.t', value: 1 }]);
    expect(distributions.rowRequestLatency).toMatchObject({ count: 1, max: 30 });
  });
});

describe('room', () => {
  test('is handed on in the order of arrival, and a request that may not wait is told that it is full', async () => {
    const { service, executor, options, metrics } = setUp({ maxInFlightRequests: 1 });
    const outcomes = ['a', 'b', 'c'].map((key) => executor.execute(T, increment(1n, key), options));
    await settled();
    expect(service.calls).toHaveLength(1);
    expect(metrics.snapshot().gauges.inFlightRequests).toBe(1);
    expect(await executor.execute(T, increment(), { ...options, wait: false })).toEqual({ kind: 'busy' });
    for (const at of [0, 1, 2]) {
      service.calls[at]?.answer(counterReply(1n));
      await settled();
    }
    await Promise.all(outcomes);
    const keys = service.calls.map(({ request }) => /[abc]/.exec(request.subarray(-20).toString('latin1'))?.[0]);
    expect(keys).toEqual(['a', 'b', 'c']);
    expect(metrics.snapshot().gauges.inFlightRequests).toBe(0);
  });

  test('is not taken by requests of a group that must be redelivered, and goes to the next', async () => {
    const { service, executor, options, counters } = setUp({ maxInFlightRequests: 1 });
    const group = { isOver: false };
    const first = executor.execute(T, increment(), { ...options, group });
    const second = executor.execute(T, increment(), { ...options, group });
    const third = executor.execute(T, increment(), options);
    await settled();
    service.calls[0]?.answer(failure('UNAVAILABLE'));
    expect(await first).toMatchObject({ kind: 'ambiguous' });
    expect(await second).toMatchObject({ kind: 'fatal', message: expect.stringContaining('not sent') as string });
    await settled();
    service.calls[1]?.answer(counterReply(1n));
    expect(await third).toMatchObject({ kind: 'answered' });
    expect(service.calls).toHaveLength(2);
    expect(counters()).toMatchObject({ requestsAccepted: 2 });
  });

  test('that does not come in time leaves the request unsent and not applied', async () => {
    const { service, executor, options, controller, counters } = setUp({ maxInFlightRequests: 1 });
    const first = executor.execute(T, increment(), options);
    const waiting = new AbortController();
    const second = executor.execute(T, increment(), { ...options, signal: waiting.signal });
    waiting.abort(new DeadlineError('time was up'));
    expect(await second).toMatchObject({ kind: 'fatal', reason: 'deadline' });
    expect(service.calls).toHaveLength(1);
    controller.abort(new Error('the test ends'));
    await first;
    expect(counters()).toMatchObject({ requestsAccepted: 1 });
  });
});

describe('an end from outside', () => {
  test('cancels the RPC itself and leaves its effect unknown', async () => {
    const { service, executor, options, controller } = setUp();
    const waiting = executor.execute(T, increment(), options);
    await settled();
    controller.abort(new Error('the client went away'));
    expect(service.calls[0]?.signals.some(({ aborted }) => aborted)).toBe(true);
    expect(await waiting).toMatchObject({ kind: 'ambiguous', isTimeout: false, status: { code: 'CANCELLED' } });
  });

  test('by the end of the invocation counts as a timeout', async () => {
    const { executor, options, controller, counters } = setUp();
    const waiting = executor.execute(T, increment(), options);
    await settled();
    controller.abort(new DeadlineError('the invocation is over'));
    expect(await waiting).toMatchObject({ kind: 'ambiguous', isTimeout: true, status: { code: 'DEADLINE_EXCEEDED' } });
    expect(counters()).toMatchObject({ requestsTimedOut: 1 });
  });

  test('by close cancels what is out, and late answers change and count nothing', async () => {
    const { service, executor, options, metrics } = setUp();
    const waiting = executor.execute(T, increment(), options);
    await settled();
    executor.close();
    service.calls[0]?.answer(counterReply(1n));
    expect(await waiting).toMatchObject({ kind: 'fatal', reason: 'draining' });
    expect(await executor.execute(T, increment(), options)).toMatchObject({ kind: 'fatal', reason: 'draining' });
    expect(service.calls).toHaveLength(1);
    const { counters, gauges, distributions } = metrics.snapshot();
    expect(counters).toEqual({});
    expect(distributions).toEqual({});
    expect(gauges.inFlightRequests).toBe(0);
  });
});

describe('a request with a marker', () => {
  const counter = conditional({ predicate: noCell(), otherwise: [addToQ(1n)] });

  test('that can only have been applied before says so, with its first answer', async () => {
    const { service, executor, options, counters } = setUp();
    service.reply = () => conditionalReply(true);
    expect(await executor.execute(T, counter, { ...options, marker: MARKER })).toEqual({
      kind: 'answered',
      answer: { kind: 'conditional', predicateMatched: false },
      isEmptyBranch: false,
      replayed: true,
    });
    expect(counters()).toMatchObject({ requestsDeduplicated: 1, predicatesNotMatched: 1 });
  });

  test('whose own predicate may have matched says that it cannot tell', async () => {
    const { service, executor, options, counters } = setUp();
    service.reply = () => conditionalReply(true);
    const request = conditional({ predicate: hasQ });
    expect(await executor.execute(T, request, { ...options, marker: MARKER })).toMatchObject({
      answer: { predicateMatched: true },
      mayBeReplayed: true,
    });
    expect(counters().requestsDeduplicated).toBeUndefined();
  });

  test('that did not match was applied now, for the first time', async () => {
    const { service, executor, options } = setUp();
    service.reply = () => conditionalReply(false);
    expect(await executor.execute(T, counter, { ...options, marker: MARKER })).toEqual({
      kind: 'answered',
      answer: { kind: 'conditional', predicateMatched: false },
      isEmptyBranch: false,
    });
  });

  test('that cannot carry one is refused before it is sent, with the alternative', async () => {
    const { service, executor, options, counters } = setUp();
    const outcome = await executor.execute(T, increment(), { ...options, marker: MARKER });
    expect(outcome).toMatchObject({ kind: 'rejected' });
    expect(JSON.stringify(outcome)).toContain('aggregate family');
    expect(service.calls).toEqual([]);
    expect(counters()).toEqual({ requestsFailed: 1 });
  });
});
