import type { handleServerStreamingCall, handleUnaryCall, Metadata } from '@grpc/grpc-js';
import { abortable } from '../../../../shared/base/abortable.ts';
import { sleep, type Clock } from '../../../../shared/base/clock.ts';
import { toError } from '../../../../shared/base/errors.ts';
import type { Status } from '../../../../shared/model/status.ts';
import { aborted, endOf, writeMessage } from '../rpc/call-end.ts';
import { GrpcError } from '../rpc/grpc.ts';
import type { EffectOf, Faults } from './faults.ts';
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

/** Serves one call: applies it and gives the answer, or throws a {@link GrpcError}. `effect` is what goes wrong with it. */
export type Serve<Method extends RpcMethod, Answer> = (
  request: RequestOf<Method>,
  effect: EffectOf<Method> | undefined,
) => Answer;

/** The course of every call: counted, held while stalled, met by at most one fault, served, answered. */
async function runCall<Method extends RpcMethod, Answer>(
  context: CallContext,
  method: Method,
  request: RequestOf<Method>,
  signal: AbortSignal,
  serve: (effect: EffectOf<Method> | undefined) => Answer | Promise<Answer>,
): Promise<Answer> {
  context.count(method);
  while (context.faults.stalled) await abortable(context.faults.stalled, signal);
  const effect = context.faults.take(method, request);
  if (effect) await beforeServing(context, effect, signal);
  const answer = await serve(effect);
  if (effect) await afterServing(context, effect, signal);
  return answer;
}

async function beforeServing({ clock }: CallContext, effect: EffectOf<RpcMethod>, signal: AbortSignal): Promise<void> {
  if (effect.kind === 'delay') await sleep(clock, effect.delayMillis, signal);
  if (effect.kind === 'never-answer' && !effect.isApplied) await aborted(signal);
  if (effect.kind === 'refuse') {
    if (effect.delayMillis !== undefined) await sleep(clock, effect.delayMillis, signal);
    throw refusal(effect.status);
  }
}

async function afterServing({ clock }: CallContext, effect: EffectOf<RpcMethod>, signal: AbortSignal): Promise<void> {
  if (effect.kind === 'never-answer') await aborted(signal);
  if (effect.kind === 'lose-answer') {
    if (effect.delayMillis !== undefined) await sleep(clock, effect.delayMillis, signal);
    throw refusal(effect.status);
  }
}

/** Makes a unary handler for grpc-js. */
export function unary<Method extends RpcMethod, Response>(
  context: CallContext,
  method: Method,
  serve: Serve<Method, Response | Promise<Response>>,
): handleUnaryCall<RequestOf<Method>, Response> {
  return (call, answer) => {
    const ended = endOf(call, context.closing);
    runCall<Method, Response>(context, method, call.request, ended.signal, (effect) =>
      serve(call.request, effect),
    ).then(
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

/** Writes one message of a stream; resolves when the reader may be sent another, rejects when it is gone. */
export type Send<Response> = (response: Response) => Promise<void>;

/** Serves a streaming call: sends messages, then returns for an OK end or throws a {@link GrpcError}. */
export type ServeStream<Method extends RpcMethod, Response> = (
  request: RequestOf<Method>,
  effect: EffectOf<Method> | undefined,
  stream: StreamContext<Response>,
) => Promise<void>;

export interface StreamContext<Response> {
  readonly send: Send<Response>;
  readonly metadata: Metadata;
  readonly signal: AbortSignal;
}

/** Makes a server-streaming handler for grpc-js. What a lost answer loses is every message of it. */
export function streaming<Method extends RpcMethod, Response>(
  context: CallContext,
  method: Method,
  serve: ServeStream<Method, Response>,
): handleServerStreamingCall<RequestOf<Method>, Response> {
  return (call) => {
    const ended = endOf(call, context.closing);
    const { signal } = ended;
    runCall(context, method, call.request, signal, (effect) => {
      const isMuted = effect?.kind === 'lose-answer' || effect?.kind === 'never-answer';
      const send: Send<Response> = isMuted
        ? () => Promise.resolve()
        : (response) => writeMessage(call, response, signal);
      return serve(call.request, effect, { send, metadata: call.metadata, signal });
    }).then(
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

/** A status as grpc-js wants it. */
export const refusal = ({ code, message }: Status): GrpcError => new GrpcError(code, message);

function asRefusal(context: CallContext, method: RpcMethod, thrown: unknown): GrpcError {
  if (thrown instanceof GrpcError) return thrown;
  const error = toError(thrown);
  context.defect(method, error);
  return new GrpcError('INTERNAL', `${method} failed in the local server: ${error.message}`);
}
