import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { Semaphore } from '../../../../shared/base/semaphore.ts';
import type { Position } from '../../../../shared/change-stream/ledger/partition.ts';
import {
  type PartitionStream,
  type StreamEvent,
  StreamFailedError,
} from '../../../../shared/change-stream/reading/ports.ts';
import { createOpenPartition, MAX_FAILURES } from '../../../../shared/change-stream/reading/read-partition-stream.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import {
  closeMessage,
  continuedMessage,
  dataMessage,
  heartbeatMessage,
  openEnd,
  piece,
  rangeOf,
  wireToken,
} from '../../../support/change-messages.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { testRuntime, type TestRuntime } from '../../../support/runtime.ts';
import { failedWith, finished, messageOf, ScriptedChangeStream } from '../../../support/scripted-change-stream.ts';

const TABLE = tableName('p', 'i', 't');
const RANGE = rangeOf('a', 'm');
const START: Position = { tokens: [], lowWatermark: 77n };

const changeAt = (token: string) => messageOf(dataMessage({ token }));
const heartbeatAt = (token: string) => messageOf(heartbeatMessage(token));
const halfChange = messageOf(dataMessage(openEnd));
const close = messageOf(closeMessage({ continuationTokens: [wireToken(RANGE, 'next')] }));
const endTimeReached = messageOf(closeMessage({ status: { code: 0, message: '', details: [] } }));

interface Given {
  readonly position?: Position;
  readonly endTime?: bigint;
  readonly signal?: AbortSignal;
  readonly largeChanges?: Semaphore;
  readonly maxMutationBytes?: number;
  readonly runtime?: TestRuntime;
}

function open(service: ScriptedChangeStream, given: Given = {}): PartitionStream {
  const { position = START, endTime, signal = new AbortController().signal, runtime = testRuntime() } = given;
  const { largeChanges = new Semaphore(1), maxMutationBytes = 64 * 1024 * 1024 } = given;
  return createOpenPartition({ readChangeStream: service.open, largeChanges, runtime })(
    RANGE,
    position,
    { table: TABLE, appProfileId: 'profile', maxMutationBytes, ...(endTime !== undefined && { endTime }) },
    signal,
  );
}

const eventText = (event: StreamEvent): string =>
  event.kind === 'change' ? `change ${event.change.token}` : event.kind === 'heartbeat' ? event.token : 'close';

/** Reads to the end while time passes as it must. */
async function readAll(service: ScriptedChangeStream, given: Given = {}): Promise<string[]> {
  const runtime = given.runtime ?? testRuntime();
  const seen: string[] = [];
  const over = new AbortController();
  const stream = open(service, { ...given, runtime });
  const reading = (async () => {
    for (let event = await stream.next(); event; event = await stream.next()) seen.push(eventText(event));
  })().finally(() => {
    over.abort();
  });
  reading.catch(() => undefined);
  while (!over.signal.aborted) await runtime.clock.advance(1000);
  await reading;
  expect(runtime.clock.pending).toBe(0);
  expect(service.closings).not.toContain('open');
  return seen;
}

