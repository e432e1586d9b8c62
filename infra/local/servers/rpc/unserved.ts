import type { handleBidiStreamingCall, MethodDefinition } from '@grpc/grpc-js';
import { GrpcError, type Service } from './grpc.ts';

/**
 * RPCs of an API that a local server refuses with a reason of its own; grpc-js answers others without one. Their
 * messages are not decoded, so that the generated files need not hold them.
 *
 * @param api `google.firestore.v1.Firestore`
 * @param reasons the RPC's name in the proto → the message of its UNIMPLEMENTED
 */
export function unserved(api: string, reasons: Readonly<Record<string, string>>): Service {
  const rpcs = Object.entries(reasons);
  return {
    definition: Object.fromEntries(rpcs.map(([rpc]) => [rpc, undecoded(`/${api}/${rpc}`)])),
    implementation: Object.fromEntries(rpcs.map(([rpc, reason]) => [rpc, refuse(reason)])),
  };
}

/** Of the four kinds of a call, the one that is refused alike whichever the caller meant. */
const undecoded = (path: string): MethodDefinition<Buffer, Buffer> => ({
  path,
  requestStream: true,
  responseStream: true,
  requestSerialize: (bytes) => bytes,
  requestDeserialize: (bytes) => bytes,
  responseSerialize: (bytes) => bytes,
  responseDeserialize: (bytes) => bytes,
});

const refuse =
  (reason: string): handleBidiStreamingCall<Buffer, Buffer> =>
  (call) => {
    call.emit('error', new GrpcError('UNIMPLEMENTED', reason));
  };
