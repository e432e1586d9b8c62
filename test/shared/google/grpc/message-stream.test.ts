import { getEventListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { credentials, Metadata, status } from '@grpc/grpc-js';
import { afterEach, describe, expect, test } from 'vitest';
import { ChannelSet } from '../../../../shared/google/grpc/channel.ts';
import { CallError, type MessageStream } from '../../../../shared/google/grpc/message-stream.ts';
import { type BytesCall, serveBytes, STREAM } from '../../../support/bytes-server.ts';
import { eventually } from '../../../support/eventually.ts';

const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0).toReversed()) close();
});

async function connectTo(handle: (call: BytesCall) => void): Promise<ChannelSet> {
  const { address, close } = await serveBytes(handle);
  const channels = new ChannelSet(address, credentials.createInsecure());
  closers.push(close, () => {
    channels.close();
  });
  return channels;
}

interface Given {
  readonly signals?: readonly AbortSignal[];
  readonly millis?: number;
  readonly request?: string;
}

const open = (channels: ChannelSet, { signals = [], millis = 20_000, request = '' }: Given = {}): MessageStream =>
  channels.stream(
    { method: STREAM, request: Buffer.from(request), metadata: new Metadata(), deadline: Date.now() + millis },
    signals,
  );

const textOf = async (next: Promise<IteratorResult<Buffer, undefined>>): Promise<string | undefined> =>
  (await next).value?.toString();

async function drained(stream: MessageStream): Promise<number> {
  let messages = 0;
  for await (const message of stream) messages += message.length > 0 ? 1 : 0;
  return messages;
}

/** Writes as its reader takes, and counts the bytes that it was let write. */
function endless(messageBytes: number): { handle: (call: BytesCall) => void; readonly written: number } {
  let written = 0;
  const message = Buffer.alloc(messageBytes, 1);
  return {
    handle(call) {
      const write = (): void => {
        while (!call.cancelled) {
          written += messageBytes;
          if (call.write(message)) continue;
          call.once('drain', write);
          return;
        }
      };
      write();
    },
    get written() {
      return written;
    },
  };
}

describe('its pace', () => {
  test('each next is one message, in order, and the ending is told once', async () => {
    const channels = await connectTo((call) => {
      for (const text of ['a', 'b', 'c']) call.write(Buffer.from(text));
      call.end();
    });
    const stream = open(channels);
    const texts: (string | undefined)[] = [];
    for (let at = 0; at < 5; at += 1) texts.push(await textOf(stream.next()));
    expect(texts).toEqual(['a', 'b', 'c', undefined, undefined]);
    expect(channels.inFlight).toBe(0);
  });

  test('a reader that stops asking stops the writing of the server, with little in flight', async () => {
    const server = endless(64 * 1024);
    const channels = await connectTo(server.handle);
    const stream = open(channels);
    await stream.next();
    await wait(200);
    const stalledAt = server.written;
    await wait(200);
    expect(server.written).toBe(stalledAt);
    expect(stalledAt).toBeLessThan(2 * 1024 * 1024);
    // It goes on as it is asked.
    for (let at = 0; at < 50; at += 1) await stream.next();
    expect(server.written).toBeGreaterThan(stalledAt);
    expect(server.written).toBeLessThan(51 * 64 * 1024 + 2 * 1024 * 1024);
    await stream.return();
  });

  test('a reader that stalls does not hold up another call of the same connection', async () => {
    const server = endless(64 * 1024);
    const peers = new Set<string>();
    const channels = await connectTo((call) => {
      peers.add(call.getPeer());
      if (call.request.toString() === 'endless') server.handle(call);
      else for (let at = 0; at < 40; at += 1) call.write(Buffer.alloc(64 * 1024, 1));
      if (call.request.toString() !== 'endless') call.end();
    });
    const stalled = open(channels, { request: 'endless' });
    await stalled.next();
    expect(await drained(open(channels))).toBe(40);
    expect(peers.size).toBe(1);
    await stalled.return();
  });

  test('a message may be larger than the 4 MiB that grpc-js takes by default', async () => {
    const channels = await connectTo((call) => {
      call.write(Buffer.alloc(5 * 1024 * 1024, 1));
      call.end();
    });
    const { value } = await open(channels).next();
    expect(value).toHaveLength(5 * 1024 * 1024);
  });

  test('a message is asked for before the one before it came: refused, and the first is given all the same', async () => {
    const channels = await connectTo((call) => {
      call.write(Buffer.from('a'));
      call.end();
    });
    const stream = open(channels);
    const first = stream.next();
    await expect(stream.next()).rejects.toThrow('still due');
    expect(await textOf(first)).toBe('a');
    expect(await textOf(stream.next())).toBeUndefined();
  });

  test('a stream that nobody reads makes no call', async () => {
    let calls = 0;
    const channels = await connectTo((call) => {
      calls += 1;
      call.end();
    });
    const stream = open(channels);
    await stream.return();
    expect(await textOf(stream.next())).toBeUndefined();
    expect(await drained(open(channels))).toBe(0);
    expect(calls).toBe(1);
  });
});