describe('the stream of a partition', () => {
  test('tells changes and heartbeats in order, and ends with its close', async () => {
    const service = new ScriptedChangeStream([changeAt('1'), heartbeatAt('2'), changeAt('3'), close, finished]);
    expect(await readAll(service)).toEqual(['change 1', '2', 'change 3', 'close']);
  });

  test('asks with its table, profile, range, position and end', async () => {
    const service = new ScriptedChangeStream([endTimeReached, finished]);
    expect(await readAll(service, { endTime: 99n })).toEqual(['close']);
    expect(service.calls[0]).toMatchObject({
      table: TABLE,
      appProfileId: 'profile',
      range: RANGE,
      position: START,
      endTime: 99n,
    });
  });

  test('opens nothing before it is asked, and asks for nothing ahead', async () => {
    const service = new ScriptedChangeStream([changeAt('1'), changeAt('2')]);
    const stream = open(service);
    expect(service.calls).toEqual([]);
    await stream.next();
    expect(service.asked).toBe(1);
    await stream.close();
    expect(service.asked).toBe(1);
  });

  test('starts at all of its tokens, and after an event at the token of that alone', async () => {
    const tokens = [
      { range: rangeOf('a', 'c'), token: 'left' },
      { range: rangeOf('c', 'm'), token: 'right' },
    ];
    const service = new ScriptedChangeStream(
      [failedWith('UNAVAILABLE')],
      [heartbeatAt('one'), failedWith('UNAVAILABLE')],
      [close, finished],
    );
    await readAll(service, { position: { tokens, lowWatermark: 5n } });
    expect(service.positions).toEqual(['[a, c) left and [c, m) right', '[a, c) left and [c, m) right', '[a, m) one']);
  });
});

describe('a failure that passes', () => {
  test.each([
    ['UNAVAILABLE', ''],
    ['ABORTED', ''],
    ['DEADLINE_EXCEEDED', ''],
    ['INTERNAL', 'Received RST_STREAM with code 2'],
  ] as const)('%s %s opens the partition anew at the last token that was told', async (code, message) => {
    const service = new ScriptedChangeStream(
      [changeAt('1'), failedWith(code, message)],
      [changeAt('2'), close, finished],
    );
    expect(await readAll(service)).toEqual(['change 1', 'change 2', 'close']);
    expect(service.positions).toEqual(['from 77', '[a, m) 1']);
  });

  test('inside a change tells that change once, from its start', async () => {
    const service = new ScriptedChangeStream(
      [heartbeatAt('1'), halfChange, failedWith('UNAVAILABLE')],
      [changeAt('2'), close, finished],
    );
    expect(await readAll(service)).toEqual(['1', 'change 2', 'close']);
    expect(service.positions).toEqual(['from 77', '[a, m) 1']);
  });

  test('is waited for twice as long each time, and anew after progress', async () => {
    const runtime = testRuntime();
    const fails = [failedWith('UNAVAILABLE')];
    const service = new ScriptedChangeStream(fails, fails, [heartbeatAt('1'), ...fails], [changeAt('2')]);
    const stream = open(service, { runtime });
    const opened: number[] = [];
    const reading = stream.next().then(() => stream.next());
    for (const millis of [0, 9, 1, 19, 1, 9, 1]) {
      await runtime.clock.advance(millis);
      opened.push(service.calls.length);
    }
    expect(opened).toEqual([1, 1, 2, 2, 3, 3, 4]);
    expect(eventText((await reading) as StreamEvent)).toBe('change 2');
    await stream.close();
  });

  test('is waited for as long as the service asks, up to a minute', async () => {
    const runtime = testRuntime();
    const asked = (retryAfterMillis: number) => [{ ...failedWith('UNAVAILABLE'), retryAfterMillis }];
    const service = new ScriptedChangeStream(asked(5000), asked(3_600_000), [changeAt('1')]);
    const stream = open(service, { runtime });
    const reading = stream.next();
    const opened: number[] = [];
    for (const millis of [0, 4999, 1, 59_999, 1]) {
      await runtime.clock.advance(millis);
      opened.push(service.calls.length);
    }
    expect(opened).toEqual([1, 1, 2, 2, 3]);
    await reading;
    await stream.close();
  });

  test(`ends the stream after ${MAX_FAILURES} without an event between them`, async () => {
    const fails = [failedWith('UNAVAILABLE', 'out of order')];
    const service = new ScriptedChangeStream(...Array.from({ length: MAX_FAILURES }, () => fails));
    const failure = await readAll(service).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StreamFailedError);
    expect(failure).toMatchObject({
      failure: 'status',
      status: { code: 'UNAVAILABLE' },
      message: 'ReadChangeStream of [a, m) of p.i.t ended with UNAVAILABLE: out of order',
    });
  });

  test('does not end a stream of which each attempt tells something', async () => {
    const tokens = Array.from({ length: 3 * MAX_FAILURES }, (_, index) => String(index));
    const attempts = tokens.map((token) => [heartbeatAt(token), failedWith('UNAVAILABLE')]);
    expect(await readAll(new ScriptedChangeStream(...attempts, [close, finished]))).toEqual([...tokens, 'close']);
  });
});

