import type { Clock } from '../../../../shared/base/clock.ts';
import { describeError, type Logger } from '../../../../shared/base/logging.ts';
import type { CallContext } from './calls.ts';
import { Faults, type FaultPoints } from './faults.ts';
import { serveGrpc, type Service } from './grpc.ts';

/** What the local servers of all products have in common. */
export interface RpcServer<Points extends FaultPoints<Points>> {
  /** `127.0.0.1:port`, for the product's `*_EMULATOR_HOST`. */
  readonly address: string;
  /** What goes wrong, on request. */
  readonly faults: Faults<Points>;
  /** Calls taken since the start, by RPC, whatever became of them. */
  requestCounts(): Partial<Record<keyof Points, number>>;
  /** Ends every call and frees the port. */
  close(): Promise<void>;
}

export interface RpcServerOptions {
  /** The product, for log lines: `Bigtable`. */
  readonly product: string;
  /** Delays of faults. */
  readonly clock: Clock;
  /** Told of defects of the server itself; refusals are answers, not log lines. Absent: nobody. */
  readonly log: Logger | undefined;
}

/** A server before it listens: its services are made with its context. */
export interface RpcServerDraft<Points extends FaultPoints<Points>> {
  readonly context: CallContext<Points>;
  /** @param port undefined: a free one. */
  readonly listen: (services: readonly Service[], port: number | undefined) => Promise<RpcServer<Points>>;
}

export function draftServer<Points extends FaultPoints<Points>>({
  product,
  clock,
  log,
}: RpcServerOptions): RpcServerDraft<Points> {
  const faults = new Faults<Points>();
  const closing = new AbortController();
  const counts = new Map<keyof Points, number>();
  const context: CallContext<Points> = {
    clock,
    faults,
    closing: closing.signal,
    count: (method) => counts.set(method, (counts.get(method) ?? 0) + 1),
    defect: (method, error) => log?.log('ERROR', `local ${product}: ${method} failed`, { error: describeError(error) }),
  };
  return {
    context,
    listen: async (services, port) => {
      const endpoint = await serveGrpc(services, port);
      return {
        address: endpoint.address,
        faults,
        requestCounts: () => Object.fromEntries(counts) as Partial<Record<keyof Points, number>>,
        close: async () => {
          closing.abort();
          await endpoint.close();
        },
      };
    },
  };
}
