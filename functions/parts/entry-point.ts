import domain from 'node:domain';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { systemClock } from '../../shared/base/clock.ts';
import { ConfigError, toError } from '../../shared/base/errors.ts';
import { lazy } from '../../shared/base/lazy.ts';
import { type Refusal, REFUSALS } from '../bodies/refusals.ts';
import { discardBody, hasContentCoding, type Intake, takeBody, type Taken, TakenBody } from '../bodies/take-body.ts';

/** A request of the framework, of which nothing has been read. */
export type FunctionRequest = IncomingMessage & {
  /** Of the function's own address. */
  readonly path?: string;
};

export type FunctionResponse = ServerResponse;

/** The answer to one push. 204 acknowledges; 4xx and 5xx ask for redelivery, and their text says why. */
export interface Answer {
  readonly status: number;
  readonly text?: string;
}

/** A started function: what its instance was built for. */
export interface Handler {
  /**
   * @param body absent where the function takes none. Its bytes are the handler's to take; its room is given back when
   *   the answer is there.
   * @param path that of the request; absent: the root.
   */
  (body?: TakenBody, path?: string): Promise<Answer>;
  /** How bodies are taken; absent: the function has no use for one. */
  readonly bodies?: PushedBodies;
}

export interface PushedBodies {
  readonly intake: Intake;
  /** Answers a push whose body is not taken. */
  readonly refused: (refusal: Refusal) => Answer;
}

export interface EntryPoint {
  /** Answers the request, whatever is thrown. Without a promise of its own: under the framework's domain each is dear. */
  handle(request: FunctionRequest, response: FunctionResponse): void;
  /** Starts the instance now. A configuration that cannot be right is printed without a stack, and the process exits 1. */
  startOrExit(): Promise<void>;
}

/** An entry point for pushes and for calls of a schedule, which take POST alone. */
export const entryPoint = (start: () => Promise<Handler>): EntryPoint => startedOnce(start, servePush);

function servePush(handler: Handler, request: FunctionRequest, response: FunctionResponse): void {
  if (request.method !== 'POST') {
    discardBody(request, systemClock);
    send(response, { ...REFUSALS.method, headers: { allow: 'POST' } });
    return;
  }
  const { bodies } = handler;
  if (!bodies) {
    discardBody(request, systemClock);
    answerPush(handler, undefined, request, response);
    return;
  }
  const serve = (taken: Taken): void => {
    if (taken instanceof TakenBody) {
      answerPush(handler, taken, request, response);
      return;
    }
    discardBody(request, bodies.intake.clock);
    send(response, bodies.refused(taken));
  };
  const taking = hasContentCoding(request) ? 'coding' : takeBody(request, bodies.intake);
  if (!(taking instanceof Promise)) serve(taking);
  else
    taking.then(serve).catch((error: unknown) => {
      failRequest(response, error);
    });
}

/** The room of the body is given back with the answer. */
function answerPush(
  handler: Handler,
  body: TakenBody | undefined,
  request: FunctionRequest,
  response: FunctionResponse,
): void {
  handler(body, request.path).then(
    (answer) => {
      body?.release();
      send(response, answer);
    },
    (error: unknown) => {
      body?.release();
      failRequest(response, error);
    },
  );
}

/** The answer to a request that nothing was prepared for. */
function failRequest(response: FunctionResponse, thrown: unknown): void {
  const error = toError(thrown);
  process.stderr.write(`${String(error.stack)}\n`);
  if (response.headersSent) response.destroy();
  else send(response, { status: 500, text: error.message });
}

interface Sent extends Answer {
  readonly headers?: Readonly<Record<string, string>>;
}

function send(response: FunctionResponse, { status, text, headers }: Sent): void {
  if (text === undefined) response.writeHead(status, headers).end();
  else response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers }).end(text);
}

/** How a started function serves one request; what it throws or rejects with is answered 500. */
export type Serve<Started> = (
  started: Started,
  request: FunctionRequest,
  response: FunctionResponse,
) => void | Promise<void>;

/** Starts once per instance, at the process's start or at the first request. A failed start is tried again. */
export function startedOnce<Started>(start: () => Promise<Started>, serve: Serve<Started>): EntryPoint {
  /** What every request but the first ones is answered by, without a wait. */
  let ready: Started | undefined;
  const started = lazy(async () => (ready = await start()));
  return {
    handle(request, response) {
      try {
        const serving = ready === undefined ? startAndServe(request, response) : serve(ready, request, response);
        serving?.catch((error: unknown) => {
          failRequest(response, error);
        });
      } catch (error) {
        failRequest(response, error);
      }
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

  async function startAndServe(request: FunctionRequest, response: FunctionResponse): Promise<void> {
    let made: Started;
    try {
      made = await started();
    } catch (error) {
      discardBody(request, systemClock);
      send(response, { status: 500, text: toError(error).message });
      return;
    }
    await serve(made, request, response);
  }
}

/**
 * Keeps requests out of `node:domain`, in which the functions framework (5.0.5) runs each. To be called before the first.
 *
 * An instance works for many requests at once: a batch, its timers and its stream belong to all of them, and a domain
 * would lay what goes wrong there on the one request that happened to start it. The first domain of a process also
 * turns on a hook for every promise, which made a third of what a push costs. Nothing is lost, because an entry point
 * answers every request itself, whatever is thrown. Nothing of ours makes a domain; `new Domain()` is left alone.
 */
export function withoutDomains(): void {
  const none = { on: () => none, run: (work: () => unknown) => work() };
  (domain as { create: () => unknown }).create = () => none;
}
