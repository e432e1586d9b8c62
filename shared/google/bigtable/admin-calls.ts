import { abortable } from '../../base/abort.ts';
import { lazy } from '../../base/lazy.ts';
import { TableAdminError } from '../../model/table-admin-error.ts';
import { statusName } from '../../model/status.ts';
import type { TableName } from '../../model/table-name.ts';
import { ChannelSet } from '../grpc/channel.ts';
import { adminMethod, callMetadata } from './call.ts';
import { openAccess } from '../grpc/access.ts';
import { ADMIN_SERVICE, type BigtableAccess } from './services.ts';

/** Runs `use` with a connection to the admin APIs. */
export type UseAdmin = <Result>(signal: AbortSignal, use: (channels: ChannelSet) => Promise<Result>) => Promise<Result>;

/**
 * Connections to Bigtable's admin APIs, which share one address. Each lives as long as one use of it, because there is
 * hardly ever another and a frozen instance would thaw into a dead one; the credentials are kept.
 */
export function adminConnections(access: BigtableAccess): UseAdmin {
  const opened = lazy(() => openAccess(access, ADMIN_SERVICE));
  return async (signal, use) => {
    const { address, credentials } = await abortable(opened(), signal);
    const channels = new ChannelSet(address, credentials);
    try {
      return await use(channels);
    } finally {
      channels.close();
    }
  };
}

export interface AdminCall {
  readonly service: Parameters<typeof adminMethod>[0];
  readonly method: string;
  /** What the call is about, for the words of its failure. */
  readonly table: TableName;
  readonly request: Uint8Array;
  /** The request's fields that name its resource, for {@link callMetadata}. */
  readonly routing: Readonly<Record<string, string>>;
  /** The only bound of the call's time. */
  readonly signal: AbortSignal;
}

/** One call, sent once: its answer, undefined for the one status that is expected, or a {@link TableAdminError}. */
export function callAdmin(
  channels: ChannelSet,
  { service, method, table, request, routing, signal }: AdminCall,
  expected: 'ALREADY_EXISTS' | 'NOT_FOUND',
): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const call = {
      method: adminMethod(service, method),
      request: Buffer.from(request.buffer, request.byteOffset, request.byteLength),
      metadata: callMetadata(routing),
      deadline: Infinity,
    };
    channels.unary(call, [signal], ({ answer, status }) => {
      const code = statusName(status.code);
      if (answer) resolve(answer);
      else if (code === expected) resolve(undefined);
      else reject(new TableAdminError(method, table, { code, message: status.details }));
    });
  });
}