describe('a failure that stays', () => {
  test.each([
    'CANCELLED',
    'UNKNOWN',
    'INVALID_ARGUMENT',
    'NOT_FOUND',
    'ALREADY_EXISTS',
    'PERMISSION_DENIED',
    'RESOURCE_EXHAUSTED',
    'FAILED_PRECONDITION',
    'OUT_OF_RANGE',
    'UNIMPLEMENTED',
    'INTERNAL',
    'DATA_LOSS',
    'UNAUTHENTICATED',
  ] as const)('%s ends the stream at once, and what was told stays so', async (code) => {
    const runtime = testRuntime();
    const service = new ScriptedChangeStream([changeAt('1'), failedWith(code)]);
    const stream = open(service, { runtime });
    expect(eventText((await stream.next()) as StreamEvent)).toBe('change 1');
    await expect(stream.next()).rejects.toMatchObject({
      name: 'StreamFailedError',
      failure: 'status',
      status: { code },
    });
    expect(service.closings).toEqual(['closed']);
    expect(await stream.next()).toBeUndefined();
    expect(runtime.clock.pending).toBe(0);
  });

  test('of a stream that is off names the command that turns it on', async () => {
    const service = new ScriptedChangeStream([failedWith('FAILED_PRECONDITION', 'no change stream')]);
    await expect(readAll(service)).rejects.toThrow('gcloud bigtable instances tables update t --instance=i');
  });

  test('is an OK without a close', async () => {
    await expect(readAll(new ScriptedChangeStream([changeAt('1'), finished]))).rejects.toMatchObject({
      failure: 'no-close',
      status: { code: 'OK' },
    });
  });

  test('is an OK inside a change', async () => {
    await expect(readAll(new ScriptedChangeStream([halfChange, finished]))).rejects.toMatchObject({
      failure: 'protocol',
      status: { code: 'INTERNAL' },
    });
  });

  test('is an answer that breaks the protocol', async () => {
    await expect(readAll(new ScriptedChangeStream([halfChange, close]))).rejects.toMatchObject({ failure: 'protocol' });
  });

  test('is a change above the most that is held, by its name and before its bytes', async () => {
    const service = new ScriptedChangeStream([messageOf(dataMessage({ chunks: [piece('a', 0, 5000)], ...openEnd }))]);
    const failure = await readAll(service, { maxMutationBytes: 4999 }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ failure: 'too-large', status: { code: 'RESOURCE_EXHAUSTED' } });
    expect((failure as Error).message).toContain('a change of the row row has more than 4999 bytes');
    expect((failure as Error).message).toContain('raise maxMutationBytes');
  });
});

describe('a close', () => {
  test('holds when the service ends the call after it, which nobody cancels', async () => {
    const service = new ScriptedChangeStream([close, finished]);
    expect(await readAll(service)).toEqual(['close']);
    expect(service.asked).toBe(2);
  });

  test('holds when the service does not end the call', async () => {
    expect(await readAll(new ScriptedChangeStream([close, 'silence']))).toEqual(['close']);
  });

  test('that the call fails behind is read again', async () => {
    const service = new ScriptedChangeStream([heartbeatAt('1'), close, failedWith('UNAVAILABLE')], [close, finished]);
    expect(await readAll(service)).toEqual(['1', 'close']);
    expect(service.positions).toEqual(['from 77', '[a, m) 1']);
  });

  test('that a failure overtakes is not told', async () => {
    const service = new ScriptedChangeStream([failedWith('PERMISSION_DENIED'), close]);
    await expect(readAll(service)).rejects.toMatchObject({ status: { code: 'PERMISSION_DENIED' } });
  });

  test('is the last message of its call', async () => {
    const service = new ScriptedChangeStream([close, heartbeatAt('1')]);
    await expect(readAll(service)).rejects.toThrow('a message came behind a close');
  });
});

