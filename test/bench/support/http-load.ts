import { connect, type Socket } from 'node:net';

export interface LoadOptions {
  readonly port: number;
  /** Connections, each with one request at a time. */
  readonly concurrency: number;
  readonly requests: number;
  /** Whole HTTP requests, sent in turn. */
  readonly prepared: readonly Buffer[];
}

export interface LoadResult {
  readonly millis: number;
}

/**
 * Sends a fixed number of prepared requests over keep-alive connections and waits for every answer. Raw sockets: an HTTP
 * client costs as much as the server it would measure. Rejects at the first answer that is not 204.
 */
export async function load({ port, concurrency, requests, prepared }: LoadOptions): Promise<LoadResult> {
  let sent = 0;
  const nextRequest = (): Buffer | undefined => {
    if (sent >= requests) return undefined;
    sent += 1;
    return prepared[sent % prepared.length];
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: Math.min(concurrency, requests) }, () => serveConnection(port, nextRequest)));
  return { millis: performance.now() - startedAt };
}

/** One connection: request, answer, request, until there is none left. */
function serveConnection(port: number, nextRequest: () => Buffer | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let answer = '';
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      answer += text;
      if (!answer.endsWith('\r\n\r\n') && answer.startsWith('HTTP/1.1 204')) return;
      if (!answer.startsWith('HTTP/1.1 204')) {
        socket.destroy();
        reject(new Error(`not acknowledged: ${answer.slice(0, 600)}`));
        return;
      }
      answer = '';
      sendNext(socket, nextRequest);
    });
    socket.once('connect', () => {
      sendNext(socket, nextRequest);
    });
    socket.once('error', reject);
    socket.once('close', () => {
      resolve();
    });
  });
}

function sendNext(socket: Socket, nextRequest: () => Buffer | undefined): void {
  const request = nextRequest();
  if (request) socket.write(request);
  else socket.end();
}

/** A whole HTTP request of a push. */
export function httpRequest(body: string): Buffer {
  const bytes = Buffer.from(body);
  const head = `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}
