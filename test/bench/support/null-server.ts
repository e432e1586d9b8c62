import { startProgram } from './program.ts';

export interface NullServerOptions {
  /** How long a stall lasts. */
  readonly stallMillis: number;
}

/** What the program sends when it listens. */
export interface NullServerReady {
  readonly address: string;
}

export interface NullServer extends AsyncDisposable {
  /** `127.0.0.1:port`, as an emulator's address. */
  readonly address: string;
  /** From now on it takes requests and answers none, for `stallMillis`; then it answers them all. */
  stall(): void;
}

/** Starts a server that answers every write at once and stores nothing, in a process of its own. */
export async function startNullServer(stallMillis = 0): Promise<NullServer> {
  const ready = Promise.withResolvers<NullServerReady>();
  const options: NullServerOptions = { stallMillis };
  const child = await startProgram(new URL('null-server-program.ts', import.meta.url), options, (message) => {
    ready.resolve(message as NullServerReady);
  });
  const failed = child.exited.then(() => {
    throw new Error(`the null server ended: ${child.lastLines().join('\n')}`);
  });
  const { address } = await Promise.race([ready.promise, failed]);
  failed.catch(() => undefined);
  return {
    address,
    stall: () => {
      process.kill(child.pid, 'SIGUSR2');
    },
    async [Symbol.asyncDispose]() {
      await child.kill();
    },
  };
}
