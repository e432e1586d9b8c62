import { startDeadline } from '../../shared/base/deadline.ts';
import type { Random } from '../../shared/base/random.ts';
import type { ResolvedSink } from '../../shared/config/resolved.ts';
import { answerHttp, MAX_BODY_BYTES, type RowService } from '../../shared/single-row/http/answer.ts';
import {
  failureAnswer,
  type HttpAnswer,
  type HttpFailure,
  reportFailure,
  unsent,
} from '../../shared/single-row/http/failure.ts';
import { inflated, isGzip } from '../bodies/inflate.ts';
import { type Refusal, REFUSALS } from '../bodies/refusals.ts';
import { discardBody, hasContentCoding, type Intake, takeBody, type Taken, TakenBody } from '../bodies/take-body.ts';
import type { FunctionRequest, FunctionResponse } from './entry-point.ts';
import { drainOf, type Ending, type Instance, intakeOf } from './instance.ts';
import { invocationMillis } from './push-handler.ts';

/** Answers row requests, each with its whole body. `gone` aborts when the caller has left. */
export interface HttpHandler {
  (request: FunctionRequest, body: TakenBody, gone: AbortSignal): Promise<HttpAnswer>;
  readonly intake: Intake;
  /** Answers a request whose body is not taken. */
  readonly refused: (refusal: Refusal, request: FunctionRequest) => HttpAnswer;
}

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
  const taken = request.method === 'POST' ? await bodyOf(request, handler.intake) : 'method';
  if (typeof taken === 'string') {
    discardBody(request, handler.intake.clock);
    send(response, handler.refused(taken, request));
    return;
  }
  try {
    send(response, await handler(request, taken, caller.signal));
  } finally {
    taken.release();
  }
}

/** As it was meant: a body may come in gzip. */
async function bodyOf(request: FunctionRequest, intake: Intake): Promise<Taken> {
  const isCoded = hasContentCoding(request);
  if (isCoded && !isGzip(request)) return 'coding';
  const taken = await takeBody(request, intake);
  return isCoded && taken instanceof TakenBody ? inflated(taken) : taken;
}

function send(response: FunctionResponse, { status, headers, body }: HttpAnswer): void {
  response.writeHead(status, headers).end(body);
}

export interface HttpWork extends Ending {
  /** After every request: closes what has long been idle. Cheap. */
  readonly sweep: () => void;
}

/** Answers row requests, each within the invocation's time and for as long as its caller is there. */
export function httpHandler(instance: Instance<ResolvedSink>, service: RowService, work: HttpWork): HttpHandler {
  const { pipeline, env, runtime, exporter } = instance;
  const { clock, random, metrics, logger } = runtime;
  const drain = drainOf(instance, work);
  const budgetMillis = invocationMillis(pipeline.input, env);
  const answer = ({ method = '', headers }: FunctionRequest, body: TakenBody, gone: AbortSignal): Promise<HttpAnswer> =>
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
            body: body.take(),
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
  return Object.assign(answer, {
    intake: intakeOf(instance, MAX_BODY_BYTES),
    refused(refusal: Refusal, { headers }: FunctionRequest) {
      const requestId = requestIdOf(headers, random);
      const failure = failureOfRefusal(refusal);
      metrics.count('httpAnswers', 1, String(failure.status));
      reportFailure(failure, { requestId }, logger);
      exporter.flushIfDue();
      return failureAnswer(failure, { requestId });
    },
  });
}

function failureOfRefusal(refusal: Refusal): HttpFailure {
  const { status, text } = REFUSALS[refusal];
  return unsent(status, refusal === 'method' ? 'method-not-allowed' : refusal, text);
}
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
