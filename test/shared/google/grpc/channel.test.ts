import { type AddressInfo, createServer, type Socket } from 'node:net';
import { credentials, Metadata, status } from '@grpc/grpc-js';
import { afterEach, describe, expect, test } from 'vitest';
import { ChannelSet } from '../../../../shared/google/grpc/channel.ts';
import { CallError } from '../../../../shared/google/grpc/message-stream.ts';
import { type BytesCall, serveBytes, STREAM } from '../../../support/bytes-server.ts';
import { eventually } from '../../../support/eventually.ts';

const closers: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function serve(handle: (call: BytesCall) => void): Promise<string> {
  const { address, close } = await serveBytes(handle);
  closers.push(close);
  return address;
}

function connect(address: string): ChannelSet {
  const channels = new ChannelSet(address, credentials.createInsecure());
  closers.push(() => {
    channels.close();
  });
  return channels;
}

interface CallOptions {
  readonly millis?: number;
  readonly onMessage?: (message: Buffer) => void;
}

interface Ending {
  readonly code: string;
  readonly message?: string;
  readonly isHeard: boolean;
}

/** Reads a call to its end. */
async function call(channels: ChannelSet, { millis = 5000, onMessage }: CallOptions = {}): Promise<Ending> {
  const request = Buffer.from('request');
  const stream = channels.stream(
    { method: STREAM, request, metadata: new Metadata(), deadline: Date.now() + millis },
    [],
  );
  try {
    for await (const message of stream) onMessage?.(message);
  } catch (error) {
    if (error instanceof CallError) return { ...error.status, isHeard: error.isHeard };
    throw error;
  }
  return { code: 'OK', isHeard: true };
}

describe('one call', () => {
  test('passes the request and every message as bytes, in order, and ends with the status', async () => {
    const address = await serve((stream) => {
      for (const text of ['first ', 'second ']) stream.write(Buffer.concat([Buffer.from(text), stream.request]));
      stream.end();
    });
    const messages: string[] = [];
    const ending = await call(connect(address), { onMessage: (message) => void messages.push(message.toString()) });
    expect(messages).toEqual(['first request', 'second request']);
    expect(ending).toEqual({ code: 'OK', isHeard: true });
  });

  test('a refusal of the service is an ending that was heard, with its words', async () => {
    const address = await serve((stream) => {
      stream.emit('error', { code: status.NOT_FOUND, details: 'no such table' });
    });
    const ending = await call(connect(address));
    expect(ending).toEqual({ code: 'NOT_FOUND', message: 'no such table', isHeard: true });
  });

  test('no server at all is an ending as well, and soon', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const ending = await call(connect(`127.0.0.1:${port}`));
    expect(ending.code).toBe('UNAVAILABLE');
  });

  test('a reader that throws at a message ends the call, and no more of it comes', async () => {
    const address = await serve((stream) => {
      stream.write(Buffer.from('not what the reader expects'));
      stream.write(Buffer.from('more'));
    });
    const seen: string[] = [];
    const channels = connect(address);
    const reading = call(channels, {
      onMessage: (message) => {
        seen.push(message.toString());
        throw new Error('cannot be decoded');
      },
    });
    await expect(reading).rejects.toThrow('cannot be decoded');
    expect(seen).toHaveLength(1);
    expect(channels.inFlight).toBe(0);
  });

  test('the calls in flight are counted until they end', async () => {
    const open: BytesCall[] = [];
    const address = await serve((stream) => void open.push(stream));
    const channels = connect(address);
    const calls = [call(channels), call(channels)];
    expect(channels.inFlight).toBe(2);
    await eventually(() => {
      expect(open).toHaveLength(2);
    });
    for (const stream of open) stream.end();
    await Promise.all(calls);
    expect(channels.inFlight).toBe(0);
  });
});

