import type { Status } from '../../../../shared/model/status.ts';
import type { RequestOf, RpcMethod } from './rpc-methods.ts';

/** What goes wrong with a call. */
export type FaultEffect =
  /** Refused before anything is applied. */
  | { readonly kind: 'refuse'; readonly status: Status; readonly delayMillis?: number }
  /** Applied, but the answer is lost: the caller sees only this status. */
  | { readonly kind: 'lose-answer'; readonly status: Status; readonly delayMillis?: number }
  /** Served as always, this much later. */
  | { readonly kind: 'delay'; readonly delayMillis: number }
  /** No answer until the caller gives up or the server closes. */
  | { readonly kind: 'never-answer'; readonly isApplied: boolean };

/** One thing that goes wrong with calls of one method. */
export interface FaultRuleFor<Method extends RpcMethod> {
  readonly method: Method;
  /** Which calls it is for; every call without it. */
  readonly where?: (request: RequestOf<Method>) => boolean;
  /** The first of those calls that it meets, counted from 1 since the rule was added. Default 1. */
  readonly fromCall?: number;
  /** How many calls it meets before it is used up. Default 1; `Infinity` until it is removed. */
  readonly times?: number;
  readonly effect: FaultEffect;
}

export interface FaultHandle {
  /** Calls that the rule has met. */
  readonly hits: number;
  remove(): void;
}

interface ActiveRule {
  readonly method: RpcMethod;
  readonly effect: FaultEffect;
  readonly fromCall: number;
  isFor(request: unknown): boolean;
  seen: number;
  timesLeft: number;
  hits: number;
}

/**
 * The faults of one server. Rules are asked in the order in which they were added; the first that meets a call gives it
 * its one effect.
 */
export class Faults {
  readonly #rules: ActiveRule[] = [];

  add<Method extends RpcMethod>(rule: FaultRuleFor<Method>): FaultHandle {
    const active: ActiveRule = {
      method: rule.method,
      effect: rule.effect,
      fromCall: rule.fromCall ?? 1,
      isFor: (request) => rule.where?.(request as RequestOf<Method>) ?? true,
      seen: 0,
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

  /** Takes every rule away. */
  clear(): void {
    this.#rules.length = 0;
  }

  /** The effect on this call, which uses up one of its rule's times. */
  take<Method extends RpcMethod>(method: Method, request: RequestOf<Method>): FaultEffect | undefined {
    const rule = this.#rules.find((each) => each.method === method && each.isFor(request) && isReached(each));
    if (!rule) return undefined;
    rule.hits += 1;
    rule.timesLeft -= 1;
    if (rule.timesLeft <= 0) this.#remove(rule);
    return rule.effect;
  }

  #remove(rule: ActiveRule): void {
    const at = this.#rules.indexOf(rule);
    if (at >= 0) this.#rules.splice(at, 1);
  }
}

/** Counts a call that the rule is for. */
function isReached(rule: ActiveRule): boolean {
  rule.seen += 1;
  return rule.seen >= rule.fromCall;
}
