import { connect, createServer, type AddressInfo } from 'node:net';
import { sleep, systemClock } from '../../../shared/base/clock.ts';

/** Where the local servers and functions are reached. Never `localhost`, which may mean IPv6 first. */
export const LOOPBACK = '127.0.0.1';

const CONNECT_TIMEOUT_MILLIS = 1000;
const POLL_MILLIS = 25;

/** Splits `host:port`; undefined where it is not that. The port is the part after the last colon, as for `[::1]:80`. */
export function parseAddress(address: string): { readonly host: string; readonly port: number } | undefined {
  const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s/]+)):(\d{1,5})$/.exec(address.trim());
  const host = parts?.[1] ?? parts?.[2];
  const port = Number(parts?.[3]);
  return host !== undefined && port >= 1 && port <= 65_535 ? { host, port } : undefined;
}

/** True when something accepts a TCP connection at `host:port` within a second. Never rejects. */
export function answersTcp(address: string): Promise<boolean> {
  const target = parseAddress(address);
  if (!target) return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = connect({ ...target, timeout: CONNECT_TIMEOUT_MILLIS });
    const settle = (answers: boolean): void => {
      socket.destroy();
      resolve(answers);
    };
    socket.once('connect', () => {
      settle(true);
    });
    socket.once('timeout', () => {
      settle(false);
    });
    socket.once('error', () => {
      settle(false);
    });
  });
}

/** Polls until `host:port` accepts a connection; rejects with the signal's reason when that comes first. */
export async function untilAnswersTcp(address: string, signal: AbortSignal): Promise<void> {
  while (!(await answersTcp(address))) await sleep(systemClock, POLL_MILLIS, signal);
}

/**
 * A port that was free a moment ago on every interface, for a program that cannot be told "any free port".
 * Another process could take it in between; the program then fails to start and says so.
 */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => {
        resolve(port);
      });
    });
  });
}
