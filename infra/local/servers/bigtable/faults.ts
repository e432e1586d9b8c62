import type { Status } from '../../../../shared/model/status.ts';
import { requestedRowKeys, requestedTable, type RequestOf, type RpcMethod } from './rpc-methods.ts';

/** What goes wrong with a call of any method. */
export type FaultEffect =
  /** Refused before anything is applied. */
  | { readonly kind: 'refuse'; readonly status: Status; readonly delayMillis?: number }
  /** Applied, but the answer is lost: the caller sees only this status. */
  | { readonly kind: 'lose-answer'; readonly status: Status; readonly delayMillis?: number }
  /** Served as always, this much later. */
  | { readonly kind: 'delay'; readonly delayMillis: number }
  /** No answer until the caller gives up or the server closes. */
  | { readonly kind: 'never-answer'; readonly isApplied: boolean };

/** What can go wrong with the answer to MutateRows in particular. All other entries fare as always. */
export type MutateRowsEffect =
  /** Only the first `entries` are answered; then the stream ends, with the status or, without one, with OK. */
  | {
      readonly kind: 'cut';
      readonly entries: number;
      /** Whether the entries that get no answer are applied. */
      readonly isRestApplied: boolean;
      readonly status?: Status;
    }
  /** These entries, by index, are refused and not applied. */
  | { readonly kind: 'entry-statuses'; readonly statuses: ReadonlyMap<number, Status> }
  /** The entry at this index is applied and answered without a status. */
  | { readonly kind: 'omit-status'; readonly index: number }
  /** An answer too many, for this index: a duplicate of an entry or an entry that was never sent. */
  | { readonly kind: 'stray-answer'; readonly index: number; readonly status: Status }
  /** `RateLimitInfo` beside the answers, for callers that announced that they understand it. */
  | { readonly kind: 'rate-limit'; readonly periodMillis: number; readonly factor: number };

/** What can go wrong with a scan: the stream breaks after this many rows. */
export interface ReadRowsEffect {
  readonly kind: 'cut-scan';
  readonly rows: number;
  readonly status: Status;
}

export type EffectOf<Method extends RpcMethod> =
  | FaultEffect
  | (Method extends 'MutateRows' ? MutateRowsEffect : never)
  | (Method extends 'ReadRows' ? ReadRowsEffect : never);

/** Which calls of the method a rule is for; what is left out matches every call. */
export interface FaultMatch<Request> {
  /** The table's id, the last part of its name. */
  readonly table?: string;
  /** At least one row key of the request starts with this. */
  readonly rowKeyPrefix?: string | Buffer;
  readonly where?: (request: Request) => boolean;
}

/** One thing that goes wrong with calls of one method. */
export interface FaultRuleFor<Method extends RpcMethod> {
  readonly method: Method;
  readonly match?: FaultMatch<RequestOf<Method>>;
  /** How many calls it meets before it is used up. Default 1; `Infinity` until it is removed. */
  readonly times?: number;
  readonly effect: EffectOf<Method>;
}

/** A rule for any method, for code that makes lists of rules. */
export type FaultRule = { [Method in RpcMethod]: FaultRuleFor<Method> }[RpcMethod];

export interface FaultHandle {
  /** Calls that the rule has met. */
  readonly hits: number;
  remove(): void;
}

interface ActiveRule {
  readonly method: RpcMethod;
  readonly effect: EffectOf<RpcMethod>;
  isFor(request: unknown): boolean;
  timesLeft: number;
  hits: number;
}

/**
 * The faults of one server. Rules are asked in the order in which they were added; the first that matches a call gives
 * it its one effect. `stall` comes before all rules: it holds every call until `resume`.
 */
export class Faults {
  readonly #rules: ActiveRule[] = [];
  #resumed: PromiseWithResolvers<void> | undefined;

  add<Method extends RpcMethod>(rule: FaultRuleFor<Method>): FaultHandle {
    const active: ActiveRule = {
      method: rule.method,
      effect: rule.effect,
      isFor: (request) => matches(rule.method, rule.match, request as RequestOf<Method>),
      timesLeft: rule.times ?? 1,
      hits: 0,
    };
    this.#rules.push(active);
    return {
      get hits() {
        return active.hits;
      },
      remove: () => {
        this.#remove(active);
      },
    };
  }

  /** Takes every rule away and resumes. */
  clear(): void {
    this.#rules.length = 0;
    this.resume();
  }

  /** From now on calls are taken but not served. */
  stall(): void {
    this.#resumed ??= Promise.withResolvers();
  }

  /** Serves what was held, in the order of arrival, and everything after it. */
  resume(): void {
    this.#resumed?.resolve();
    this.#resumed = undefined;
  }

  /** Resolves when calls are served; undefined when they are served now. */
  get stalled(): Promise<void> | undefined {
    return this.#resumed?.promise;
  }

  /** The effect on this call, which uses up one of its rule's times. */
  take<Method extends RpcMethod>(method: Method, request: RequestOf<Method>): EffectOf<Method> | undefined {
    const rule = this.#rules.find((each) => each.method === method && each.isFor(request));
    if (!rule) return undefined;
    rule.hits += 1;
    rule.timesLeft -= 1;
    if (rule.timesLeft <= 0) this.#remove(rule);
    return rule.effect as EffectOf<Method>;
  }

  #remove(rule: ActiveRule): void {
    const at = this.#rules.indexOf(rule);
    if (at >= 0) this.#rules.splice(at, 1);
  }
}

function matches<Method extends RpcMethod>(
  method: Method,
  match: FaultMatch<RequestOf<Method>> | undefined,
  request: RequestOf<Method>,
): boolean {
  if (!match) return true;
  const { table, rowKeyPrefix, where } = match;
  if (table !== undefined && !requestedTable(method, request).endsWith(`/tables/${table}`)) return false;
  if (rowKeyPrefix !== undefined) {
    const prefix = Buffer.from(rowKeyPrefix);
    if (!requestedRowKeys(request).some((key) => key.subarray(0, prefix.length).equals(prefix))) return false;
  }
  return where?.(request) ?? true;
}