describe('its end', () => {
  /** Says `a` and then nothing; tells when the call was cancelled. */
  function talkative(): { handle: (call: BytesCall) => void; readonly cancelled: Promise<undefined> } {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    return {
      cancelled: promise,
      handle(call) {
        call.on('cancelled', () => {
          resolve(undefined);
        });
        call.write(Buffer.from('a'));
      },
    };
  }

  test('a status in the middle rejects after the messages that were read, once', async () => {
    const channels = await connectTo((call) => {
      call.write(Buffer.from('a'));
      call.write(Buffer.from('b'), () => {
        setTimeout(() => {
          call.emit('error', { code: status.ABORTED, details: 'the tablet moved' });
        }, 50);
      });
    });
    const stream = open(channels);
    expect([await textOf(stream.next()), await textOf(stream.next())]).toEqual(['a', 'b']);
    const failure: unknown = await stream.next().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(CallError);
    expect(failure).toMatchObject({
      status: { code: 'ABORTED', message: 'the tablet moved' },
      isHeard: true,
      message: `${STREAM} ended with ABORTED: the tablet moved`,
    });
    expect(await textOf(stream.next())).toBeUndefined();
    expect(channels.inFlight).toBe(0);
  });

  test('a status that comes while nobody waits is told to the next that asks, once', async () => {
    const channels = await connectTo((call) => {
      call.write(Buffer.from('a'));
      setTimeout(() => {
        call.emit('error', { code: status.UNAVAILABLE, details: 'restarting' });
      }, 20);
    });
    const stream = open(channels);
    await stream.next();
    await eventually(() => {
      expect(channels.inFlight).toBe(0);
    });
    await expect(stream.next()).rejects.toMatchObject({ status: { code: 'UNAVAILABLE' } });
    expect(await textOf(stream.next())).toBeUndefined();
  });

  test('a signal ends the wait with its reason, and cancels the call at the server', async () => {
    const server = talkative();
    const channels = await connectTo(server.handle);
    const controller = new AbortController();
    const stream = open(channels, { signals: [controller.signal] });
    await stream.next();
    const waiting = stream.next();
    const reason = new Error('the invocation ended');
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await server.cancelled;
    expect(await textOf(stream.next())).toBeUndefined();
    expect(channels.inFlight).toBe(0);
  });

  test('a signal that aborts while nobody waits cancels the call, and its reason is told to the next that asks', async () => {
    const server = talkative();
    const channels = await connectTo(server.handle);
    const controller = new AbortController();
    const stream = open(channels, { signals: [new AbortController().signal, controller.signal] });
    await stream.next();
    const reason = new Error('the invocation ended');
    controller.abort(reason);
    await server.cancelled;
    await expect(stream.next()).rejects.toBe(reason);
  });

  test('a signal that aborted before leaves the call unmade', async () => {
    const channels = await connectTo((call) => {
      call.end();
    });
    const reason = new Error('before');
    await expect(open(channels, { signals: [AbortSignal.abort(reason)] }).next()).rejects.toBe(reason);
    expect(channels.inFlight).toBe(0);
  });

  test('a reader that leaves early has cancelled the call when it is out', async () => {
    const server = talkative();
    const channels = await connectTo(server.handle);
    for await (const message of open(channels)) {
      expect(message.toString()).toBe('a');
      break;
    }
    expect(channels.inFlight).toBe(0);
    await server.cancelled;
  });

  test('return ends a wait for a message: there is none', async () => {
    const server = talkative();
    const channels = await connectTo(server.handle);
    const stream = open(channels);
    await stream.next();
    const waiting = stream.next();
    await stream.return();
    expect(await textOf(waiting)).toBeUndefined();
    await server.cancelled;
  });

  test('a call that is given up for silence is cancelled, and the next one takes another connection', async () => {
    const peers: string[] = [];
    const channels = await connectTo((call) => {
      peers.push(call.getPeer());
      if (call.request.toString() === 'silent') return;
      call.write(Buffer.from('a'));
      call.end();
    });
    await drained(open(channels));
    const stream = open(channels, { request: 'silent' });
    const waiting = stream.next();
    while (peers.length < 2) await wait(5);
    await stream.abandon();
    expect((await waiting).done).toBe(true);
    expect(channels.inFlight).toBe(0);
    await drained(open(channels));
    expect(peers[1]).toBe(peers[0]);
    expect(peers[2]).not.toBe(peers[0]);
  });

  test('a status brings the details that the service sent with it', async () => {
    const details = Buffer.from('encoded');
    const channels = await connectTo((call) => {
      const metadata = new Metadata();
      metadata.set('grpc-status-details-bin', details);
      call.emit('error', { code: status.FAILED_PRECONDITION, details: 'no', metadata });
    });
    await expect(open(channels).next()).rejects.toMatchObject({ status: { code: 'FAILED_PRECONDITION' }, details });
    const plain = await connectTo((call) => {
      call.emit('error', { code: status.FAILED_PRECONDITION, details: 'no' });
    });
    await expect(open(plain).next()).rejects.toMatchObject({ details: undefined });
  });

  test('a deadline that passes while the reader is busy ends the call; the connection was heard', async () => {
    const channels = await connectTo(endless(1024).handle);
    const stream = open(channels, { millis: 100 });
    await stream.next();
    await wait(150);
    await expect(stream.next()).rejects.toMatchObject({ status: { code: 'DEADLINE_EXCEEDED' }, isHeard: true });
  });

  test('a request that no call can be made of rejects, and counts nothing in flight', async () => {
    const channels = await connectTo((call) => {
      call.end();
    });
    const call = { method: STREAM, request: Buffer.alloc(0), metadata: new Metadata(), deadline: Date.now() + 1000 };
    channels.close();
    await expect(channels.stream(call, []).next()).rejects.toMatchObject({ status: { code: 'UNAVAILABLE' } });
    expect(channels.inFlight).toBe(0);
  });
});

