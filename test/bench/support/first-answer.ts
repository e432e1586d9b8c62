import { findPackageJSON } from 'node:module';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startChild } from '../../../infra/local/base/child-process.ts';
import { freePort, LOOPBACK } from '../../../infra/local/base/tcp.ts';

export interface FirstAnswerOptions {
  readonly target: string;
  readonly source: string;
  readonly env: Readonly<Record<string, string>>;
  /** The whole HTTP request. */
  readonly request: Buffer;
}

const RETRY_MILLIS = 2;
const LIMIT_MILLIS = 30_000;

/** Milliseconds from the start of a functions-framework process to its first 204. The process is gone afterwards. */
export async function millisToFirstAnswer({ target, source, env, request }: FirstAnswerOptions): Promise<number> {
  const port = await freePort();
  const manifest = findPackageJSON('@google-cloud/functions-framework', import.meta.url) ?? '';
  const startedAt = performance.now();
  const child = await startChild({
    name: target,
    command: process.execPath,
    args: [
      join(dirname(manifest), 'build/src/main.js'),
      '--target',
      target,
      '--source',
      source,
      '--port',
      String(port),
    ],
    env: { METADATA_SERVER_DETECTION: 'none', NODE_ENV: 'production', ...env, FUNCTION_TARGET: target },
  });
  try {
    for (;;) {
      const answer = await answerOf(port, request);
      if (answer?.startsWith('HTTP/1.1 204')) return performance.now() - startedAt;
      if (answer !== undefined || !child.isRunning || performance.now() - startedAt > LIMIT_MILLIS) {
        const problem = answer ?? (child.isRunning ? 'no answer' : 'it ended');
        throw new Error(
          [`${target} did not acknowledge its first push: ${problem}`, ...child.lastLines()].join('\n  '),
        );
      }
      await wait(RETRY_MILLIS);
    }
  } finally {
    await child.kill();
  }
}

/** The start of the answer; undefined where nothing listens yet. */
function answerOf(port: number, request: Buffer): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: LOOPBACK, port, noDelay: true });
    socket.setEncoding('latin1');
    socket.once('connect', () => {
      socket.write(request);
    });
    socket.once('data', (text: string) => {
      socket.destroy();
      resolve(text);
    });
    socket.once('error', () => {
      resolve(undefined);
    });
  });
}
