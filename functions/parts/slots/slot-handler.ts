import { ConfigError } from '../../../shared/base/errors.ts';
import { describeError } from '../../../shared/base/logging.ts';
import type { ResolvedCommon, ResolvedSlots } from '../../../shared/config/resolved.ts';
import { sessionEnd } from '../../../shared/slots/session-end.ts';
import { BodyAdmission } from '../../bodies/admission.ts';
import { REFUSALS } from '../../bodies/refusals.ts';
import { discardBody, hasContentCoding, takeBody, TakenBody } from '../../bodies/take-body.ts';
import type { FunctionRequest, FunctionResponse } from '../entry-point.ts';
import { drainOf, type Instance } from '../instance.ts';
import type { Environment } from '../surroundings.ts';

/** When an invocation of a slot ends. */
export interface SlotEnding {
  /** Nothing is begun any more, and everything is given back. */
  readonly stop: AbortSignal;
  /** Whatever is not done by then is left. */
  readonly end: AbortSignal;
}

/** A JSON answer. */
export interface SlotAnswer {
  readonly status: number;
  readonly json: object;
}

export interface SlotWork {
  /** One invocation of a slot, from 0; what it did. */
  readonly readSlot: (slot: number, ending: SlotEnding) => Promise<object>;
  /** Anything else that is asked by a body in JSON; undefined where it is no such thing. */
  readonly command: (body: object, request: FunctionRequest, signal: AbortSignal) => Promise<SlotAnswer | undefined>;
  readonly close: () => Promise<void>;
}

/** Answers one request of a function that serves slots. */
export type SlotHandler = (request: FunctionRequest, gone: AbortSignal) => Promise<SlotAnswer>;

/** Serves one request; when its connection closes the slot is given back. */
export async function serveSlot(
  handler: SlotHandler,
  request: FunctionRequest,
  response: FunctionResponse,
): Promise<void> {
  const caller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) caller.abort(new Error('the caller closed its connection'));
  });
  const { status, json } = await handler(request, caller.signal);
  const headers = { 'content-type': 'application/json', ...(status === 405 && { allow: 'POST' }) };
  response.writeHead(status, headers).end(JSON.stringify(json));
}

/** A request says which slot, or starts a run: it is small. */
const MAX_BODY_BYTES = 64 * 1024;

/** After SIGTERM everything is given back within 9 s: so long may what is on its way take. */
const STOPPED_DRAIN_MILLIS = 7_000;

/** Of `drainMargin`, for the answer itself. */
const ANSWER_MILLIS = 2_000;

type SlotPipeline = ResolvedCommon & { readonly slots: ResolvedSlots };

/**
 * Posts of Cloud Scheduler, one job for each slot: the body says which. 200 tells what the invocation did, also where there
 * was nothing to do or another invocation has the slot.
 *
 * @throws {ConfigError} where the function's timeout leaves no time to work in.
 */
