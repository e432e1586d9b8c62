import { Metadata } from '@grpc/grpc-js';

/** Who calls, in the form that Google's services count clients by. */
const API_CLIENT = `gl-node/${process.versions.node} grpc/1 gccl/0.1.0`;

/**
 * The metadata of one call, by which the service routes it.
 *
 * @param routing the request's fields that name its resource. Throws a `URIError` at a text that is no Unicode.
 */
export function routedMetadata(routing: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  metadata.set('x-goog-api-client', API_CLIENT);
  const params = Object.entries(routing).map(([field, value]) => `${field}=${encodeURIComponent(value)}`);
  metadata.set('x-goog-request-params', params.join('&'));
  return metadata;
}
