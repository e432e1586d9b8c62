import type { Status } from '../../../../shared/model/status.ts';
import type { ApiDefinition, RequestOf } from './definition.ts';

/** What goes wrong with a call of any RPC. */
export type CallEffect =
  /** Refused before anything is applied. */
  | { readonly kind: 'refuse'; readonly status: Status; readonly delayMillis?: number }
  /** Applied, but the answer is lost: the caller sees only this status. */
  | { readonly kind: 'lose-answer'; readonly status: Status; readonly delayMillis?: number }
  /** Served as always, this much later. */
  | { readonly kind: 'delay'; readonly delayMillis: number }
  /** No answer until the caller gives up or the server closes. */
  | { readonly kind: 'never-answer'; readonly isApplied: boolean };

/** Something that can go wrong: what it happens to, and what can happen to it. */
export interface FaultPoint {
  readonly request: unknown;
  readonly effect: unknown;
}

/** The points of a server by name: its RPCs as the proto spells them, and what else it may do wrongly. */
export type FaultPoints<Points> = { readonly [Method in keyof Points]: FaultPoint };

/** The RPCs of an API as points. `Effects` names what only some of them can suffer. */
export type CallsOf<Api extends ApiDefinition, Effects = object> = {
  readonly [Key in keyof Api['methods'] as Api['methods'][Key]['name']]: {
    readonly request: RequestOf<Api['methods'][Key]>;
    readonly effect:
      CallEffect | (Api['methods'][Key]['name'] extends keyof Effects ? Effects[Api['methods'][Key]['name']] : never);
  };
};

/** One thing that goes wrong with calls of one method. */
export interface FaultRule<Method, Point extends FaultPoint> {
  readonly method: Method;
  /** Which calls it is for. Default: every call. */
  readonly where?: (request: Point['request']) => boolean;
  /** The first of those calls that it may meet, counted from 1 since the rule was added. Default 1. */
  readonly fromCall?: number;
  /** It meets every n-th of them, the n-th first. Default 1. */
  readonly every?: number;
  /** How many calls it meets before it is used up. Default 1; `Infinity` until it is removed. */
  readonly times?: number;
  readonly effect: Point['effect'];
}

/** A rule in force. */
export interface FaultHandle {
  /** Calls that the rule has met. */
  readonly hits: number;
  remove(): void;
}

interface ActiveRule {
  readonly rule: FaultRule<unknown, FaultPoint>;
  seen: number;
  hits: number;
}

/**
 * The faults of one server. Rules are asked in the order in which they were added; the first that meets a call gives it
 * its one effect. `stall` comes before all rules: it holds every call until `resume`.
 */
export class Faults<Points extends FaultPoints<Points>> {
  #rules: ActiveRule[] = [];
  #resumed: PromiseWithResolvers<void> | undefined;

  add<Method extends keyof Points>(rule: FaultRule<Method, Points[Method]>): FaultHandle {
    const active: ActiveRule = { rule: rule as unknown as FaultRule<unknown, FaultPoint>, seen: 0, hits: 0 };
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
    this.#rules = [];
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
  take<Method extends keyof Points>(
    method: Method,
    request: Points[Method]['request'],
  ): Points[Method]['effect'] | undefined {
    const active = this.#rules.find(
      (each) => each.rule.method === method && (each.rule.where?.(request) ?? true) && isReached(each),
    );
    if (!active) return undefined;
    active.hits += 1;
    if (active.hits >= (active.rule.times ?? 1)) this.#remove(active);
    return active.rule.effect;
  }

  #remove(rule: ActiveRule): void {
    this.#rules = this.#rules.filter((other) => other !== rule);
  }
}

/** Counts a call that the rule is for. */
function isReached(active: ActiveRule): boolean {
  active.seen += 1;
  const nth = active.seen - (active.rule.fromCall ?? 1) + 1;
  return nth > 0 && nth % (active.rule.every ?? 1) === 0;
}
