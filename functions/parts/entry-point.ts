import { ConfigError, toError } from '../../shared/base/errors.ts';
import { lazy } from '../../shared/base/lazy.ts';

/** What an entry point uses of the framework's request and response. */
export interface FunctionRequest {
  readonly method: string;
  /** Of the function's own address. */
  readonly path?: string;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** As the framework parsed it, by its content type. */
  readonly body?: unknown;
  /** As it came; absent where there is none. */
  readonly rawBody?: Buffer;
}

export interface FunctionResponse {
  status(code: number): FunctionResponse;
  set(headers: Readonly<Record<string, string>>): FunctionResponse;
  send(body?: string | Buffer): unknown;
  /** `close` comes after the answer, or in place of it when the caller has left. */
  once(event: 'close', listener: () => void): unknown;
  readonly writableFinished: boolean;
}

/** The answer to one push. 204 acknowledges; 429 and 5xx ask for redelivery, and their text says why. */
export interface Answer {
  readonly status: number;
  readonly text?: string;
}

/** A started function: what its instance was built for. `path` is that of the request; absent: the root. */
export type Handler = (body: unknown, path?: string) => Promise<Answer>;

export interface EntryPoint {
  handle(request: FunctionRequest, response: FunctionResponse): Promise<void>;
  /** Starts the instance now. A configuration that cannot be right is printed without a stack, and the process exits 1. */
  startOrExit(): Promise<void>;
}

/** An entry point for pushes. */
export const entryPoint = (start: () => Promise<Handler>): EntryPoint =>
  startedOnce(start, async (handler, { body, path }, response) => {
    const { status, text } = await handler(body, path);
    response.status(status).send(text);
  });

/** How a started function serves one request. A rejection is the framework's to answer. */
export type Serve<Started> = (started: Started, request: FunctionRequest, response: FunctionResponse) => Promise<void>;

/** Starts once per instance, at the process's start or at the first request. A failed start is tried again. */
export function startedOnce<Started>(start: () => Promise<Started>, serve: Serve<Started>): EntryPoint {
  /** What every request but the first ones is answered by, without a wait. */
  let ready: Started | undefined;
  const started = lazy(async () => (ready = await start()));
  return {
    handle: (request, response) =>
      ready === undefined ? startAndServe(request, response) : serve(ready, request, response),
    async startOrExit() {
      try {
        await started();
      } catch (error) {
        process.stderr.write(`${error instanceof ConfigError ? error.message : String(toError(error).stack)}\n`);
        process.exit(1);
      }
    },
  };

  async function startAndServe(request: FunctionRequest, response: FunctionResponse): Promise<void> {
    let made: Started;
    try {
      made = await started();
    } catch (error) {
      response.status(500).send(toError(error).message);
      return;
    }
    await serve(made, request, response);
  }
}

/**
 * Takes the code that follows out of the `node:domain` in which the functions framework (5.0.5) runs every request.
 *
 * An instance works for many requests at once: a batch, its timers and its stream belong to all of them, and a domain
 * would lay what goes wrong there on the one request that happened to start it. It also makes every promise dear: a
 * request through the bulk sink costs about half without it. Nothing is lost, because an entry point answers every
 * request itself, whatever is thrown. To be called before the first `await` of a request.
 */
export function leaveFrameworkDomain(): void {
  // Node's own types leave out what it deprecates without replacing.
  (process as { readonly domain?: { exit(): void } | null }).domain?.exit();
}
