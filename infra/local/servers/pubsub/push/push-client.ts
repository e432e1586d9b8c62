import { Agent as HttpAgent, request as httpRequest, type ClientRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { PushRequest } from './push-body.ts';

/** The statuses that acknowledge a push (cloud.google.com/pubsub/docs/push#receive_push); all others refuse it. */
const ACKNOWLEDGING = new Set([102, 200, 201, 202, 204]);

export const isAcknowledgement = (status: number): boolean => ACKNOWLEDGING.has(status);

/** How one push ended: the endpoint's status, or 0 when none came (no connection, cut off, aborted). */
export type PushAnswer = (status: number) => void;

/** Sends pushes to one endpoint over kept-alive connections of its own. */
export class PushClient {
  readonly #url: URL;
  readonly #agent: HttpAgent | HttpsAgent;
  readonly #send: typeof httpRequest;

  /** @param maxSockets connections at most: as many as there may be pushes outstanding. */
  constructor(endpoint: string, maxSockets: number) {
    this.#url = new URL(endpoint);
    const options = { keepAlive: true, maxSockets, maxFreeSockets: maxSockets };
    const isHttps = this.#url.protocol === 'https:';
    this.#agent = isHttps ? new HttpsAgent(options) : new HttpAgent(options);
    this.#send = isHttps ? httpsRequest : httpRequest;
  }

  /** Posts one push; `answer` is called exactly once. @returns a function that gives the request up. */
  post({ body, headers }: PushRequest, answer: PushAnswer): () => void {
    const request = this.#send(this.#url, {
      method: 'POST',
      agent: this.#agent,
      headers: { ...headers, 'content-length': body.length },
    });
    watch(request, answer);
    request.end(body);
    return () => {
      request.destroy();
    };
  }

  /** Cuts every connection. */
  close(): void {
    this.#agent.destroy();
  }
}

/** Calls `answer` with the status of a response that came to its end, or with 0 for anything else. */
function watch(request: ClientRequest, answer: PushAnswer): void {
  let status = 0;
  let isAnswered = false;
  const settle = (): void => {
    if (isAnswered) return;
    isAnswered = true;
    answer(status);
  };
  request.on('response', (response) => {
    response.on('end', () => {
      status = response.statusCode ?? 0;
      settle();
    });
    response.on('error', settle);
    response.resume();
  });
  request.on('information', ({ statusCode }) => {
    if (statusCode !== 102) return;
    // Node takes 102 for a notice before the answer; the service takes it for the answer.
    status = 102;
    settle();
    request.destroy();
  });
  request.on('error', settle);
  request.on('close', settle);
}