describe('a service that is silent', () => {
  test('for 30 s while it is asked is asked anew, over another connection, and counted', async () => {
    const runtime = testRuntime();
    const service = new ScriptedChangeStream([heartbeatAt('1'), 'silence'], [changeAt('2'), close, finished]);
    expect(await readAll(service, { runtime })).toEqual(['1', 'change 2', 'close']);
    expect(service.closings).toEqual(['silent', 'closed']);
    expect(service.positions).toEqual(['from 77', '[a, m) 1']);
    expect(runtime.metrics.snapshot().counters).toEqual({ watchdogReopens: 1 });
  });

  test('is given 30 s from the moment that it is asked', async () => {
    const runtime = testRuntime();
    const service = new ScriptedChangeStream([heartbeatAt('1'), 'silence'], [changeAt('2')]);
    const stream = open(service, { runtime });
    await stream.next();
    await runtime.clock.advance(31_000);
    const next = stream.next();
    await runtime.clock.advance(29_999);
    expect(service.closings).toEqual(['open']);
    await runtime.clock.advance(1);
    expect(service.closings[0]).toBe('silent');
    await runtime.clock.advance(1000);
    expect(eventText((await next) as StreamEvent)).toBe('change 2');
    await stream.close();
    expect(runtime.clock.pending).toBe(0);
  });

  test('a reader that does not ask is no silence', async () => {
    const runtime = testRuntime();
    const service = new ScriptedChangeStream([heartbeatAt('1'), changeAt('2')]);
    const stream = open(service, { runtime });
    await stream.next();
    await runtime.clock.advance(3_600_000);
    expect(eventText((await stream.next()) as StreamEvent)).toBe('change 2');
    expect(service.calls).toHaveLength(1);
    await stream.close();
  });

  test('at every attempt fails the stream', async () => {
    const service = new ScriptedChangeStream(...Array.from({ length: MAX_FAILURES }, () => ['silence'] as const));
    await expect(readAll(service)).rejects.toMatchObject({ failure: 'status', status: { code: 'UNAVAILABLE' } });
  });
});

describe('a stop of our own', () => {
  test('ends the wait for a message without an error', async () => {
    const stop = new AbortController();
    const service = new ScriptedChangeStream(['silence']);
    const runtime = testRuntime();
    const next = open(service, { signal: stop.signal, runtime }).next();
    stop.abort(new Error('drained'));
    expect(await next).toBeUndefined();
    expect(service.closings).toEqual(['closed']);
    expect(runtime.clock.pending).toBe(0);
  });

  test('by close ends it as well, and a second close does nothing', async () => {
    const service = new ScriptedChangeStream(['silence']);
    const runtime = testRuntime();
    const stream = open(service, { runtime });
    const next = stream.next();
    await stream.close();
    expect(await next).toBeUndefined();
    await stream.close();
    expect(runtime.clock.pending).toBe(0);
  });

  test('ends the wait between two attempts', async () => {
    const stop = new AbortController();
    const runtime = testRuntime();
    const next = open(new ScriptedChangeStream([failedWith('UNAVAILABLE')]), { signal: stop.signal, runtime }).next();
    await runtime.clock.advance(5);
    stop.abort(new Error('drained'));
    expect(await next).toBeUndefined();
    expect(runtime.clock.pending).toBe(0);
  });

  test('before the start opens nothing', async () => {
    const service = new ScriptedChangeStream();
    expect(await open(service, { signal: AbortSignal.abort(new Error('over')) }).next()).toBeUndefined();
    expect(service.calls).toEqual([]);
  });

  test('does not hide a failure that was there before it', async () => {
    const stop = new AbortController();
    const service = new ScriptedChangeStream([changeAt('1'), failedWith('PERMISSION_DENIED')]);
    const stream = open(service, { signal: stop.signal });
    await stream.next();
    stop.abort(new Error('drained'));
    await expect(stream.next()).rejects.toMatchObject({ status: { code: 'PERMISSION_DENIED' } });
  });

  test('opens nothing anew for a failure that would pass', async () => {
    const stop = new AbortController();
    const service = new ScriptedChangeStream([changeAt('1'), failedWith('UNAVAILABLE')]);
    const stream = open(service, { signal: stop.signal });
    await stream.next();
    stop.abort(new Error('drained'));
    expect(await stream.next()).toBeUndefined();
    expect(service.calls).toHaveLength(1);
  });

  test('is heard by one listener of its signal, however many streams share it and however much they read', async () => {
    const { signal } = new AbortController();
    for (let round = 0; round < 3; round += 1) {
      const tokens = Array.from({ length: 50 }, (_, index) => changeAt(String(index)));
      const stream = open(new ScriptedChangeStream([...tokens, close, finished]), { signal });
      for (let event = await stream.next(); event; event = await stream.next()) {
        expect(getEventListeners(signal, 'abort')).toHaveLength(1);
      }
    }
  });
});

