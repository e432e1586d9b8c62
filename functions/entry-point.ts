import { ConfigError, toError } from '../shared/base/errors.ts';
import { lazy } from '../shared/base/lazy.ts';

/** What an entry point uses of the framework's request and response. */
export interface FunctionRequest {
  readonly body?: unknown;
}

export interface FunctionResponse {
  status(code: number): FunctionResponse;
  send(body?: string): unknown;
}

/** The answer to one request. 204 acknowledges; 429 and 5xx ask for redelivery, and their text says why. */
export interface Answer {
  readonly status: number;
  readonly text?: string;
}

/** A started function: what its instance was built for. */
export type Handler = (body: unknown) => Promise<Answer>;

export interface EntryPoint {
  handle(request: FunctionRequest, response: FunctionResponse): Promise<void>;
  /** Starts the instance now. A configuration that cannot be right is printed without a stack, and the process exits 1. */
  startOrExit(): Promise<void>;
}

/** Starts once per instance, at the process's start or at the first request. A failed start is tried again. */
export function entryPoint(start: () => Promise<Handler>): EntryPoint {
  /** What every request but the first ones is answered by, without a wait. */
  let ready: Handler | undefined;
  const started = lazy(async () => (ready = await start()));
  return {
    async handle({ body }, response) {
      const { status, text } = await (ready ? ready(body) : startAndAnswer(body));
      response.status(status).send(text);
    },
    async startOrExit() {
      try {
        await started();
      } catch (error) {
        process.stderr.write(`${error instanceof ConfigError ? error.message : String(toError(error).stack)}\n`);
        process.exit(1);
      }
    },
  };

  async function startAndAnswer(body: unknown): Promise<Answer> {
    let handler: Handler;
    try {
      handler = await started();
    } catch (error) {
      return { status: 500, text: toError(error).message };
    }
    return handler(body);
  }
}
