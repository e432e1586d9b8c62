import { createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import {
  CheckAndMutateRowResponse,
  MutateRowsResponse,
  ReadModifyWriteRowResponse,
} from '../../../shared/proto/google/bigtable/v2/bigtable.ts';
import { PublishResponse } from '../../../shared/proto/google/pubsub/v1/pubsub.ts';
import { EntryCounter } from './entry-counter.ts';
import { answerScan } from './null-scan.ts';
import type { NullServerOptions, NullServerReady } from './null-server.ts';
import { programArgument, tellStarter } from './program.ts';

/**
 * A Bigtable that answers every `MutateRows`, `CheckAndMutateRow` and `ReadModifyWriteRow` with success and stores
 * nothing, or gives the rows that the name of a table says, and a Pub/Sub that does the same with every `Publish`. At SIGUSR2 it goes on taking requests and
 * answers none of them for `stallMillis`.
 */
const { stallMillis } = programArgument() as NullServerOptions;
const WINDOW_BYTES = 16 * 1024 * 1024;

/** A counter after an increment. */
const CHANGED_ROW = {
  key: Buffer.from('row'),
  families: [
    {
      name: 'f',
      columns: [
        { qualifier: Buffer.from('q'), cells: [{ timestampMicros: 1000n, value: Buffer.alloc(8, 1), labels: [] }] },
      ],
    },
  ],
};

/** By path: always the same answer, encoded once. */
const UNARY_RESPONSES: Readonly<Record<string, Buffer>> = {
  '/google.bigtable.v2.Bigtable/CheckAndMutateRow': framedMessage(
    CheckAndMutateRowResponse.encode({ predicateMatched: false }).finish(),
  ),
  '/google.bigtable.v2.Bigtable/ReadModifyWriteRow': framedMessage(
    ReadModifyWriteRowResponse.encode({ row: CHANGED_ROW }).finish(),
  ),
};

const PUBLISH = '/google.pubsub.v1.Publisher/Publish';

const READ_ROWS = '/google.bigtable.v2.Bigtable/ReadRows';

let stalled: Promise<void> = Promise.resolve();
process.on('SIGUSR2', () => {
  stalled = wait(stallMillis);
});

const server = createServer({ settings: { initialWindowSize: WINDOW_BYTES, maxConcurrentStreams: 1000 } });
server.on('session', (session) => {
  session.setLocalWindowSize(4 * WINDOW_BYTES);
});
server.on('stream', (stream, { ':path': path = '' }) => {
  const unary = UNARY_RESPONSES[path];
  if (unary) {
    stream.resume();
    stream.on('error', () => undefined);
    stream.on('end', () => {
      if (!stream.destroyed) answer(stream, unary);
    });
    return;
  }
  if (path === READ_ROWS) {
    const parts: Buffer[] = [];
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('error', () => undefined);
    stream.on('end', () => {
      if (!stream.destroyed) answerScan(stream, Buffer.concat(parts));
    });
    return;
  }
  const counter = new EntryCounter();
  stream.on('data', (chunk: Buffer) => {
    counter.feed(chunk);
  });
  // A client that gave up resets the stream; that is its business.
  stream.on('error', () => undefined);
  stream.on('end', () => {
    const { entries } = counter;
    stalled.then(
      () => {
        if (stream.destroyed) return;
        answer(stream, path === PUBLISH ? publishResponse(entries) : responseFor(entries));
      },
      () => undefined,
    );
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  tellStarter({ address: `127.0.0.1:${port}` } satisfies NullServerReady);
});

function answer(stream: ServerHttp2Stream, message: Buffer): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers: true });
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
  const framed = framedMessage(message);
  if (responses.size >= MAX_KEPT_RESPONSES) responses.clear();
  responses.set(entries, framed);
  return framed;
}

/** Messages are the same field of their request as entries are; ids are as long as those of the service. */
const publishResponse = (messages: number): Buffer =>
  framedMessage(
    PublishResponse.encode({ messageIds: Array.from({ length: messages }, () => '12345678901234567') }).finish(),
  );

function framedMessage(message: Uint8Array): Buffer {
  const framed = Buffer.alloc(5 + message.length);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, 5);
  return framed;
}
