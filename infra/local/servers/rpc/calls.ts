import type {
  handleBidiStreamingCall,
  handleServerStreamingCall,
  handleUnaryCall,
  Metadata,
  UntypedHandleCall,
} from '@grpc/grpc-js';
import { abortable } from '../../../../shared/base/abort.ts';
import { sleep, type Clock } from '../../../../shared/base/clock.ts';
import { toError } from '../../../../shared/base/errors.ts';
import { aborted, endOf, writeMessage } from './call-end.ts';
import { serviceOf, type ApiDefinition, type RequestOf, type ResponseOf, type RpcDefinition } from './definition.ts';
import type { CallEffect, FaultPoints, Faults } from './faults.ts';
import { GrpcError, refusal, type Service } from './grpc.ts';

/** What every call of a server passes through, whatever it asks for. */
export interface CallContext<Points extends FaultPoints<Points>> {
  readonly clock: Clock;
  readonly faults: Faults<Points>;
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
  /** Told once per call, before anything else happens to it. */
  count(method: keyof Points): void;
  /** Told what failed without being a refusal: a defect of this server. */
  defect(method: string, error: Error): void;
}

/** A call that is served. */
export interface Call<Effect> {
  /** What goes wrong with it, beyond what {@link serve} sees to. */
  readonly effect: Effect | undefined;
  /** Aborts with a GrpcError when the caller cancels or runs out of time, or the server closes. */
  readonly signal: AbortSignal;
  readonly metadata: Metadata;
}

export interface StreamedCall<Effect, Response> extends Call<Effect> {
  /** Writes one message; resolves when the reader may be sent another, rejects when it is gone. */
  readonly send: (response: Response) => Promise<void>;
}

type EffectOf<Points, Method> = Method extends keyof Points ? (Points[Method] & { effect: unknown })['effect'] : never;

/**
 * How one RPC is served: it gives the answer, or sends the messages of it and returns for an OK end, or throws a
 * {@link GrpcError}. A stream of requests is left to a handler as grpc-js has it.
 */
export type HandlerOf<Rpc extends RpcDefinition, Points> = Rpc extends { requestStream: true }
  ? handleBidiStreamingCall<RequestOf<Rpc>, ResponseOf<Rpc>>
  : Rpc extends { responseStream: true }
    ? (request: RequestOf<Rpc>, call: StreamedCall<EffectOf<Points, Rpc['name']>, ResponseOf<Rpc>>) => Promise<void>
    : (
        request: RequestOf<Rpc>,
        call: Call<EffectOf<Points, Rpc['name']>>,
      ) => ResponseOf<Rpc> | Promise<ResponseOf<Rpc>>;

export type HandlersOf<Api extends ApiDefinition, Points> = {
  readonly [Key in keyof Api['methods']]: HandlerOf<Api['methods'][Key], Points>;
};

/** Serves an API; grpc-js answers RPCs without a handler with UNIMPLEMENTED. */
export function serve<Api extends ApiDefinition, Points extends FaultPoints<Points>>(
  api: Api,
  context: CallContext<Points>,
  handlers: Partial<HandlersOf<Api, Points>>,
): Service {
  const implementation = Object.entries(handlers).map(([key, handler]) => {
    const rpc = api.methods[key];
    if (!rpc) throw new TypeError(`${api.fullName} has no method ${key}`);
    return [key, rpc.requestStream ? handler : grpcHandler(context, rpc, handler)] as const;
  });
  return {
    definition: serviceOf(api),
    implementation: Object.fromEntries(implementation) as Service['implementation'],
  };
}

/** The handlers of a server without their types, which {@link serve} has checked. */
type AnyContext = CallContext<Record<string, { request: unknown; effect: CallEffect }>>;
type AnyUnary = (request: unknown, call: Call<CallEffect>) => unknown;
type AnyStreamed = (request: unknown, call: StreamedCall<CallEffect, unknown>) => Promise<void>;

