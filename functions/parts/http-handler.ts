import { startDeadline } from '../../shared/base/deadline.ts';
import type { Random } from '../../shared/base/random.ts';
import type { ResolvedSink } from '../../shared/config/resolved.ts';
import { answerHttp, type RowService } from '../../shared/single-row/http/answer.ts';
import { failureAnswer, type HttpAnswer, unsent } from '../../shared/single-row/http/failure.ts';
import type { FunctionRequest, FunctionResponse } from './entry-point.ts';
import { drainOf, type Ending, type Instance } from './instance.ts';
import { invocationMillis } from './push-handler.ts';

/** Answers one row request. `gone` aborts when the caller has left. */
export type HttpHandler = (request: FunctionRequest, gone: AbortSignal) => Promise<HttpAnswer>;

/** Serves one request of the framework; a caller that leaves takes its request along. */
export async function serveHttp(
  handler: HttpHandler,
  request: FunctionRequest,
  response: FunctionResponse,
): Promise<void> {
  const caller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) caller.abort(new Error('the caller closed its connection'));
  });
  const { status, headers, body } = await handler(request, caller.signal);
  response.status(status).set(headers).send(body);
}

export interface HttpWork extends Ending {
  /** After every request: closes what has long been idle. Cheap. */
  readonly sweep: () => void;
}

/** Answers row requests, each within the invocation's time and for as long as its caller is there. */
export function httpHandler(instance: Instance<ResolvedSink>, service: RowService, work: HttpWork): HttpHandler {
  const { pipeline, env, runtime, exporter } = instance;
  const { clock, random, metrics } = runtime;
  const drain = drainOf(instance, work);
  const budgetMillis = invocationMillis(pipeline.input, env);
  return ({ method, headers, rawBody }, gone) =>
    drain.track(async () => {
      const requestId = requestIdOf(headers, random);
      if (drain.isDraining) {
        metrics.count('httpAnswers', 1, String(DRAINING.status));
        return failureAnswer(DRAINING, { requestId });
      }
      const startedAt = clock.now();
      const deadline = startDeadline(clock, budgetMillis, 'the request is given up');
      const contentType = textOf(headers['content-type']);
      const accept = textOf(headers.accept);
      try {
        return await answerHttp(
          {
            method,
            requestId,
            body: rawBody ?? NO_BODY,
            signal: AbortSignal.any([deadline.signal, gone]),
            ...(contentType !== undefined && { contentType }),
            ...(accept !== undefined && { accept }),
          },
          service,
        );
      } finally {
        deadline.end();
        if (gone.aborted) metrics.count('callersGone');
        metrics.record('httpLatency', clock.now() - startedAt);
        work.sweep();
        exporter.flushIfDue();
      }
    });
}

const NO_BODY = Buffer.alloc(0);
const DRAINING = unsent(503, 'draining', 'this instance is shutting down; nothing was sent');

const textOf = (header: string | readonly string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : undefined;

/** What a header and a log line take as it is. */
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** The caller's own id, or one that is made up. */
function requestIdOf(headers: FunctionRequest['headers'], random: Random): string {
  const given = textOf(headers['x-request-id']);
  return given !== undefined && REQUEST_ID.test(given)
    ? given
    : Array.from({ length: 4 }, () => wordOf(random)).join('');
}

const wordOf = (random: Random): string =>
  Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0');
