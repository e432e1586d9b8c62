import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../shared/base/clock.ts';
import { Semaphore } from '../../../../shared/base/semaphore.ts';
import { createOpenPartition } from '../../../../shared/change-stream/reading/read-partition-stream.ts';
import type { ChangeMessages, ReadChangeStreamCall } from '../../../../shared/change-stream/reading/ports.ts';
import { ClientPool } from '../../../../shared/google/bigtable/clients.ts';
import {
  createReadChangeStream,
  encodeReadChangeStream,
} from '../../../../shared/google/bigtable/read-change-stream.ts';
import { tableName } from '../../../../shared/model/table-name.ts';
import { ReadChangeStreamRequest } from '../../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { type BytesCall, serveBytes } from '../../../support/bytes-server.ts';
import {
  closeMessage,
  dataMessage,
  heartbeatMessage,
  openEnd,
  rangeOf,
  wireToken,
} from '../../../support/change-messages.ts';
import { eventually } from '../../../support/eventually.ts';
import { testRuntime } from '../../../support/runtime.ts';

const CALL: ReadChangeStreamCall = {
  table: tableName('p', 'i', 't'),
  appProfileId: 'one',
  range: rangeOf('', 'm'),
  position: { tokens: [], lowWatermark: 1_700_000_000_123_456_789n },
  signals: [],
};

const empty = Buffer.alloc(0);
const wire = (start: string, end: string) => ({
  rowRange: {
    startKey: { $case: 'startKeyClosed', value: Buffer.from(start) },
    endKey: { $case: 'endKeyOpen', value: Buffer.from(end) },
  },
});
const requestOf = (call: Partial<ReadChangeStreamCall>): ReadChangeStreamRequest =>
  ReadChangeStreamRequest.decode(encodeReadChangeStream({ ...CALL, ...call }));

describe('the request', () => {
  test('without tokens starts at the low watermark, to the nanosecond, and asks for a heartbeat every 5 s', () => {
    expect(requestOf({})).toEqual({
      tableName: 'projects/p/instances/i/tables/t',
      appProfileId: 'one',
      partition: wire('', 'm'),
      startFrom: { $case: 'startTime', value: { seconds: 1_700_000_000n, nanos: 123_456_789 } },
      endTime: undefined,
      heartbeatDuration: { seconds: 5n, nanos: 0 },
    });
  });

  test('says outright that there is no bound: each side is there, with an empty key', () => {
    expect(requestOf({ range: rangeOf('', '') }).partition).toEqual(wire('', ''));
    // Both sides, of which neither may be left out: two tags and two empty keys.
    const encoded = encodeReadChangeStream({ ...CALL, range: rangeOf('', '') });
    expect(encoded.includes(Buffer.of(0x1a, 6, 0x0a, 4, 0x0a, 0, 0x1a, 0))).toBe(true);
    expect(requestOf({ range: rangeOf('', '') }).partition?.rowRange?.startKey?.value).toEqual(empty);
  });

  test('sends all tokens, each with the partition that it was issued for', () => {
    const tokens = [
      { range: rangeOf('', 'c'), token: 'left' },
      { range: rangeOf('c', 'm'), token: 'right' },
    ];
    expect(requestOf({ position: { tokens, lowWatermark: 1n } }).startFrom).toEqual({
      $case: 'continuationTokens',
      value: {
        tokens: [
          { partition: wire('', 'c'), token: 'left' },
          { partition: wire('c', 'm'), token: 'right' },
        ],
      },
    });
  });

  test('of a bounded stream names its end', () => {
    expect(requestOf({ endTime: 2_000_000_001n }).endTime).toEqual({ seconds: 2n, nanos: 1 });
  });
});

