import { describe, expect, test } from 'vitest';
import { Semaphore } from '../../../../shared/base/semaphore.ts';
import { closedBound, openBound, type RowRange, UNBOUNDED, WHOLE_TABLE } from '../../../../shared/model/row-range.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import { ReadFailedError } from '../../../../shared/scan/ports.ts';
import type { RangeRead, Reader } from '../../../../shared/scan/reading/attempt.ts';
import type { ReadEvent } from '../../../../shared/scan/reading/read-event.ts';
import { ReadPace } from '../../../../shared/scan/reading/read-pace.ts';
import { MAX_FAILURES, readRange } from '../../../../shared/scan/reading/read-range.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import {
  chunksOf,
  failedWith,
  finished,
  oversizedAt,
  rowsOf,
  scannedTo,
  ScriptedReadRows,
} from '../../../support/scripted-read-rows.ts';

const TABLE = tableName('p', 'i', 't');

interface Given extends Partial<RangeRead>, Partial<Pick<Reader, 'largeRows' | 'pace'>> {
  readonly clock?: ManualClock;
  readonly signal?: AbortSignal;
}

function open(service: ScriptedReadRows, given: Given = {}): AsyncGenerator<readonly ReadEvent[], undefined> {
  const { clock = new ManualClock(), signal = new AbortController().signal, largeRows = new Semaphore(1) } = given;
  const { range = WHOLE_TABLE, filter, idleTimeoutMillis = 300_000, maxRowsPerFetch = 1000 } = given;
  return readRange(
    {
      table: TABLE,
      appProfileId: 'profile',
      range,
      ...(filter && { filter }),
      idleTimeoutMillis,
      maxRowsPerFetch,
      maxBytesPerFetch: 8_388_608,
    },
    { readRows: service.open, largeRows, ...(given.pace && { pace: given.pace }), clock, random: () => 0.5 },
    signal,
  );
}

const eventText = (event: ReadEvent): string =>
  event.kind === 'row' ? event.row.key.toString() : `${event.kind} ${event.key.toString()}`;

/** Reads to the end while time passes as it must; each hand-over is a text. */
async function readAll(service: ScriptedReadRows, given: Given = {}): Promise<string[]> {
  const clock = given.clock ?? new ManualClock();
  const over = new AbortController();
  const reading = readSteadily(open(service, { ...given, clock })).finally(() => {
    over.abort();
  });
  reading.catch(() => undefined);
  while (!over.signal.aborted) await clock.advance(1000);
  const seen = await reading;
  expect(clock.pending).toBe(0);
  return seen;
}

async function readSteadily(reading: AsyncIterable<readonly ReadEvent[]>): Promise<string[]> {
  const seen: string[] = [];
  for await (const events of reading) seen.push(events.map(eventText).join(' '));
  return seen;
}

const range = (start: RowRange['start'], end: RowRange['end']): RowRange => ({ start, end });
const key = (text: string): Buffer => Buffer.from(text);

