import {
  credentials,
  makeGenericClientConstructor,
  type CallOptions,
  type Client,
  type ClientDuplexStream,
  type ClientOptions,
  type ClientReadableStream,
  type ClientUnaryCall,
  type Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { serviceOf, type ApiDefinition, type RequestOf, type ResponseOf, type RpcDefinition } from './definition.ts';

type Callback<Response> = (error: ServiceError | null, response: Response) => void;

interface UnaryMethod<Request, Response> {
  (request: Request, callback: Callback<Response>): ClientUnaryCall;
  (request: Request, metadata: Metadata, callback: Callback<Response>): ClientUnaryCall;
  (request: Request, metadata: Metadata, options: Partial<CallOptions>, callback: Callback<Response>): ClientUnaryCall;
}

interface StreamedMethod<Request, Response> {
  (request: Request, options?: Partial<CallOptions>): ClientReadableStream<Response>;
  (request: Request, metadata: Metadata, options?: Partial<CallOptions>): ClientReadableStream<Response>;
}

type DuplexMethod<Request, Response> = (
  metadata?: Metadata,
  options?: Partial<CallOptions>,
) => ClientDuplexStream<Request, Response>;

type MethodOf<Rpc extends RpcDefinition> = Rpc extends { requestStream: true }
  ? DuplexMethod<RequestOf<Rpc>, ResponseOf<Rpc>>
  : Rpc extends { responseStream: true }
    ? StreamedMethod<RequestOf<Rpc>, ResponseOf<Rpc>>
    : UnaryMethod<RequestOf<Rpc>, ResponseOf<Rpc>>;

/** A client of an API with a method for each RPC. It neither retries nor gathers; close it after use. */
export type ClientOf<Api extends ApiDefinition> = Client & {
  readonly [Name in keyof Api['methods']]: MethodOf<Api['methods'][Name]>;
};

/** A client of the API that a local server or an emulator serves at `host:port`, without encryption. */
export function connectTo<Api extends ApiDefinition>(
  api: Api,
  address: string,
  options: ClientOptions = {},
): ClientOf<Api> {
  const Constructor = makeGenericClientConstructor(serviceOf(api), api.fullName);
  return new Constructor(address, credentials.createInsecure(), options) as unknown as ClientOf<Api>;
}