describe('changes above 16 MiB', () => {
  const SIZE = 17 * 1024 * 1024;
  const VALUE = 'x'.repeat(SIZE - 1);
  const begun = messageOf(dataMessage({ chunks: [piece('y', 0, SIZE)], ...openEnd }));
  const rest = (token: string) => messageOf(continuedMessage({ chunks: [piece(VALUE, 1, SIZE, true)], token }));

  test('are assembled one at a time, and the next begins when the one before was done with', async () => {
    const largeChanges = new Semaphore(1);
    const first = new ScriptedChangeStream([begun, rest('1'), changeAt('2')]);
    const second = new ScriptedChangeStream([begun, rest('3')]);
    const one = open(first, { largeChanges });
    const other = open(second, { largeChanges });
    expect(eventText((await one.next()) as StreamEvent)).toBe('change 1');
    const waiting = other.next();
    await new Promise(setImmediate);
    expect(second.asked).toBe(1);
    expect(eventText((await one.next()) as StreamEvent)).toBe('change 2');
    expect(eventText((await waiting) as StreamEvent)).toBe('change 3');
    await one.close();
    await other.close();
    expect(largeChanges.tryAcquire()).toBeDefined();
  });

  test('that are cut let the next one in', async () => {
    const largeChanges = new Semaphore(1);
    const service = new ScriptedChangeStream([begun, failedWith('UNAVAILABLE')], [begun, rest('1'), close, finished]);
    expect(await readAll(service, { largeChanges })).toEqual(['change 1', 'close']);
    expect(largeChanges.tryAcquire()).toBeDefined();
  });

  test('a stop ends the wait for the turn', async () => {
    const largeChanges = new Semaphore(1);
    await largeChanges.acquire();
    const stop = new AbortController();
    const service = new ScriptedChangeStream([begun, rest('1')]);
    const waiting = open(service, { largeChanges, signal: stop.signal }).next();
    await new Promise(setImmediate);
    stop.abort(new Error('drained'));
    expect(await waiting).toBeUndefined();
    expect(service.closings).toEqual(['closed']);
  });

  test('the wait for the turn is no silence', async () => {
    const largeChanges = new Semaphore(1);
    const leave = await largeChanges.acquire();
    const clock = new ManualClock();
    const service = new ScriptedChangeStream([begun, rest('1')]);
    const stream = open(service, { largeChanges, runtime: testRuntime({ clock }) });
    const waiting = stream.next();
    await clock.advance(120_000);
    leave();
    expect(eventText((await waiting) as StreamEvent)).toBe('change 1');
    await stream.close();
  });
});
