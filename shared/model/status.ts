/**
 * What a status of gRPC says, as far as any room decides by it. The one table of it: a room combines these facts and keeps
 * no list of statuses of its own.
 */
export interface StatusFacts {
  /** Its number on the wire. */
  readonly code: number;
  /**
   * Whether it passes by itself, so that the same call may succeed a moment later. `perhaps`: it says too little, and only
   * a call that may be repeated without harm counts on it.
   */
  readonly passes: 'yes' | 'perhaps' | 'no';
  /** The service was not reached, or not in time: nothing speaks against another attempt within the same invocation. */
  readonly isUnreached: boolean;
  /** No judgement on the call: connection, clock or an accident ended it, and what it asks for may have been done. */
  readonly leavesEffectOpen: boolean;
  /** The call itself is wrong, by gRPC's definition whatever the system's state: it is refused at every attempt. */
  readonly blamesCall: boolean;
  /** The thing that the call is about is missing, is there, or was changed, and the call asks for the opposite. */
  readonly blamesState: boolean;
  /** Address or rights are wrong: every call of the same caller is refused until somebody acts. */
  readonly blamesSetup: boolean;
}

const facts = (code: number, holding: Partial<Omit<StatusFacts, 'code'>> = {}): StatusFacts => ({
  code,
  passes: 'no',
  isUnreached: false,
  leavesEffectOpen: false,
  blamesCall: false,
  blamesState: false,
  blamesSetup: false,
  ...holding,
});

/** The statuses of gRPC (https://grpc.io/docs/guides/status-codes/). OUT_OF_RANGE depends on the state, so no call is wrong by it. */
export const STATUSES = {
  OK: facts(0),
  CANCELLED: facts(1, { passes: 'yes', leavesEffectOpen: true }),
  UNKNOWN: facts(2, { passes: 'perhaps', leavesEffectOpen: true }),
  INVALID_ARGUMENT: facts(3, { blamesCall: true }),
  DEADLINE_EXCEEDED: facts(4, { passes: 'yes', isUnreached: true, leavesEffectOpen: true }),
  NOT_FOUND: facts(5, { blamesState: true, blamesSetup: true }),
  ALREADY_EXISTS: facts(6, { blamesState: true }),
  PERMISSION_DENIED: facts(7, { blamesSetup: true }),
  RESOURCE_EXHAUSTED: facts(8, { passes: 'yes' }),
  FAILED_PRECONDITION: facts(9, { blamesState: true }),
  ABORTED: facts(10, { passes: 'yes', leavesEffectOpen: true, blamesState: true }),
  OUT_OF_RANGE: facts(11),
  UNIMPLEMENTED: facts(12),
  INTERNAL: facts(13, { passes: 'perhaps', leavesEffectOpen: true }),
  UNAVAILABLE: facts(14, { passes: 'yes', isUnreached: true, leavesEffectOpen: true }),
  DATA_LOSS: facts(15, { leavesEffectOpen: true }),
  UNAUTHENTICATED: facts(16, { blamesSetup: true }),
} as const;

export type StatusName = keyof typeof STATUSES;

/** A refusal: the service's status and its words. */
export interface Status {
  readonly code: StatusName;
  readonly message: string;
}

const NAMES: readonly StatusName[] = Object.keys(STATUSES) as StatusName[];

/** The name of a numeric status, `UNKNOWN` for a number that gRPC does not define. */
export const statusName = (code: number): StatusName => NAMES[code] ?? 'UNKNOWN';

/** The number of every status. */
export const STATUS_CODES = Object.fromEntries(NAMES.map((name) => [name, STATUSES[name].code])) as Readonly<
  Record<StatusName, number>
>;

/** The service's words for a family that does not exist. The status is NOT_FOUND for a missing table too. */
const MISSING_FAMILY = /requested column family not found/i;

/** Whether a NOT_FOUND speaks of a column family; otherwise it speaks of the table. */
export const isMissingFamily = ({ code, message }: Status): boolean =>
  code === 'NOT_FOUND' && MISSING_FAMILY.test(message);

/** How grpc-js reports a connection that was reset under a request (grpc-node#2625); other clients say UNAVAILABLE. */
const CONNECTION_RESET = 'RST_STREAM';

/** Whether the connection was lost under the request, by whichever name the client calls it. Its effect is open then. */
export const isConnectionLoss = ({ code, message }: Status): boolean =>
  (code === 'INTERNAL' || code === 'CANCELLED') && message.includes(CONNECTION_RESET);
