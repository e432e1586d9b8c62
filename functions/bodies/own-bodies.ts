import { subscribe } from 'node:diagnostics_channel';
import { type IncomingMessage, Server } from 'node:http';
import { Duplex } from 'node:stream';

/**
 * Keeps the functions framework away from the bodies of requests, so that this process decides what is read.
 *
 * The framework (5.0.5) parses every body, of up to 1 GiB and inflated, before a function sees its request, and answers
 * a broken one itself: with a stack to the caller, and the body in the log. Its parsers leave alone what has neither
 * `content-length` nor `transfer-encoding`. A subscriber of `http.server.request.start` takes both out of the headers
 * before the server hands the request on. The channel is experimental in Node, so a start proves that it works.
 */

const CHANNEL = 'http.server.request.start';

/** Where a request keeps what its headers said of its body. */
const ANNOUNCED = Symbol('announced body');

interface Announcing extends IncomingMessage {
  [ANNOUNCED]?: number;
}

/** The length of a body that comes in chunks. */
export const UNKNOWN_LENGTH = -1;

/** Bytes of the body as its headers told them; {@link UNKNOWN_LENGTH}; undefined where nothing took them out. */
export const announcedBytes = (request: IncomingMessage): number | undefined => (request as Announcing)[ANNOUNCED];

let isSubscribed = false;

/**
 * Takes the headers of every request of this process from now on. To be awaited before the first is served.
 *
 * @throws {Error} where this version of Node does not tell of its requests in time.
 */
export async function ownBodies(): Promise<void> {
  if (isSubscribed) return;
  isSubscribed = true;
  subscribe(CHANNEL, takeHeaders);
  if (!(await isTakenFromRequests())) throw new Error(notTaken());
}

/** The error of a request that came past, or of a start that shows that every one would. */
export const notTaken = (): string =>
  `Node ${process.versions.node} does not publish ${CHANNEL} before a request is served, so that its body cannot be bounded: use a version that this release is tested on`;

function takeHeaders(message: unknown): void {
  const { request } = message as { readonly request: Announcing };
  const { headers } = request;
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  request[ANNOUNCED] = coding === undefined ? Number(length ?? 0) : UNKNOWN_LENGTH;
  if (length !== undefined) delete headers['content-length'];
  if (coding !== undefined) delete headers['transfer-encoding'];
}

/** One request through a server that listens nowhere. */
function isTakenFromRequests(): Promise<boolean> {
  const connection = new Duplex({
    read: () => undefined,
    write: (_bytes, _encoding, done) => {
      done();
    },
  });
  return new Promise<boolean>((resolve, reject) => {
    const server = new Server((request) => {
      resolve(announcedBytes(request) === 1 && request.headers['content-length'] === undefined);
    });
    server.once('clientError', reject);
    server.emit('connection', connection);
    connection.push('POST / HTTP/1.1\r\nhost: start\r\ncontent-length: 1\r\n\r\n-');
  }).finally(() => connection.destroy());
}
