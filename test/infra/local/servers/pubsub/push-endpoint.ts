import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WrappedPushBody } from '../../../../../infra/local/servers/pubsub/push/push-body.ts';

/** One push as an endpoint saw it. */
export interface ReceivedPush {
  readonly raw: Buffer;
  readonly headers: IncomingHttpHeaders;
  /** Milliseconds since the epoch at which the whole body was there. */
  readonly at: number;
}

export interface PushEndpoint {
  readonly url: string;
  readonly pushes: ReceivedPush[];
  /** The bodies of all pushes, as wrapped JSON. */
  bodies(): WrappedPushBody[];
  /** Waits until this many pushes came; rejects after `withinMillis` (default 5 s). */
  received(count: number, withinMillis?: number): Promise<void>;
  close(): Promise<void>;
}

/** How an endpoint answers a push: a status, or something else done to the response. */
export type PushHandler = (
  push: ReceivedPush,
  index: number,
  response: ServerResponse,
) => number | Promise<number> | undefined;

/** A push endpoint that records what it gets. Answers 204 unless the handler says otherwise; undefined leaves it open. */
export async function startPushEndpoint(handle: PushHandler = () => 204, onPort = 0): Promise<PushEndpoint> {
  const pushes: ReceivedPush[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const push = { raw: Buffer.concat(chunks), headers: request.headers, at: Date.now() };
      pushes.push(push);
      const answer = handle(push, pushes.length - 1, response);
      if (answer === undefined) return;
      Promise.resolve(answer).then(
        (status) => response.writeHead(status).end(),
        () => response.destroy(),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(onPort, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/push`,
    pushes,
    bodies: () => pushes.map(({ raw }) => JSON.parse(raw.toString()) as WrappedPushBody),
    received: (count, withinMillis) => until(() => pushes.length >= count, `${count} pushes`, withinMillis),
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => {
          if (error) reject(error);
          else resolve();
        });
        server.closeAllConnections();
      }),
  };
}

/** Waits until a condition holds; rejects with its description after `withinMillis`. */
export async function until(condition: () => boolean, description: string, withinMillis = 5000): Promise<void> {
  const deadline = Date.now() + withinMillis;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`${description}: did not come within ${withinMillis} ms`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