describe('a connection that is dead', () => {
  /** Accepts connections, says its greeting and never a word more, as the far end of one that a freeze outlived. */
  async function silentAfter(greeting: Buffer) {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.resume();
      socket.write(greeting);
      sockets.push(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
  }

  const NOTHING = Buffer.alloc(0);
  /** An HTTP/2 SETTINGS frame without settings: the least that makes a connection ready. */
  const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

  test.each([
    ['that never said a word', NOTHING],
    ['that fell silent', SETTINGS],
  ])(
    'a call that reached its deadline unheard on one %s makes the next use a new connection',
    async (_how, greeting) => {
      const { address, sockets } = await silentAfter(greeting);
      const channels = connect(address);
      for (const connections of [1, 2, 3]) {
        const ending = await call(channels, { millis: 80 });
        expect(ending).toMatchObject({ code: 'DEADLINE_EXCEEDED', isHeard: false });
        expect(sockets).toHaveLength(connections);
      }
    },
  );

  test('the connection that was given up is closed', async () => {
    const { address, sockets } = await silentAfter(SETTINGS);
    await call(connect(address), { millis: 80 });
    await eventually(() => {
      expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]);
    });
  });

  test('a service that stops answering on a connection it had answered on is reached over a new one', async () => {
    const peers: string[] = [];
    let isAnswering = true;
    const address = await serve((stream) => {
      peers.push(stream.getPeer());
      if (isAnswering) stream.end();
    });
    const channels = connect(address);
    await call(channels);
    await call(channels);
    isAnswering = false;
    expect((await call(channels, { millis: 60 })).isHeard).toBe(false);
    isAnswering = true;
    expect((await call(channels)).code).toBe('OK');
    expect(new Set(peers.slice(0, 3)).size).toBe(1);
    expect(peers[3]).not.toBe(peers[0]);
  });

  test('other calls on it go on to their own ends', async () => {
    const open: BytesCall[] = [];
    const peers: string[] = [];
    const address = await serve((stream) => {
      peers.push(stream.getPeer());
      open.push(stream);
    });
    const channels = connect(address);
    const messages: string[] = [];
    const long = call(channels, { onMessage: (message) => void messages.push(message.toString()) });
    await eventually(() => {
      expect(open).toHaveLength(1);
    });
    expect((await call(channels, { millis: 60 })).isHeard).toBe(false);
    open[0]?.write(Buffer.from('still here'));
    open[0]?.end();
    expect((await long).code).toBe('OK');
    expect(messages).toEqual(['still here']);
  });

  test('a call that was heard before its deadline keeps the connection', async () => {
    const peers: string[] = [];
    const address = await serve((stream) => {
      peers.push(stream.getPeer());
      stream.write(Buffer.from('working on it'));
    });
    const channels = connect(address);
    for (let calls = 0; calls < 2; calls += 1) {
      const ending = await call(channels, { millis: 60 });
      expect(ending).toMatchObject({ code: 'DEADLINE_EXCEEDED', isHeard: true });
    }
    expect(peers).toHaveLength(2);
    expect(new Set(peers).size).toBe(1);
  });
});

describe('many calls at once', () => {
  test.each([
    [90, 1],
    [91, 2],
    [181, 3],
  ])('%i streams use %i connections', async (streams, connections) => {
    const open: BytesCall[] = [];
    const address = await serve((stream) => void open.push(stream));
    const channels = connect(address);
    const calls = Array.from({ length: streams }, () => call(channels));
    await eventually(() => {
      expect(open).toHaveLength(streams);
    });
    const counts = Map.groupBy(open, (stream) => stream.getPeer());
    expect(counts.size).toBe(connections);
    for (const perConnection of counts.values()) expect(perConnection.length).toBeLessThanOrEqual(90);
    for (const stream of open) stream.end();
    expect((await Promise.all(calls)).every(({ code }) => code === 'OK')).toBe(true);
  });
});

describe('close', () => {
  test('a call after it ends at once and opens nothing', async () => {
    const peers: string[] = [];
    const address = await serve((stream) => {
      peers.push(stream.getPeer());
      stream.end();
    });
    const channels = connect(address);
    channels.close();
    const ending = await call(channels);
    expect(ending.code).toBe('UNAVAILABLE');
    expect(peers).toEqual([]);
    expect(channels.inFlight).toBe(0);
  });

  test('calls in flight still end', async () => {
    const open: BytesCall[] = [];
    const address = await serve((stream) => void open.push(stream));
    const channels = connect(address);
    const running = call(channels);
    await eventually(() => {
      expect(open).toHaveLength(1);
    });
    channels.close();
    open[0]?.end();
    expect((await running).code).toBe('OK');
  });
});
