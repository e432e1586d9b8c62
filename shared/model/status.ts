/** The status codes of gRPC, by name and number (https://grpc.io/docs/guides/status-codes/). */
export const STATUS_CODES = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

export type StatusName = keyof typeof STATUS_CODES;

/** A refusal: the service's status and its words. */
export interface Status {
  readonly code: StatusName;
  readonly message: string;
}

const NAMES = new Map<number, StatusName>(
  Object.entries(STATUS_CODES).map(([name, code]) => [code, name as StatusName]),
);

/** The name of a numeric status, `UNKNOWN` for a number that gRPC does not define. */
export const statusName = (code: number): StatusName => NAMES.get(code) ?? 'UNKNOWN';

/** The status of one error: its own `code` where that is a gRPC status number. Its causes are not read. */
export function statusOf(error: unknown): Status | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error) || typeof error.code !== 'number') {
    return undefined;
  }
  const code = NAMES.get(error.code);
  if (code === undefined) return undefined;
  const details = 'details' in error && typeof error.details === 'string' ? error.details : undefined;
  return { code, message: details ?? (error instanceof Error ? error.message : '') };
}

/** Every status along a chain of causes, outermost first. A chain that loops ends at the repeated error. */
export function statusChain(error: unknown): Status[] {
  const chain: Status[] = [];
  const seen = new Set<unknown>();
  for (let at: unknown = error; typeof at === 'object' && at !== null && !seen.has(at);) {
    seen.add(at);
    const status = statusOf(at);
    if (status) chain.push(status);
    at = 'cause' in at ? at.cause : undefined;
  }
  return chain;
}
