import { Client, Metadata, type ServiceError, status as grpcStatus } from '@grpc/grpc-js';
import { abortable } from '../../base/abortable.ts';
import { lazy } from '../../base/lazy.ts';
import { TableAdminError } from '../../bulk/repair/table-errors.ts';
import { statusName } from '../../model/status.ts';
import type { TableName } from '../../model/table-name.ts';
import { ADMIN_SERVICE, type BigtableAccess, openAccess } from './credentials.ts';

/** Runs `use` with a connection to the admin APIs. */
export type UseAdmin = <Result>(signal: AbortSignal, use: (client: Client) => Promise<Result>) => Promise<Result>;

/**
 * Connections to Bigtable's admin APIs, which share one address. Each lives as long as one use of it, because there is
 * hardly ever another and a frozen instance would thaw into a dead one; the credentials are kept.
 */
export function adminConnections(access: BigtableAccess): UseAdmin {
  const opened = lazy(() => openAccess(access, ADMIN_SERVICE));
  return async (signal, use) => {
    const { address, credentials } = await abortable(opened(), signal);
    const client = new Client(address, credentials, { 'grpc.service_config_disable_resolution': 1 });
    try {
      return await use(client);
    } finally {
      client.close();
    }
  };
}

export interface AdminCall {
  /** Of `google.bigtable.admin.v2`. */
  readonly service: string;
  readonly method: string;
  /** What the call is about, for the words of its failure. */
  readonly table: TableName;
  readonly request: Uint8Array;
  /** Names the resource in the header by which the service routes the call. */
  readonly routing: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** One call, sent once: its answer, undefined for the one status that is expected, or a {@link TableAdminError}. */
export function callAdmin(
  client: Client,
  { service, method, table, request, routing, signal }: AdminCall,
  expected: 'ALREADY_EXISTS' | 'NOT_FOUND',
): Promise<Buffer | undefined> {
  const metadata = new Metadata();
  metadata.set('x-goog-request-params', new URLSearchParams(routing).toString());
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(new TableAdminError(method, table, { code: 'CANCELLED', message: 'no time was left for it' }));
      return;
    }
    const done = (error: ServiceError | null, answer?: Buffer): void => {
      signal.removeEventListener('abort', cancel);
      if (!error) resolve(answer);
      else if (error.code === grpcStatus[expected]) resolve(undefined);
      else reject(new TableAdminError(method, table, { code: statusName(error.code), message: error.details }));
    };
    const path = `/google.bigtable.admin.v2.${service}/${method}`;
    const call = client.makeUnaryRequest(path, asBuffer, asIs, request, metadata, done);
    const cancel = (): void => {
      call.cancel();
    };
    signal.addEventListener('abort', cancel, { once: true });
  });
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const asIs = (bytes: Buffer): Buffer => bytes;
