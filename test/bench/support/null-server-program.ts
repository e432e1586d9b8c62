import { createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { MutateRowsResponse } from '../../../infra/local/proto/google/bigtable/v2/bigtable.ts';
import { EntryCounter } from './entry-counter.ts';
import type { NullServerOptions, NullServerReady } from './null-server.ts';
import { programArgument, tellStarter } from './program.ts';

/**
 * A Bigtable that stores nothing: it answers every `MutateRows` with success, and every `CheckAndMutateRow` as if no row
 * passed its predicate. At SIGUSR2 it goes on taking requests and answers none of them for `stallMillis`.
 */
const { stallMillis } = programArgument() as NullServerOptions;
const WINDOW_BYTES = 16 * 1024 * 1024;

let stalled: Promise<void> = Promise.resolve();
process.on('SIGUSR2', () => {
  stalled = wait(stallMillis);
});

const server = createServer({ settings: { initialWindowSize: WINDOW_BYTES, maxConcurrentStreams: 1000 } });
server.on('session', (session) => {
  session.setLocalWindowSize(4 * WINDOW_BYTES);
});
server.on('stream', (stream, { ':path': path }) => {
  const counter = new EntryCounter();
  stream.on('data', (chunk: Buffer) => {
    counter.feed(chunk);
  });
  // A client that gave up resets the stream; that is its business.
  stream.on('error', () => undefined);
  stream.on('end', () => {
    stalled.then(
      () => {
        if (!stream.destroyed) answer(stream, path, counter);
      },
      () => undefined,
    );
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  tellStarter({ address: `127.0.0.1:${port}` } satisfies NullServerReady);
});

const HEADERS = { ':status': 200, 'content-type': 'application/grpc+proto' };
const UNIMPLEMENTED = 12;
/** The gRPC frame of a message without fields: of a `CheckAndMutateRowResponse`, that the predicate did not match. */
const EMPTY_MESSAGE = Buffer.alloc(5);

function answer(stream: ServerHttp2Stream, path: string | undefined, { entries }: EntryCounter): void {
  switch (path?.split('/').at(-1)) {
    case 'MutateRows':
      succeed(stream, responseFor(entries));
      break;
    case 'CheckAndMutateRow':
      succeed(stream, EMPTY_MESSAGE);
      break;
    default:
      stream.respond({ ...HEADERS, 'grpc-status': String(UNIMPLEMENTED) }, { endStream: true });
  }
}

function succeed(stream: ServerHttp2Stream, message: Buffer): void {
  stream.respond(HEADERS, { waitForTrailers: true });
  stream.on('wantTrailers', () => {
    stream.sendTrailers({ 'grpc-status': '0' });
  });
  stream.end(message);
}

/** Requests are of few sizes: their answers are encoded once. Bounded, because sizes come from outside. */
const responses = new Map<number, Buffer>();
const MAX_KEPT_RESPONSES = 2000;

function responseFor(entries: number): Buffer {
  const kept = responses.get(entries);
  if (kept) return kept;
  const status = { code: 0, message: '', details: [] };
  const message = MutateRowsResponse.encode({
    entries: Array.from({ length: entries }, (_, index) => ({ index: BigInt(index), status })),
  }).finish();
  const framed = Buffer.alloc(5 + message.length);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, 5);
  if (responses.size >= MAX_KEPT_RESPONSES) responses.clear();
  responses.set(entries, framed);
  return framed;
}
