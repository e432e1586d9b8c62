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

/** The service's words for a family that does not exist. The status is NOT_FOUND for a missing table too. */
const MISSING_FAMILY = /requested column family not found/i;

/** Whether a NOT_FOUND speaks of a column family; otherwise it speaks of the table. */
export const isMissingFamily = ({ code, message }: Status): boolean =>
  code === 'NOT_FOUND' && MISSING_FAMILY.test(message);
