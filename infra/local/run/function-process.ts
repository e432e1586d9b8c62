import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startChild, untilChildAnswers, type Child, type ChildExit } from '../base/child-process.ts';
import type { FunctionHostOptions } from './function-host.ts';
import { freePort, LOOPBACK } from '../base/tcp.ts';

export interface FunctionProcessOptions {
  /** Folder with the package.json whose `main` registers the functions; a repository's root, or a bundle. */
  readonly source: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Default: a free one, kept over restarts. */
  readonly port?: number;
  /** A clock that runs faster than that of this machine. Default: no such thing. */
  readonly clock?: FasterClock;
  /** Takes every line of its log. */
  readonly onLine?: (line: string) => void;
}

/** The same value in several processes gives the same time in all of them. */
export interface FasterClock {
  readonly factor: number;
  /** When it is right: milliseconds since the epoch. */
  readonly since: number;
}

export interface FunctionProcess {
  readonly port: number;
  /** Where the function takes requests. The same after a restart, so a push subscription goes on. */
  readonly url: string;
  readonly pid: number;
  /** Resolves when the process that runs now is gone, however that came. */
  readonly exited: Promise<ChildExit>;
  /** SIGTERM as Cloud Run sends it, SIGKILL when it is still there after `graceMillis` (default 12 s). */
  stop(graceMillis?: number): Promise<ChildExit>;
  /** SIGKILL: the crash of an instance. */
  kill(): Promise<ChildExit>;
  /** Starts it again on the same port. Only after it ended. */
  restart(): Promise<void>;
}

/** The address of one entry point in a process that serves all. Whoever stops or kills it stops or kills all. */
export type FunctionInHost = (target: string) => FunctionProcess;

/**
 * Runs one entry point as it runs in production: a process of its own, started by the functions framework, that knows
 * nothing but its environment. Resolves when it accepts connections. The framework has no option for the interface:
 * it listens on all of them, so a firewall decides who else reaches it.
 *
 * @param target the entry point: a name that the source registers with the framework.
 */
export async function startFunctionProcess(target: string, options: FunctionProcessOptions): Promise<FunctionProcess> {
  const at = await startServerProcess(target, options, (port) => ({
    args: [frameworkProgram(), '--target', target, '--source', resolve(options.source), '--port', String(port)],
    env: { FUNCTION_TARGET: target, PORT: String(port) },
  }));
  return at('/');
}

/** Runs the host of all functions in a process of its own, on 127.0.0.1 alone. */
export async function startFunctionHostProcess(options: FunctionProcessOptions): Promise<FunctionInHost> {
  const program = fileURLToPath(new URL('function-host-program.ts', import.meta.url));
  const at = await startServerProcess('the function host', options, (port) => ({
    args: [program, JSON.stringify({ source: options.source, port } satisfies FunctionHostOptions)],
    // No target: each function starts at its first request.
    env: { FUNCTION_TARGET: undefined },
  }));
  return (target) => at(`/fn/${target}`);
}

interface Launch {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The result gives the process under one of its paths. */
async function startServerProcess(
  name: string,
  options: FunctionProcessOptions,
  launch: (port: number) => Launch,
): Promise<(path: string) => FunctionProcess> {
  const port = options.port ?? (await freePort());
  const start = (): Promise<Child> => startServer(name, options, port, launch(port));
  let child = await start();
  return (path) => ({
    port,
    url: `http://${LOOPBACK}:${port}${path}`,
    get pid() {
      return child.pid;
    },
    get exited() {
      return child.exited;
    },
    stop: (graceMillis) => child.stop(graceMillis),
    kill: () => child.kill(),
    async restart() {
      if (child.isRunning) throw new Error(`${name} still runs as process ${child.pid}: stop or kill it first`);
      child = await start();
    },
  });
}

const END_WITH_PARENT = new URL('../base/end-with-parent.ts', import.meta.url).href;
const FASTER_CLOCK = new URL('../base/faster-clock.ts', import.meta.url).href;
const READY_LIMIT_MILLIS = 45_000;

async function startServer(
  name: string,
  { source, env, clock, onLine }: FunctionProcessOptions,
  port: number,
  launch: Launch,
): Promise<Child> {
  const child = await startChild({
    name,
    // The Node that runs this file: Node 24, which takes the TypeScript sources as they are.
    command: process.execPath,
    args: ['--import', END_WITH_PARENT, ...(clock ? ['--import', FASTER_CLOCK] : []), ...launch.args],
    onMessage: () => undefined,
    workingDirectory: source,
    env: {
      METADATA_SERVER_DETECTION: 'none',
      ...env,
      ...launch.env,
      ...(clock && { LOCAL_CLOCK: `${clock.factor}@${clock.since}` }),
    },
    ...(onLine && { onLine }),
  });
  await untilChildAnswers(child, name, `${LOOPBACK}:${port}`, READY_LIMIT_MILLIS);
  return child;
}

function frameworkProgram(): string {
  const entry = createRequire(import.meta.url).resolve('@google-cloud/functions-framework');
  return join(dirname(entry), 'main.js');
}
