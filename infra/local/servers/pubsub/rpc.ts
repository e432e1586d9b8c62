import type { handleUnaryCall, ServerUnaryCall } from '@grpc/grpc-js';
import { sleep } from '../../../../shared/base/clock.ts';
import { toError } from '../../../../shared/base/errors.ts';
import { GrpcError } from '../rpc/grpc.ts';
import type { FaultBook, PubSubMethod } from './faults.ts';
import type { Timing } from './timing.ts';

/** What every call passes: the faults in force, and the time to sleep by. */
export interface CallContext {
  readonly faults: FaultBook;
  readonly timing: Timing;
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
}

/** Lets a call go wrong as a rule says: late, or refused. */
export async function sufferFaults({ faults, timing, closing }: CallContext, method: PubSubMethod): Promise<void> {
  const delay = faults.strike('delay', { method });
  if (delay) await sleep(timing.clock, delay.delayMillis, closing);
  const error = faults.strike('error', { method });
  if (!error) return;
  if (error.delayMillis) await sleep(timing.clock, error.delayMillis, closing);
  throw new GrpcError(error.status, `${method}: refused by an injected fault`);
}

/** Makes a call handler of a function: what it throws becomes the call's status. */
export function unary<Request, Response>(
  context: CallContext,
  method: PubSubMethod,
  answer: (request: Request, call: ServerUnaryCall<Request, Response>) => Response | Promise<Response>,
): handleUnaryCall<Request, Response> {
  const run = async (call: ServerUnaryCall<Request, Response>): Promise<Response> => {
    await sufferFaults(context, method);
    return answer(call.request, call);
  };
  return (call, callback) => {
    run(call).then(
      (response) => {
        callback(null, response);
      },
      (thrown: unknown) => {
        callback(asStatus(thrown));
      },
    );
  };
}

/** A refusal as grpc-js wants it; anything that is none of ours is a fault of this server. */
export function asStatus(thrown: unknown): GrpcError {
  if (thrown instanceof GrpcError) return thrown;
  const { message } = toError(thrown);
  return new GrpcError('INTERNAL', `the local Pub/Sub server failed: ${message}`);
}
