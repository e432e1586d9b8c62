import type { MethodDefinition } from '@grpc/grpc-js';

/** What grpc-js needs to serve or call an API, made of the plain data that the generated files hold. Pure. */

interface MessageType<Message> {
  encode(message: Message): { finish(): Uint8Array };
  decode(bytes: Uint8Array): Message;
}

export interface RpcDefinition {
  /** As in the proto: `MutateRows`. */
  readonly name: string;
  readonly requestType: MessageType<unknown>;
  readonly requestStream: boolean;
  readonly responseType: MessageType<unknown>;
  readonly responseStream: boolean;
}

/** A generated service: `BigtableDefinition` and the like. */
export interface ApiDefinition {
  /** `google.bigtable.v2.Bigtable` */
  readonly fullName: string;
  readonly methods: Readonly<Record<string, RpcDefinition>>;
}

type MessageOf<Type> = Type extends MessageType<infer Message> ? Message : never;
export type RequestOf<Rpc extends RpcDefinition> = MessageOf<Rpc['requestType']>;
export type ResponseOf<Rpc extends RpcDefinition> = MessageOf<Rpc['responseType']>;

export type ServiceOf<Api extends ApiDefinition> = {
  readonly [Name in keyof Api['methods']]: MethodDefinition<
    RequestOf<Api['methods'][Name]>,
    ResponseOf<Api['methods'][Name]>
  >;
};

/** The service that grpc-js registers, and that its clients are made of. */
export const serviceOf = <Api extends ApiDefinition>({ fullName, methods }: Api): ServiceOf<Api> =>
  Object.fromEntries(
    Object.entries(methods).map(([name, rpc]) => [name, methodOf(fullName, rpc)]),
  ) as unknown as ServiceOf<Api>;

function methodOf(
  service: string,
  { name, requestType, requestStream, responseType, responseStream }: RpcDefinition,
): MethodDefinition<unknown, unknown> {
  return {
    path: `/${service}/${name}`,
    requestStream,
    responseStream,
    requestSerialize: (request) => bufferOf(requestType.encode(request).finish()),
    requestDeserialize: (bytes) => requestType.decode(bytes),
    responseSerialize: (response) => bufferOf(responseType.encode(response).finish()),
    responseDeserialize: (bytes) => responseType.decode(bytes),
  };
}

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);
