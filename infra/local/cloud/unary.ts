import { Metadata, type CallOptions, type ClientUnaryCall, type ServiceError } from '@grpc/grpc-js';

type UnaryMethod<Request, Response> = (
  request: Request,
  metadata: Metadata,
  options: Partial<CallOptions>,
  callback: (error: ServiceError | null, response: Response) => void,
) => ClientUnaryCall;

const DEADLINE_MILLIS = 10_000;

/** One unary call of a generated client as a promise, with a deadline of 10 s. Rejects with the `ServiceError`. */
export function unary<Request, Response>(method: UnaryMethod<Request, Response>, request: Request): Promise<Response> {
  return new Promise((resolve, reject) => {
    method(request, new Metadata(), { deadline: Date.now() + DEADLINE_MILLIS }, (error, response) => {
      if (error) reject(error);
      else resolve(response);
    });
  });
}

/** Does not mind that something exists already: creating is idempotent. True when it was created now. */
export async function createdNow(creation: Promise<unknown>, alreadyExists: number): Promise<boolean> {
  try {
    await creation;
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === alreadyExists) return false;
    throw error;
  }
}

/** An empty message of a generated type: every field has its default. */
export const blank = <Message>(type: { decode(input: Uint8Array): Message }): Message => type.decode(new Uint8Array());