describe('a range that is read without a failure', () => {
  test('is handed on message by message, in order, and ends where the service says so', async () => {
    const service = new ScriptedReadRows([rowsOf('a', 'b'), rowsOf('c'), finished]);
    expect(await readAll(service)).toEqual(['a b', 'c']);
    expect(service.closings).toEqual(['closed']);
  });

  test('asks with its table, profile, range and filter', async () => {
    const filter = Buffer.of(1, 2, 3);
    const service = new ScriptedReadRows([finished]);
    await readAll(service, { range: range(closedBound(key('a')), openBound(key('m'))), filter });
    expect(service.ranges).toEqual(['[a, m)']);
    expect(service.calls[0]).toMatchObject({ table: TABLE, appProfileId: 'profile', filter });
  });

  test('is one hand-over for each limit', async () => {
    const service = new ScriptedReadRows([rowsOf('a', 'b', 'c', 'd', 'e'), finished]);
    expect(await readAll(service, { maxRowsPerFetch: 2 })).toEqual(['a b', 'c d', 'e']);
  });

  test('asks for a message only when the one before was taken', async () => {
    const service = new ScriptedReadRows([rowsOf('a', 'b', 'c'), rowsOf('d'), finished]);
    const reading = open(service, { maxRowsPerFetch: 2 });
    await reading.next();
    await reading.next();
    expect(service.asked).toBe(1);
    await reading.next();
    expect(service.asked).toBe(2);
    await reading.return(undefined);
  });

  test('an empty range opens nothing and is read', async () => {
    const service = new ScriptedReadRows();
    expect(await readAll(service, { range: range(openBound(key('k')), closedBound(key('k'))) })).toEqual([]);
    expect(service.calls).toEqual([]);
  });

  test('bounds of the empty key are none', async () => {
    const service = new ScriptedReadRows([finished]);
    const empty = Buffer.alloc(0);
    await readAll(service, { range: range({ kind: 'closed', key: empty }, { kind: 'open', key: empty }) });
    expect(service.ranges).toEqual(['(*, *)']);
  });
});

describe('a failure that may pass', () => {
  test.each([
    ['UNAVAILABLE', ''],
    ['ABORTED', ''],
    ['DEADLINE_EXCEEDED', ''],
    ['INTERNAL', 'Received RST_STREAM with code 2'],
    ['INTERNAL', 'HTTP/2 error code: INTERNAL_ERROR'],
    ['CANCELLED', 'Received RST_STREAM with code 8'],
  ] as const)('%s %s opens what is left after the last row that was handed on', async (code, message) => {
    const service = new ScriptedReadRows([rowsOf('a', 'b'), failedWith(code, message)], [rowsOf('c'), finished]);
    expect(await readAll(service, { range: range(UNBOUNDED, closedBound(key('m'))) })).toEqual(['a b', 'c']);
    expect(service.ranges).toEqual(['(*, m]', '(b, m]']);
  });

  test('after the last row of the range opens nothing: it would be a request for nothing, which is the whole table', async () => {
    const service = new ScriptedReadRows([rowsOf('a', 'm'), failedWith('UNAVAILABLE')]);
    expect(await readAll(service, { range: range(closedBound(key('a')), closedBound(key('m'))) })).toEqual(['a m']);
    expect(service.ranges).toEqual(['[a, m]']);
  });

  test('goes on after the last key that the service has scanned', async () => {
    const service = new ScriptedReadRows([rowsOf('a'), scannedTo('g'), failedWith('UNAVAILABLE')], [finished]);
    expect(await readAll(service)).toEqual(['a', 'scanned g']);
    expect(service.ranges).toEqual(['(*, *)', '(g, *)']);
  });

  test('inside a row reads that row from its start', async () => {
    const begun = { key: 'b', family: 'f', qualifier: 'q', value: 'half', size: 8 };
    const service = new ScriptedReadRows(
      [rowsOf('a'), chunksOf(begun), failedWith('UNAVAILABLE')],
      [rowsOf('b'), finished],
    );
    expect(await readAll(service)).toEqual(['a', 'b']);
    expect(service.ranges).toEqual(['(*, *)', '(a, *)']);
  });

  test('what was not handed on of a message is asked for again', async () => {
    const service = new ScriptedReadRows([rowsOf('a', 'b', 'c'), finished]);
    const reading = open(service, { maxRowsPerFetch: 2 });
    await reading.next();
    await reading.return(undefined);
    expect(service.closings).toEqual(['closed']);
  });

  test('is waited for twice as long each time, and anew after progress', async () => {
    const clock = new ManualClock();
    const fails = [failedWith('UNAVAILABLE')];
    const service = new ScriptedReadRows(fails, fails, [rowsOf('a'), ...fails], [finished]);
    const reading = readSteadily(open(service, { clock }));
    const opened: number[] = [];
    for (const millis of [0, 99, 1, 199, 1, 99, 1]) {
      await clock.advance(millis);
      opened.push(service.calls.length);
    }
    expect(opened).toEqual([1, 1, 2, 2, 3, 3, 4]);
    await reading;
  });

  test('is waited for as long as the service asks, up to a minute', async () => {
    const clock = new ManualClock();
    const asked = (retryAfterMillis: number) => [{ ...failedWith('UNAVAILABLE'), retryAfterMillis }];
    const service = new ScriptedReadRows(asked(5000), asked(3_600_000), [finished]);
    const reading = readSteadily(open(service, { clock }));
    const opened: number[] = [];
    for (const millis of [0, 4999, 1, 59_999, 1]) {
      await clock.advance(millis);
      opened.push(service.calls.length);
    }
    expect(opened).toEqual([1, 1, 2, 2, 3]);
    await reading;
  });

  test(`ends the read after ${MAX_FAILURES} without progress between them`, async () => {
    const fails = [failedWith('UNAVAILABLE', 'out of order')];
    const service = new ScriptedReadRows(...Array.from({ length: MAX_FAILURES }, () => fails));
    const failure = await readAll(service).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ReadFailedError);
    expect(failure).toMatchObject({ status: { code: 'UNAVAILABLE' } });
    expect((failure as Error).message).toMatch(/^ReadRows of p\.i\.t ended with UNAVAILABLE: out of order/);
  });

  test('does not end a read that gets further each time', async () => {
    const keys = Array.from({ length: 3 * MAX_FAILURES }, (_, index) => `k${String(index).padStart(3, '0')}`);
    const service = new ScriptedReadRows(...keys.map((each) => [rowsOf(each), failedWith('UNAVAILABLE')]), [finished]);
    expect(await readAll(service)).toEqual(keys);
  });
});

