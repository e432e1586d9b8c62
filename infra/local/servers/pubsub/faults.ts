import type { StatusName } from '../../../../shared/model/status.ts';
import type { PublisherDefinition, SubscriberDefinition } from '../../../../shared/proto/google/pubsub/v1/pubsub.ts';

/** A method of the two services, by the name its handler has. */
export type PubSubMethod = keyof PublisherDefinition['methods'] | keyof SubscriberDefinition['methods'];

/** What a rule is limited to. Absent means no limit. */
interface FaultScope {
  /** How often the rule strikes before it is used up. Default: without end. */
  readonly times?: number;
  /** Strikes only at every n-th thing it could strike, from the n-th on. Default 1. */
  readonly every?: number;
}

interface OnSubscription extends FaultScope {
  /** Full name. Default: all. */
  readonly subscription?: string;
}

interface OnTopic extends FaultScope {
  /** Full name. Default: all. */
  readonly topic?: string;
}

/** Something to go wrong on purpose. Delays are milliseconds as they are: the time scale does not shorten them. */
export type FaultRule =
  /** The call is refused before it does anything, after `delayMillis`. */
  | (FaultScope & {
      readonly kind: 'error';
      readonly method: PubSubMethod;
      readonly status: StatusName;
      readonly delayMillis?: number;
    })
  /** The call is answered, but later. */
  | (FaultScope & { readonly kind: 'delay'; readonly method: PubSubMethod; readonly delayMillis: number })
  /** The messages are accepted and delivered, but the publisher gets this status (default UNAVAILABLE) and no ids. */
  | (OnTopic & { readonly kind: 'drop-publish-answer'; readonly status?: StatusName })
  /** An acknowledgement is answered as good and lost: the message is delivered again. */
  | (OnSubscription & { readonly kind: 'duplicate' })
  /** A message jumps ahead of up to `span` others (default 10) that are ready; the order within a key holds. */
  | (OnSubscription & { readonly kind: 'reorder'; readonly span?: number })
  /** A push is sent only after this time, which counts against its deadline. */
  | (OnSubscription & { readonly kind: 'delay-push'; readonly delayMillis: number });

export type FaultKind = FaultRule['kind'];
type RuleOf<Kind extends FaultKind> = Extract<FaultRule, { readonly kind: Kind }>;

/** A rule in force. */
export interface Fault {
  /** How often it struck. */
  readonly hits: number;
  remove(): void;
}

export interface Faults {
  /** Puts a rule in force; of several rules for one thing the oldest that strikes wins. */
  add(rule: FaultRule): Fault;
}

/** Where something may go wrong. */
export interface Occasion {
  readonly method?: PubSubMethod;
  readonly topic?: string;
  readonly subscription?: string;
}

interface Armed {
  readonly rule: FaultRule;
  seen: number;
  hits: number;
}

/** The rules in force, asked at every place where something can go wrong. */
export class FaultBook implements Faults {
  #armed: Armed[] = [];

  add(rule: FaultRule): Fault {
    const armed: Armed = { rule, seen: 0, hits: 0 };
    this.#armed.push(armed);
    return {
      get hits() {
        return armed.hits;
      },
      remove: () => {
        this.#armed = this.#armed.filter((other) => other !== armed);
      },
    };
  }

  /** The rule of this kind that strikes here now, counted as a hit; undefined where nothing is to go wrong. */
  strike<Kind extends FaultKind>(kind: Kind, occasion: Occasion): RuleOf<Kind> | undefined {
    for (const armed of this.#armed) {
      const { rule } = armed;
      if (!isOf(rule, kind) || !applies(rule, occasion) || armed.hits >= (rule.times ?? Infinity)) continue;
      armed.seen += 1;
      if (armed.seen % (rule.every ?? 1) !== 0) continue;
      armed.hits += 1;
      return rule;
    }
    return undefined;
  }
}

const isOf = <Kind extends FaultKind>(rule: FaultRule, kind: Kind): rule is RuleOf<Kind> => rule.kind === kind;

function applies(rule: FaultRule, occasion: Occasion): boolean {
  if ('method' in rule && rule.method !== occasion.method) return false;
  if ('topic' in rule && rule.topic !== occasion.topic) return false;
  return !('subscription' in rule) || rule.subscription === occasion.subscription;
}