describe('over a channel', () => {
  let serve: (call: BytesCall) => void;
  let server: Awaited<ReturnType<typeof serveBytes>>;
  let pool: ClientPool;

  beforeEach(async () => {
    server = await serveBytes((call) => {
      serve(call);
    }, '/google.bigtable.v2.Bigtable/ReadChangeStream');
    pool = new ClientPool(
      { maxActiveInstances: 1, destinationIdleTimeoutMillis: 3_600_000, emulatorEndpoint: server.address },
      testRuntime(),
    );
  });

  afterEach(() => {
    pool.close();
    server.close();
  });

  const open = (signals: readonly AbortSignal[] = []): ChangeMessages =>
    createReadChangeStream(pool)({ ...CALL, signals });

  /** The only client is free again: one for another instance can be had at once. */
  function isFree(): boolean {
    const other = pool.hold({ project: 'p', instance: 'other' });
    if (other) pool.release(other);
    return other !== undefined;
  }

  test('tells its messages and that the service said OK, and gives its client back', async () => {
    serve = (call) => {
      call.write(heartbeatMessage('1'));
      call.write(heartbeatMessage('2'));
      call.end();
    };
    const messages = open();
    expect(await messages.next()).toEqual({ kind: 'message', message: heartbeatMessage('1') });
    expect(await messages.next()).toEqual({ kind: 'message', message: heartbeatMessage('2') });
    expect(await messages.next()).toEqual({ kind: 'finished' });
    expect(await messages.next()).toEqual({ kind: 'finished' });
    expect(isFree()).toBe(true);
  });

  test('is routed by its table and profile', async () => {
    const seen = Promise.withResolvers<unknown>();
    serve = (call) => {
      seen.resolve(call.metadata.get('x-goog-request-params'));
      call.end();
    };
    await open().next();
    expect(await seen.promise).toEqual(['table_name=projects%2Fp%2Finstances%2Fi%2Ftables%2Ft&app_profile_id=one']);
  });

  test('tells the status by which it failed', async () => {
    serve = (call) => {
      call.emit('error', { code: status.FAILED_PRECONDITION, details: 'the stream is off' });
    };
    expect(await open().next()).toEqual({
      kind: 'failed',
      status: { code: 'FAILED_PRECONDITION', message: 'the stream is off' },
    });
    expect(isFree()).toBe(true);
  });

  test('is cancelled by close, even while a message is waited for', async () => {
    const cancelled = Promise.withResolvers<undefined>();
    serve = (call) => {
      call.write(heartbeatMessage('1'));
      call.on('cancelled', () => {
        cancelled.resolve(undefined);
      });
    };
    const messages = open();
    await messages.next();
    const waiting = messages.next();
    await messages.close();
    expect(await waiting).toMatchObject({ kind: 'failed', status: { code: 'CANCELLED' } });
    await cancelled.promise;
    await eventually(() => isFree());
  });

  test('is cancelled by each of its signals', async () => {
    serve = (call) => {
      call.write(heartbeatMessage('1'));
    };
    const stop = new AbortController();
    const messages = open([new AbortController().signal, stop.signal]);
    await messages.next();
    const waiting = messages.next();
    stop.abort(new Error('drained'));
    expect(await waiting).toMatchObject({ kind: 'failed', status: { code: 'CANCELLED', message: 'drained' } });
  });

  test('a partition that is cut inside a change is read on from its last token, and ends with its close', async () => {
    const calls: ReadChangeStreamRequest[] = [];
    const next = wireToken(rangeOf('', 'm'), 'next');
    const answers: ((call: BytesCall) => void)[] = [
      (call) => {
        call.write(dataMessage({ token: '1' }));
        call.write(dataMessage(openEnd));
        call.emit('error', { code: status.UNAVAILABLE, details: 'the tablet has moved' });
      },
      (call) => {
        call.write(dataMessage({ token: '2' }));
        call.write(closeMessage({ continuationTokens: [next] }));
        call.end();
      },
    ];
    serve = (call) => {
      calls.push(ReadChangeStreamRequest.decode(call.request));
      answers.shift()?.(call);
    };
    const openPartition = createOpenPartition({
      readChangeStream: createReadChangeStream(pool),
      largeChanges: new Semaphore(1),
      runtime: testRuntime({ clock: systemClock }),
    });
    const { table, appProfileId, range, position } = CALL;
    const options = { table, appProfileId, maxMutationBytes: 1 << 20 };
    const stream = openPartition(range, position, options, new AbortController().signal);
    const told: string[] = [];
    for (let event = await stream.next(); event; event = await stream.next()) {
      told.push(event.kind === 'change' ? event.change.token : event.kind);
    }
    expect(told.at(-1)).toBe('close');
    // A bad ending may overtake messages that were not asked for yet.
    expect(told.filter((text) => text !== '1')).toEqual(['2', 'close']);
    expect(calls.map(({ startFrom }) => startFrom?.$case)).toEqual([
      'startTime',
      told[0] === '1' ? 'continuationTokens' : 'startTime',
    ]);
    expect(isFree()).toBe(true);
  });
});
