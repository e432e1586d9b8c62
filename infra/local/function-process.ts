import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { startChild, untilChildAnswers, type Child, type ChildExit } from './child-process.ts';
import { freePort, LOOPBACK } from './tcp.ts';

export interface FunctionProcessOptions {
  /** The entry point: a name that the source registers with the framework. */
  readonly target: string;
  /** Folder with the package.json whose `main` registers the functions; a repository's root, or a bundle. */
  readonly source: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Default: a free one, kept over restarts. */
  readonly port?: number;
  /** Takes every line of its log. */
  readonly onLine?: (line: string) => void;
}

export interface FunctionProcess {
  /** Where it takes requests. The same after a restart, so a push subscription goes on. */
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

const READY_LIMIT_MILLIS = 20_000;

/**
 * Runs one entry point as it runs in production: a process of its own, started by the functions framework, that knows
 * nothing but its environment. Resolves when it accepts connections. The framework has no option for the interface:
 * it listens on all of them, so a firewall decides who else reaches it.
 */
export async function startFunctionProcess(options: FunctionProcessOptions): Promise<FunctionProcess> {
  const port = options.port ?? (await freePort());
  let child = await startFramework(options, port);
  return {
    url: `http://${LOOPBACK}:${port}/`,
    get pid() {
      return child.pid;
    },
    get exited() {
      return child.exited;
    },
    stop: (graceMillis) => child.stop(graceMillis),
    kill: () => child.kill(),
    async restart() {
      if (child.isRunning) throw new Error(`${options.target} still runs as process ${child.pid}: stop or kill it first`);
      child = await startFramework(options, port);
    },
  };
}

async function startFramework(options: FunctionProcessOptions, port: number): Promise<Child> {
  const { target, source, env, onLine } = options;
  const child = await startChild({
    name: target,
    // The Node that runs this file: Node 24, which takes the TypeScript sources as they are.
    command: process.execPath,
    args: [frameworkProgram(), '--target', target, '--source', source, '--port', String(port)],
    workingDirectory: source,
    env: { METADATA_SERVER_DETECTION: 'none', ...env, FUNCTION_TARGET: target, PORT: String(port) },
    ...(onLine && { onLine }),
  });
  await untilChildAnswers(child, target, `${LOOPBACK}:${port}`, READY_LIMIT_MILLIS);
  return child;
}

function frameworkProgram(): string {
  const entry = createRequire(import.meta.url).resolve('@google-cloud/functions-framework');
  return join(dirname(entry), 'main.js');
}