describe('a failure that stays', () => {
  test.each([
    'NOT_FOUND',
    'PERMISSION_DENIED',
    'INVALID_ARGUMENT',
    'FAILED_PRECONDITION',
    'RESOURCE_EXHAUSTED',
    'INTERNAL',
    'UNIMPLEMENTED',
  ] as const)('%s ends the read at once, and what was handed on stays so', async (code) => {
    const service = new ScriptedReadRows([rowsOf('a'), failedWith(code)]);
    const reading = open(service);
    expect((await reading.next()).value?.map(eventText)).toEqual(['a']);
    await expect(reading.next()).rejects.toMatchObject({ name: 'ReadFailedError', status: { code } });
    expect(service.closings).toEqual(['closed']);
  });

  test('an OK inside a row is one', async () => {
    const service = new ScriptedReadRows([chunksOf({ key: 'a', family: 'f', qualifier: 'q', value: 'v' }), finished]);
    await expect(readAll(service)).rejects.toThrow('the stream ended inside a row');
  });

  test('an answer that breaks the protocol is one, after the rows before it', async () => {
    const service = new ScriptedReadRows([rowsOf('b'), rowsOf('c', 'a')]);
    const reading = open(service);
    expect((await reading.next()).value?.map(eventText)).toEqual(['b']);
    expect((await reading.next()).value?.map(eventText)).toEqual(['c']);
    await expect(reading.next()).rejects.toMatchObject({ status: { code: 'INTERNAL' } });
  });
});

