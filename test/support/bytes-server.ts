import { Server, ServerCredentials, type ServerWritableStream } from '@grpc/grpc-js';

/** The one method of {@link serveBytes}. */
export const STREAM = '/test.Service/Stream';

export type BytesCall = ServerWritableStream<Buffer, Buffer>;

/**
 * A gRPC server of one server-streaming method that passes bytes as they are.
 *
 * @param path `/package.Service/Method`
 */
export async function serveBytes(
  handle: (call: BytesCall) => void,
  path = STREAM,
): Promise<{ readonly address: string; readonly close: () => void }> {
  const server = new Server({ 'grpc.max_concurrent_streams': 1000, 'grpc.max_send_message_length': -1 });
  const asIs = (bytes: Buffer): Buffer => bytes;
  const stream = {
    path,
    requestStream: false,
    responseStream: true,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  };
  server.addService({ stream }, { stream: handle });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error) reject(error);
      else resolve(bound);
    });
  });
  return {
    address: `127.0.0.1:${port}`,
    close: () => {
      server.forceShutdown();
    },
  };
}
