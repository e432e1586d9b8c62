import type { handleServerStreamingCall, handleUnaryCall } from '@grpc/grpc-js';
import { sleep, type Clock } from '../../../../shared/base/clock.ts';
import { toError } from '../../../../shared/base/errors.ts';
import { aborted, endOf, writeMessage } from '../rpc/call-end.ts';
import { GrpcError } from '../rpc/grpc.ts';
import type { FaultEffect, Faults } from './faults.ts';
import type { RequestOf, RpcMethod } from './rpc-methods.ts';

/** What every call passes through, whatever it asks for. */
export interface CallContext {
  readonly clock: Clock;
  readonly faults: Faults;
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
  /** Told once per call, before anything else happens to it. */
  count(method: RpcMethod): void;
  /** Told what failed without being a refusal: a defect of this server. */
  defect(method: RpcMethod, error: Error): void;
}

/** Serves one call: does what it asks and gives the answer, or throws a {@link GrpcError}. */
export type Serve<Method extends RpcMethod, Answer> = (
  request: RequestOf<Method>,
  signal: AbortSignal,
) => Answer | Promise<Answer>;

/** The course of every call: counted, met by at most one fault, served, answered. */
async function runCall<Method extends RpcMethod, Answer>(
  context: CallContext,
  method: Method,
  request: RequestOf<Method>,
  signal: AbortSignal,
  serve: Serve<Method, Answer>,
): Promise<Answer> {
  context.count(method);
  const effect = context.faults.take(method, request);
  if (effect) await beforeServing(context.clock, effect, signal);
  const answer = await serve(request, signal);
  if (effect) await afterServing(context.clock, effect, signal);
  return answer;
}

async function beforeServing(clock: Clock, effect: FaultEffect, signal: AbortSignal): Promise<void> {
  if (effect.kind === 'delay') await sleep(clock, effect.delayMillis, signal);
  if (effect.kind === 'never-answer' && !effect.isApplied) await aborted(signal);
  if (effect.kind === 'refuse') await refuse(clock, effect, signal);
}

async function afterServing(clock: Clock, effect: FaultEffect, signal: AbortSignal): Promise<void> {
  if (effect.kind === 'never-answer') await aborted(signal);
  if (effect.kind === 'lose-answer') await refuse(clock, effect, signal);
}

async function refuse(
  clock: Clock,
  { status, delayMillis }: Extract<FaultEffect, { readonly status: unknown }>,
  signal: AbortSignal,
): Promise<never> {
  if (delayMillis !== undefined) await sleep(clock, delayMillis, signal);
  throw new GrpcError(status.code, status.message);
}

/** Makes a unary handler for grpc-js. */
export function unary<Method extends RpcMethod, Response>(
  context: CallContext,
  method: Method,
  serve: Serve<Method, Response>,
): handleUnaryCall<RequestOf<Method>, Response> {
  return (call, answer) => {
    const ended = endOf(call, context.closing);
    runCall(context, method, call.request, ended.signal, serve).then(
      (response) => {
        ended.release();
        answer(null, response);
      },
      (error: unknown) => {
        ended.release();
        if (!call.cancelled) answer(asRefusal(context, method, error));
      },
    );
  };
}

/** Makes a server-streaming handler for grpc-js. What is served is served at once: a reader sees one moment's state. */
export function streaming<Method extends RpcMethod, Response>(
  context: CallContext,
  method: Method,
  serve: Serve<Method, readonly Response[]>,
): handleServerStreamingCall<RequestOf<Method>, Response> {
  return (call) => {
    const ended = endOf(call, context.closing);
    const run = async (): Promise<void> => {
      const responses = await runCall(context, method, call.request, ended.signal, serve);
      for (const response of responses) await writeMessage(call, response, ended.signal);
    };
    run().then(
      () => {
        ended.release();
        call.end();
      },
      (error: unknown) => {
        ended.release();
        if (!call.cancelled) call.emit('error', asRefusal(context, method, error));
      },
    );
  };
}

function asRefusal(context: CallContext, method: RpcMethod, thrown: unknown): GrpcError {
  if (thrown instanceof GrpcError) return thrown;
  const error = toError(thrown);
  context.defect(method, error);
  return new GrpcError('INTERNAL', `${method} failed in the local server: ${error.message}`);
}