describe('a service that is silent', () => {
  test('for too long is asked anew, over another connection', async () => {
    const clock = new ManualClock();
    const service = new ScriptedReadRows([rowsOf('a'), 'silence'], [rowsOf('b'), finished]);
    expect(await readAll(service, { clock, idleTimeoutMillis: 5000 })).toEqual(['a', 'b']);
    expect(service.closings).toEqual(['silent', 'closed']);
    expect(service.ranges).toEqual(['(*, *)', '(a, *)']);
  });

  test('a slow reader is not silence', async () => {
    const clock = new ManualClock();
    const service = new ScriptedReadRows([rowsOf('a'), rowsOf('b'), finished]);
    const reading = open(service, { clock, idleTimeoutMillis: 5000 });
    await reading.next();
    await clock.advance(60_000);
    await reading.next();
    expect((await reading.next()).done).toBe(true);
    expect(service.calls).toHaveLength(1);
  });

  test('that says how far it has scanned is not silent', async () => {
    const clock = new ManualClock();
    const service = new ScriptedReadRows([scannedTo('c'), scannedTo('m'), finished]);
    expect(await readAll(service, { clock, idleTimeoutMillis: 1500 })).toEqual(['scanned c', 'scanned m']);
  });
});

describe('a cancel of our own', () => {
  test('says that the range is not read, whatever the stream looked like', async () => {
    const controller = new AbortController();
    const reason = new Error('drained');
    const service = new ScriptedReadRows([rowsOf('a'), finished]);
    const reading = open(service, { signal: controller.signal });
    await reading.next();
    controller.abort(reason);
    await expect(reading.next()).rejects.toBe(reason);
    expect(service.closings).toEqual(['closed']);
  });

  test('ends the wait for a message', async () => {
    const controller = new AbortController();
    const service = new ScriptedReadRows(['silence']);
    const next = open(service, { signal: controller.signal }).next();
    const reason = new Error('drained');
    controller.abort(reason);
    await expect(next).rejects.toBe(reason);
  });

  test('ends the wait between two attempts', async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const service = new ScriptedReadRows([failedWith('UNAVAILABLE')]);
    const next = open(service, { clock, signal: controller.signal }).next();
    next.catch(() => undefined);
    await clock.advance(10);
    const reason = new Error('drained');
    controller.abort(reason);
    await expect(next).rejects.toBe(reason);
    expect(clock.pending).toBe(0);
  });

  test('before the start opens nothing', async () => {
    const service = new ScriptedReadRows();
    await expect(open(service, { signal: AbortSignal.abort(new Error('over')) }).next()).rejects.toThrow('over');
    expect(service.calls).toEqual([]);
  });
});

describe('a row that the service will not read', () => {
  test('is told of by its key when everything before it was read, and the read goes on behind it', async () => {
    const service = new ScriptedReadRows(
      [rowsOf('a'), oversizedAt('m')],
      // A failure may overtake the rows before it.
      [rowsOf('k'), finished],
      [rowsOf('z'), finished],
    );
    expect(await readAll(service)).toEqual(['a', 'k', 'oversized m', 'z']);
    expect(service.ranges).toEqual(['(*, *)', '(a, m)', '(m, *)']);
  });

  test('costs no request for what lies between it and a row that was handed on, where there can be none', async () => {
    const service = new ScriptedReadRows([rowsOf('a'), oversizedAt('a\0')], [finished]);
    expect(await readAll(service)).toEqual(['a', 'oversized a\0']);
    expect(service.ranges).toEqual(['(*, *)', '(a\\x00, *)']);
  });

  test('at the end of the range leaves nothing to be opened', async () => {
    const service = new ScriptedReadRows([oversizedAt('m')], [finished]);
    expect(await readAll(service, { range: range(closedBound(key('a')), closedBound(key('m'))) })).toEqual([
      'oversized m',
    ]);
    expect(service.ranges).toEqual(['[a, m]', '[a, m)']);
  });

  test('may lie before another one that was named first', async () => {
    const service = new ScriptedReadRows(
      [oversizedAt('m')],
      [oversizedAt('c')],
      [finished],
      [rowsOf('d'), finished],
      [finished],
    );
    expect(await readAll(service)).toEqual(['oversized c', 'd', 'oversized m']);
    expect(service.ranges).toEqual(['(*, *)', '(*, m)', '(*, c)', '(c, m)', '(m, *)']);
  });

  test('is not passed before its event was taken', async () => {
    const service = new ScriptedReadRows([oversizedAt('m')], [finished]);
    const reading = open(service);
    expect((await reading.next()).value?.map(eventText)).toEqual(['oversized m']);
    expect(service.calls).toHaveLength(2);
    await reading.return(undefined);
  });

  test('outside what is left of the range is refused', async () => {
    const service = new ScriptedReadRows([rowsOf('m'), oversizedAt('c')]);
    await expect(readAll(service)).rejects.toThrow('lies outside the range');
  });
});