function grpcHandler<Points extends FaultPoints<Points>>(
  context: CallContext<Points>,
  { name, responseStream }: RpcDefinition,
  handler: unknown,
): UntypedHandleCall {
  const any = context as unknown as AnyContext;
  return responseStream ? streamed(any, name, handler as AnyStreamed) : unary(any, name, handler as AnyUnary);
}

const unary =
  (context: AnyContext, method: string, serveOne: AnyUnary): handleUnaryCall<unknown, unknown> =>
  (call, answer) => {
    const { signal, release } = endOf(call, context.closing);
    const { request, metadata } = call;
    runCall(context, method, request, signal, (effect) => serveOne(request, { effect, signal, metadata })).then(
      (response) => {
        release();
        answer(null, response);
      },
      (error: unknown) => {
        release();
        if (!call.cancelled) answer(asRefusal(context, method, error));
      },
    );
  };

/** A lost answer of a stream loses every message of it. */
const streamed =
  (context: AnyContext, method: string, serveOne: AnyStreamed): handleServerStreamingCall<unknown, unknown> =>
  (call) => {
    const { signal, release } = endOf(call, context.closing);
    const { request, metadata } = call;
    runCall(context, method, request, signal, (effect) => {
      const isMuted = effect?.kind === 'lose-answer' || effect?.kind === 'never-answer';
      const send = isMuted
        ? (): Promise<void> => Promise.resolve()
        : (response: unknown): Promise<void> => writeMessage(call, response, signal);
      return serveOne(request, { effect, signal, metadata, send });
    }).then(
      () => {
        release();
        call.end();
      },
      (error: unknown) => {
        release();
        if (!call.cancelled) call.emit('error', asRefusal(context, method, error));
      },
    );
  };

/** The course of every call: counted, held while stalled, met by at most one fault, served, answered. */
async function runCall(
  context: AnyContext,
  method: string,
  request: unknown,
  signal: AbortSignal,
  answerOf: (effect: CallEffect | undefined) => unknown,
): Promise<unknown> {
  const effect = await enterCall(context, method, request, signal);
  const answer = await answerOf(effect);
  if (effect?.kind === 'never-answer') await aborted(signal);
  if (effect?.kind === 'lose-answer') await refuse(context.clock, effect, signal);
  return answer;
}

/** The part of a call's course before it is served. Throws where the call is refused. */
export async function enterCall<Points extends FaultPoints<Points>, Method extends keyof Points>(
  context: CallContext<Points>,
  method: Method,
  request: Points[Method]['request'],
  signal: AbortSignal,
): Promise<Points[Method]['effect'] | undefined> {
  context.count(method);
  while (context.faults.stalled) await abortable(context.faults.stalled, signal);
  const effect = context.faults.take(method, request) as CallEffect | undefined;
  if (effect?.kind === 'delay') await sleep(context.clock, effect.delayMillis, signal);
  if (effect?.kind === 'never-answer' && !effect.isApplied) await aborted(signal);
  if (effect?.kind === 'refuse') await refuse(context.clock, effect, signal);
  return effect;
}

async function refuse(
  clock: Clock,
  { status, delayMillis }: Extract<CallEffect, { readonly status: unknown }>,
  signal: AbortSignal,
): Promise<never> {
  if (delayMillis !== undefined) await sleep(clock, delayMillis, signal);
  throw refusal(status);
}

/** A thrown error as grpc-js wants it. Any but a refusal is a defect of the server: the log is told, the caller sees INTERNAL. */
export function asRefusal<Points extends FaultPoints<Points>>(
  context: CallContext<Points>,
  method: string,
  thrown: unknown,
): GrpcError {
  if (thrown instanceof GrpcError) return thrown;
  const error = toError(thrown);
  context.defect(method, error);
  return new GrpcError('INTERNAL', `${method} failed in the local server: ${error.message}`);
}