export function slotHandler(instance: Instance<SlotPipeline>, work: SlotWork): SlotHandler {
  const { pipeline, runtime, exporter, env } = instance;
  const { clock, logger, metrics } = runtime;
  const { parallelism, drainMarginMillis } = pipeline.slots;
  const sessionMillis = sessionMillisOf(pipeline.slots, env);
  const stopping = new Set<AbortController>();
  const drain = drainOf(instance, {
    onDrain() {
      for (const stop of stopping) stop.abort(new Error('this instance is shutting down'));
    },
    close: work.close,
  });
  const intake = { admission: new BodyAdmission(MAX_BODY_BYTES), maxBytes: MAX_BODY_BYTES, clock };

  return async (request, gone) => {
    const body = await bodyOf(request);
    if ('status' in body) return body;
    if (drain.isDraining) return problem(503, 'this instance is shutting down');
    try {
      return await drain.track(() => answer(body.json, request, gone));
    } catch (error) {
      logger.log('ERROR', 'a request of a slot failed', { cause: describeError(error) });
      return problem(500, describeError(error));
    } finally {
      exporter.flushIfDue();
    }
  };

  async function answer(json: object, request: FunctionRequest, gone: AbortSignal): Promise<SlotAnswer> {
    if (!('slot' in json)) {
      const signal = AbortSignal.any([gone, AbortSignal.timeout(COMMAND_MILLIS)]);
      return (await work.command(json, request, signal)) ?? problem(400, 'must say {"slot": n} or {"start": {}}');
    }
    const { slot } = json;
    if (typeof slot !== 'number' || !Number.isInteger(slot) || slot < 0 || slot >= parallelism) {
      return problem(400, `slot: must be a whole number from 0 to ${parallelism - 1}`);
    }
    return { status: 200, json: { slot, ...(await session(slot, gone)) } };
  }

  async function session(slot: number, gone: AbortSignal): Promise<object> {
    const startedAt = clock.now();
    const stop = new AbortController();
    const end = new AbortController();
    const endAt = sessionEnd(slot, sessionMillis, startedAt);
    let cancelEnd = (): void => undefined;
    const cancelStop = clock.after(endAt - startedAt, () => {
      stop.abort(new Error('the session of the slot is over'));
    });
    // The first reason to stop says how long the rest may take.
    stop.signal.addEventListener(
      'abort',
      () => {
        const isInTime = clock.now() >= endAt;
        cancelEnd = clock.after(isInTime ? drainMarginMillis - ANSWER_MILLIS : STOPPED_DRAIN_MILLIS, () => {
          end.abort(new Error('the time of the invocation is used up'));
        });
      },
      { once: true },
    );
    const leave = (): void => {
      stop.abort(gone.reason);
    };
    gone.addEventListener('abort', leave, { once: true });
    stopping.add(stop);
    try {
      const report = await work.readSlot(slot, { stop: stop.signal, end: end.signal });
      if (!('outcome' in report && report.outcome === 'idle')) {
        logger.log('INFO', 'a session of a slot ended', { slot, millis: clock.now() - startedAt, ...report });
      }
      return report;
    } finally {
      stopping.delete(stop);
      gone.removeEventListener('abort', leave);
      cancelStop();
      cancelEnd();
      metrics.record('sessionMillis', clock.now() - startedAt);
    }
  }

  async function bodyOf(request: FunctionRequest): Promise<SlotAnswer | { readonly json: object }> {
    const taken =
      request.method !== 'POST' ? 'method' : hasContentCoding(request) ? 'coding' : await takeBody(request, intake);
    if (!(taken instanceof TakenBody)) {
      discardBody(request, clock);
      const { status, text } = REFUSALS[taken];
      return problem(status, text);
    }
    const bytes = taken.take();
    taken.release();
    try {
      const json: unknown = JSON.parse(bytes.toString());
      if (typeof json === 'object' && json !== null && !Array.isArray(json)) return { json };
    } catch {
      // The parser's own message quotes the body.
    }
    return problem(400, 'the body must be a JSON object: {"slot": n} or {"start": {}}');
  }
}

/** A start writes two documents. */
const COMMAND_MILLIS = 30_000;

const problem = (status: number, text: string): SlotAnswer => ({ status, json: { error: text } });

/** Cloud Run's default; the platform tells another one in `CLOUD_RUN_TIMEOUT_SECONDS`. */
const DEFAULT_FUNCTION_TIMEOUT_SECONDS = 60;

/**
 * How long a session lasts: never into the margin before the end of the function's own time.
 *
 * @throws {ConfigError} where that leaves less than the margin itself.
 */
export function sessionMillisOf({ sessionLengthMillis, drainMarginMillis }: ResolvedSlots, env: Environment): number {
  const seconds = Number(env.CLOUD_RUN_TIMEOUT_SECONDS ?? DEFAULT_FUNCTION_TIMEOUT_SECONDS);
  const timeoutMillis = (seconds > 0 ? seconds : DEFAULT_FUNCTION_TIMEOUT_SECONDS) * 1000;
  if (timeoutMillis < 2 * drainMarginMillis) {
    const rule = `must be at least twice drainMargin, ${(2 * drainMarginMillis) / 1000} s: deploy the function with a longer timeout`;
    throw new ConfigError('environment', [
      { path: 'CLOUD_RUN_TIMEOUT_SECONDS', rule, got: String(timeoutMillis / 1000) },
    ]);
  }
  return Math.min(sessionLengthMillis, timeoutMillis - drainMarginMillis);
}
