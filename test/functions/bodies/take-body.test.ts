import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BodyAdmission } from '../../../functions/bodies/admission.ts';
import { ownBodies } from '../../../functions/bodies/own-bodies.ts';
import {
  discardBody,
  LINGER_MILLIS,
  STALL_MILLIS,
  takeBody,
  type Taken,
  TakenBody,
} from '../../../functions/bodies/take-body.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const MAX_BYTES = 200_000;
const CAP = 1_000_000;

/** Bodies as they come over a socket, at a server whose time is the test's. */
let clock: ManualClock;
let admission: BodyAdmission;
let endings: Taken[];
const server = createServer((request, response) => {
  answer(request).then(
    (status) => response.writeHead(status).end(),
    () => response.destroy(),
  );
});

async function answer(request: IncomingMessage): Promise<number> {
  const taken = await takeBody(request, { admission, maxBytes: MAX_BYTES, clock });
  endings.push(taken);
  if (taken instanceof TakenBody) return 204;
  discardBody(request, clock);
  return 400;
}

beforeAll(async () => {
  await ownBodies();
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
beforeEach(() => {
  clock = new ManualClock();
  admission = new BodyAdmission(CAP);
  endings = [];
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const open = (): Socket => connect((server.address() as AddressInfo).port, '127.0.0.1');
const head = (...headers: readonly string[]): string =>
  ['POST / HTTP/1.1', 'host: test', ...headers, '', ''].join('\r\n');
const until = (isTrue: () => boolean): Promise<void> => expect.poll(isTrue, { timeout: 5000, interval: 2 }).toBe(true);

async function ending(index = 0): Promise<Taken> {
  await until(() => endings.length > index);
  return endings[index]!;
}

async function bytesOf(index = 0): Promise<string> {
  const taken = await ending(index);
  return taken instanceof TakenBody ? taken.take().toString() : taken;
}

/** Sends the parts with pauses, so that each is a chunk of its own to the server. */
async function send(parts: readonly (string | Buffer)[]): Promise<Socket> {
  const socket = open()
    .on('error', () => undefined)
    .resume();
  for (const part of parts) {
    socket.write(part);
    await new Promise((done) => setTimeout(done, 15));
  }
  return socket;
}

describe('a body is taken whole', () => {
  test.each<[string, readonly string[], string]>([
    ['with its headers', [`${head('content-length: 4')}body`], 'body'],
    ['after its headers', [head('content-length: 4'), 'body'], 'body'],
    ['byte by byte', [head('content-length: 4'), 'b', 'o', 'd', 'y'], 'body'],
    ['half with its headers', [`${head('content-length: 4')}bo`, 'dy'], 'body'],
    ['in chunks at once', [`${head('transfer-encoding: chunked')}2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n`], 'body'],
    ['in chunks, one by one', [head('transfer-encoding: chunked'), '2\r\nbo\r\n', '2\r\ndy\r\n', '0\r\n\r\n'], 'body'],
    ['of no byte', [head('content-length: 0')], ''],
    ['of no chunk', [`${head('transfer-encoding: chunked')}0\r\n\r\n`], ''],
    ['that is not announced', [head()], ''],
    ['that was asked for', [head('expect: 100-continue', 'content-length: 4'), 'body'], 'body'],
  ])('%s', async (_name, parts, body) => {
    const socket = await send(parts);
    expect(await bytesOf()).toBe(body);
    expect(admission.held).toBe(body.length);
    socket.destroy();
  });

  test('of the largest size, and one that follows on the same connection', async () => {
    const large = Buffer.alloc(MAX_BYTES, 'x');
    const socket = await send([head(`content-length: ${MAX_BYTES}`), large, `${head('content-length: 4')}next`]);
    expect((await bytesOf()).length).toBe(MAX_BYTES);
    expect(await bytesOf(1)).toBe('next');
    socket.destroy();
  });
});

describe('a body is refused, and holds nothing then', () => {
  test.each<[string, readonly string[], string]>([
    ['that says it is too large, unread', [head(`content-length: ${MAX_BYTES + 1}`)], 'too-large'],
    [
      'that becomes too large',
      [`${head('transfer-encoding: chunked')}30d41\r\n${'x'.repeat(0x30d41)}\r\n`],
      'too-large',
    ],
  ])('%s', async (_name, parts, refusal) => {
    const socket = await send(parts);
    expect(await bytesOf()).toBe(refusal);
    expect(admission.held).toBe(0);
    socket.destroy();
  });

  test.each([
    ['by its length', `${head('content-length: 6')}b`],
    ['in chunks', `${head('transfer-encoding: chunked')}6\r\nb`],
  ])('whose sender leaves in the middle, %s', async (_name, part) => {
    const socket = await send([part]);
    socket.destroy();
    expect(await bytesOf()).toBe('incomplete');
    expect(admission.held).toBe(0);
  });

  test('that finds no room, and gets in once there is', async () => {
    const others = new BodyAdmission(10);
    admission = others;
    expect(others.take(0, 8)).toBe(true);
    const socket = await send([`${head('content-length: 4')}body`]);
    expect(await bytesOf()).toBe('no-room');
    others.give(8);
    socket.write(`${head('content-length: 4')}body`);
    expect(await bytesOf(1)).toBe('body');
    socket.destroy();
  });

  test('that stalls: nothing came from one look to the next, 10 s later', async () => {
    const socket = await send([`${head('content-length: 6')}bo`]);
    await until(() => admission.held === 6);
    await clock.advance(2 * STALL_MILLIS);
    expect(await bytesOf()).toBe('stalled');
    expect(admission.held).toBe(0);
    // Its sender may still read the answer, and is cut off after that.
    const closed = once(socket, 'close');
    await clock.advance(LINGER_MILLIS);
    await closed;
  });

  test('that trickles: it is not whole after 60 s, however many bytes came', async () => {
    const socket = await send([head('content-length: 60')]);
    await until(() => admission.held === 60);
    for (let second = 0; second < 60; second += 10) {
      socket.write('x');
      await new Promise((done) => setTimeout(done, 20));
      expect(endings).toEqual([]);
      await clock.advance(STALL_MILLIS);
    }
    expect(await bytesOf()).toBe('stalled');
    socket.destroy();
  });
});

test('a request whose headers nobody took is an error that names the channel', () => {
  const untaken = { headers: { 'content-length': '4' } } as unknown as IncomingMessage;
  expect(() => takeBody(untaken, { admission, maxBytes: MAX_BYTES, clock })).toThrow('http.server.request.start');
});

test('parsers of bodies see none: neither header is left, and both are told', async () => {
  const seen: object[] = [];
  server.once('request', ({ headers, rawHeaders }: IncomingMessage) => {
    seen.push(Object.keys(headers), rawHeaders);
  });
  const socket = await send([`${head('content-length: 4')}body`]);
  expect(await bytesOf()).toBe('body');
  expect(seen).toEqual([['host'], ['host', 'test', 'content-length', '4']]);
  socket.destroy();
});