describe('rows above 16 MiB', () => {
  const SIZE = 17 * 1024 * 1024;
  const begun = (rowKey: string): ReturnType<typeof chunksOf> =>
    chunksOf({ key: rowKey, family: 'f', qualifier: 'q', value: 'x', size: SIZE });
  const rest = chunksOf({ value: 'y', status: 'commit' });

  test('are assembled one at a time, and the next one begins when the one before was handed on', async () => {
    const largeRows = new Semaphore(1);
    const first = new ScriptedReadRows([begun('a'), rest, rowsOf('b'), finished]);
    const second = new ScriptedReadRows([begun('m'), rest, finished]);
    const one = open(first, { largeRows });
    const other = open(second, { largeRows });
    expect((await one.next()).value?.map(eventText)).toEqual(['a']);
    const waiting = other.next();
    await new Promise(setImmediate);
    expect(second.asked).toBe(1);
    expect((await one.next()).value?.map(eventText)).toEqual(['b']);
    expect((await waiting).value?.map(eventText)).toEqual(['m']);
    await other.return(undefined);
    await one.return(undefined);
    expect(largeRows.tryAcquire()).toBeDefined();
  });

  test('that are given up let the next one in', async () => {
    const largeRows = new Semaphore(1);
    const service = new ScriptedReadRows([begun('a'), failedWith('UNAVAILABLE')], [begun('a'), rest, finished]);
    expect(await readAll(service, { largeRows })).toEqual(['a']);
    expect(largeRows.tryAcquire()).toBeDefined();
  });

  test('a cancel ends the wait for the turn', async () => {
    const largeRows = new Semaphore(1);
    await largeRows.acquire();
    const controller = new AbortController();
    const service = new ScriptedReadRows([begun('a'), rest, finished]);
    const waiting = open(service, { largeRows, signal: controller.signal }).next();
    await new Promise(setImmediate);
    const reason = new Error('drained');
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(service.closings).toEqual(['closed']);
  });
});

describe('the pace', () => {
  test('lets so many rows a second be asked for, over all reads that share it', async () => {
    const clock = new ManualClock();
    const pace = new ReadPace({ maxRowsPerSecond: 2 }, clock);
    const startedAt = clock.now();
    const services = ['a', 'm'].map(
      (start) => new ScriptedReadRows([rowsOf(start, `${start}2`), rowsOf(`${start}3`, `${start}4`), finished]),
    );
    await Promise.all(services.slice(0, 1).map((service) => readAll(service, { clock, pace })));
    expect(clock.now() - startedAt).toBeGreaterThanOrEqual(2000);
    await readAll(services[1] as ScriptedReadRows, { clock, pace });
    expect(clock.now() - startedAt).toBeGreaterThanOrEqual(4000);
  });

  test('counts bytes too, and does not save up time in which nothing was read', async () => {
    const clock = new ManualClock();
    const waits: number[] = [];
    const pace = new ReadPace({ maxBytesPerSecond: 100, onWaited: (millis) => waits.push(millis) }, clock);
    const { signal } = new AbortController();
    await clock.advance(60_000);
    pace.spend(1, 300);
    const turn = pace.turn(signal);
    await clock.advance(2999);
    await clock.advance(1);
    await turn;
    await pace.turn(signal);
    expect(waits).toEqual([3000]);
  });
});