test('a thousand streams, ended in every way, leave no listener and no timer behind', async () => {
  const channels = await connectTo((call) => {
    call.write(Buffer.from('a'));
    if (call.request.toString() === 'fails') call.emit('error', { code: status.ABORTED, details: '' });
    if (call.request.toString() === 'ends') call.end();
  });
  const { signal } = new AbortController();
  const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  await drained(open(channels, { signals: [signal], request: 'ends' }));
  const before = timers();
  const one = async (at: number): Promise<void> => {
    const own = new AbortController();
    const request = ['ends', 'fails', 'left', 'aborted'][at % 4] ?? '';
    const stream = open(channels, { signals: [signal, own.signal], request });
    if (request === 'ends') await drained(stream);
    if (request === 'fails') await expect(drained(stream)).rejects.toThrow(CallError);
    if (request === 'left') {
      for await (const message of stream) if (message.length > 0) break;
    }
    if (request === 'aborted') {
      await stream.next();
      own.abort(new Error('aborted'));
      await expect(stream.next()).rejects.toThrow('aborted');
    }
  };
  for (let from = 0; from < 1000; from += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, index) => one(from + index)));
  }
  expect(channels.inFlight).toBe(0);
  // One for all that ever waited on it, whatever their number.
  expect(getEventListeners(signal, 'abort').length).toBeLessThanOrEqual(1);
  // The server of this process has timers of its own, which end when it has seen its calls end.
  for (let round = 0; round < 40 && timers() > before; round += 1) await wait(25);
  expect(timers()).toBeLessThanOrEqual(before);
});
