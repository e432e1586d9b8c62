import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { sleep, systemClock } from '../../../shared/base/clock.ts';
import { ConnectorError } from '../../../shared/base/errors.ts';
import { untilAnswersTcp } from './tcp.ts';

export interface ChildOptions {
  /** What error messages call it. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory?: string;
  /** Takes every line that the child writes to stdout or stderr. */
  readonly onLine?: (line: string) => void;
  /** Opens an IPC channel and takes what the child sends over it; the child sees it close when this process is gone. */
  readonly onMessage?: (message: unknown) => void;
}

export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Child {
  readonly pid: number;
  /** False as soon as the process has ended. */
  readonly isRunning: boolean;
  /** Resolves when the process is gone and its output is read to the end. Never rejects. */
  readonly exited: Promise<ChildExit>;
  /** The last lines it wrote, oldest first: for an error that has to explain an exit. */
  lastLines(): readonly string[];
  /** SIGTERM, then SIGKILL when it is still there after `graceMillis` (default 12 s; Cloud Run gives 10 s). */
  stop(graceMillis?: number): Promise<ChildExit>;
  /** SIGKILL: no handler of the child runs. */
  kill(): Promise<ChildExit>;
}

/** `SIGKILL` or `code 1`: how a process ended, in words. */
export const describeExit = ({ code, signal }: ChildExit): string => signal ?? `code ${code ?? 'unknown'}`;

/** A child could not be started, or ended before it was ready. */
export class ChildProcessError extends ConnectorError {
  override readonly name = 'ChildProcessError';
}

const KEPT_LINES = 20;
const STOP_GRACE_MILLIS = 12_000;

/**
 * Children that run now. Each leads its own process group, so that Ctrl-C in a terminal reaches only this process,
 * which decides how to stop them; in turn none of them may outlive it.
 */
const running = new Set<ChildProcess>();

const killGroup = (child: ChildProcess, signal: NodeJS.Signals): void => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    // It ended by itself in between.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
};

process.on('exit', () => {
  for (const child of running) killGroup(child, 'SIGKILL');
});

/** Starts a program as the leader of its own process group. Rejects when it cannot be started at all. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { name, command, args, onLine, onMessage } = options;
  const child = spawn(command, [...args], {
    cwd: options.workingDirectory,
    env: { ...process.env, ...options.env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', ...(onMessage ? ['ipc' as const] : [])],
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => {
      reject(new ChildProcessError(`${name}: ${command} could not be started`, { cause: error }));
    });
  });
  running.add(child);
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      if (lines.length > KEPT_LINES) lines.shift();
      onLine?.(line);
    });
  }
  if (onMessage) child.on('message', onMessage);
  const exited = new Promise<ChildExit>((resolve) => {
    child.once('close', (code, signal) => {
      running.delete(child);
      resolve({ code, signal });
    });
  });
  return {
    pid: child.pid!,
    get isRunning() {
      return running.has(child);
    },
    exited,
    lastLines: () => lines,
    async stop(graceMillis = STOP_GRACE_MILLIS) {
      const gone = new AbortController();
      killGroup(child, 'SIGTERM');
      const forced = sleep(systemClock, graceMillis, gone.signal).then(
        () => {
          killGroup(child, 'SIGKILL');
        },
        () => undefined,
      );
      const exit = await exited;
      gone.abort();
      await forced;
      return exit;
    },
    kill() {
      killGroup(child, 'SIGKILL');
      return exited;
    },
  };
}

/**
 * Waits until `address` accepts a connection. A child that exits first, or is not ready after `limitMillis`, is an
 * error that carries its last lines; in the second case the child is killed.
 */
export async function untilChildAnswers(
  child: Child,
  name: string,
  address: string,
  limitMillis: number,
): Promise<void> {
  const waiting = new AbortController();
  const exitedFirst = child.exited.then((exit) => `ended with ${describeExit(exit)}`);
  const outOfTime = sleep(systemClock, limitMillis, waiting.signal).then(
    () => `was not ready after ${limitMillis} ms`,
    () => 'was ready',
  );
  const answers = untilAnswersTcp(address, waiting.signal).then(
    () => undefined,
    () => 'was not ready',
  );
  const problem = await Promise.race([answers, exitedFirst, outOfTime]);
  waiting.abort();
  if (problem === undefined) return;
  await child.kill();
  throw new ChildProcessError([`${name} ${problem} at ${address}; its last lines:`, ...child.lastLines()].join('\n  '));
}
