import {
  Metadata,
  Server,
  ServerCredentials,
  status as grpcStatus,
  type UntypedServiceImplementation,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import type { Status } from '../../../../shared/model/status.ts';

/** A refusal as grpc-js wants it: pass it to a callback or emit it on a stream. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError';
  readonly code: number;
  readonly details: string;
  /** What travels behind the status; of it only what {@link constructor} was given. */
  readonly metadata = new Metadata();

  /** @param encoded a `google.rpc.Status` with what more there is to say, encoded. */
  constructor(code: keyof typeof grpcStatus, details: string, encoded?: Buffer) {
    super(`${code}: ${details}`);
    this.code = grpcStatus[code];
    this.details = details;
    if (encoded) this.metadata.set('grpc-status-details-bin', encoded);
  }
}

/** A status as grpc-js wants it. */
export const refusal = ({ code, message }: Status): GrpcError => new GrpcError(code, message);

export interface GrpcEndpoint {
  /** `127.0.0.1:port`, as the `*_EMULATOR_HOST` variables want it. */
  readonly address: string;
  /** Ends every call at once and frees the port. */
  close(): Promise<void>;
}

/** The largest message the local servers take: the clients send up to 256 MiB to Bigtable. */
const MAX_MESSAGE_BYTES = 300 * 1024 * 1024;

/** An API's definition and what answers its calls. */
export interface Service {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
}

/** Serves gRPC services on 127.0.0.1, on a free port unless one is named. */
export async function serveGrpc(services: readonly Service[], port = 0): Promise<GrpcEndpoint> {
  const server = new Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': -1,
    'grpc.max_concurrent_streams': 1000,
  });
  for (const { definition, implementation } of services) server.addService(definition, implementation);
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, boundPort) => {
      if (error) reject(error);
      else resolve(boundPort);
    });
  });
  return {
    address: `127.0.0.1:${bound}`,
    close: () => {
      server.forceShutdown();
      return Promise.resolve();
    },
  };
}
