import type { Subscription as SubscriptionResource } from '../../../../../shared/proto/google/pubsub/v1/pubsub.ts';
import type { GrpcError } from '../../rpc/grpc.ts';
import { PUSH_BACKOFF_BOUNDS } from '../delivery/backoff.ts';
import type { Delivery, Holder } from '../delivery/entry.ts';
import type { StoredMessage } from '../delivery/message-store.ts';
import { settingsOf, type SubscriptionSettings } from '../delivery/settings.ts';
import { SubscriptionState, type Allowance } from '../delivery/subscription-state.ts';
import { PushLoop, type PushSource } from '../push/push-loop.ts';
import type { SubscriptionContext, SubscriptionCounters } from './subscription-context.ts';

/** Where deliveries go. */
export interface Consumer {
  /** Takes some of what may be delivered. @returns whether it took any. */
  pump(): boolean;
}

/** The service starts a push subscription with a single-digit window; this is where ours starts. */
const START_WINDOW = 4;

/** One subscription at work: its state, its timer, its consumers. Every change ends in {@link #pump}. */
export class LiveSubscription {
  readonly #context: SubscriptionContext;
  readonly #state: SubscriptionState;
  #resource: SubscriptionResource;
  #settings: SubscriptionSettings;
  #consumers: Consumer[] = [];
  #push: PushLoop | undefined;
  #timer: { readonly dueAt: number; readonly cancel: () => void } | undefined;
  #isPumping = false;
  #closedBy: GrpcError | undefined;
  readonly #counts = { matched: 0, filtered: 0, delivered: 0, acked: 0, nacked: 0, expired: 0, deadLettered: 0 };

  /** @param resource a checked resource, with the defaults filled in. */
  constructor(resource: SubscriptionResource, context: SubscriptionContext) {
    this.#context = context;
    this.#resource = resource;
    this.#settings = settingsOf(resource, context.timing);
    this.#state = new SubscriptionState(this.#settings, context.store);
    this.#startPush();
  }

  get resource(): SubscriptionResource {
    return this.#resource;
  }

  get settings(): SubscriptionSettings {
    return this.#settings;
  }

  /** What calls that wait for deliveries end with; undefined while the subscription is open. */
  get closedBy(): GrpcError | undefined {
    return this.#closedBy;
  }

  get counters(): SubscriptionCounters {
    return {
      ...this.#counts,
      backlog: this.#state.backlogSize,
      retained: this.#state.retainedSize,
      outstandingPushes: this.#push?.outstanding ?? 0,
      pushWindow: this.#push?.window ?? 0,
    };
  }

  /** Replaces the resource by a checked one. A change of the push configuration ends the pushes that are under way. */
  configure(resource: SubscriptionResource): void {
    const before = this.#settings.push;
    this.#resource = resource;
    this.#settings = settingsOf(resource, this.#context.timing);
    this.#state.configure(this.#settings);
    const after = this.#settings.push;
    if (before?.endpoint !== after?.endpoint || before?.body !== after?.body) {
      this.#stopPush();
      this.#startPush();
    }
    this.#pump();
  }

  /** Takes in published messages, all at once. */
  offer(messages: readonly StoredMessage[]): void {
    for (const message of messages) {
      const isMatch = this.#settings.filter(message.wire.attributes);
      this.#counts[isMatch ? 'matched' : 'filtered'] += 1;
      if (isMatch) this.#state.offer(message);
    }
    this.#pump();
  }

  /** Leases what may be delivered now to a pulling consumer. */
  take(allowance: Allowance, leaseMillis: number, holder?: Holder): Delivery[] {
    const { faults, timing, random } = this.#context;
    const ready = this.#state.readyCount;
    const rule = ready > 1 ? faults.take('Delivery', { subscription: this.#settings.name }) : undefined;
    const overtake = rule ? 1 + Math.floor(random() * Math.min(rule.span ?? 10, ready - 1)) : 0;
    const deliveries = this.#state.take(timing.clock.now(), allowance, leaseMillis, holder, overtake);
    this.#counts.delivered += deliveries.length;
    this.#arm();
    return deliveries;
  }

  /** @returns the ids that acknowledge nothing. */
  acknowledge(ackIds: readonly string[]): string[] {
    const unknown = ackIds.filter((ackId) => !this.#acknowledge(ackId));
    this.#pump();
    return unknown;
  }

  /** Moves the ends of leases; 0 ends them at once. @returns the ids of leases that are over. */
  modifyDeadline(ackIds: readonly string[], leaseMillis: number): string[] {
    const now = this.#context.timing.clock.now();
    const unknown = ackIds.filter((ackId) =>
      leaseMillis > 0 ? !this.#state.extend(ackId, now, leaseMillis) : !this.#refuse(ackId),
    );
    this.#pump();
    return unknown;
  }

  seek(micros: bigint): void {
    this.#state.seek(micros);
    this.#pump();
  }

  dropRetained(): void {
    this.#state.dropRetained();
  }

  /** Adds a pulling consumer. @returns what removes it. */
  attach(consumer: Consumer): () => void {
    this.#consumers.push(consumer);
    this.#pump();
    return () => {
      this.#consumers = this.#consumers.filter((other) => other !== consumer);
    };
  }

  /** Lets consumers take: call it when one of them can take more than before. */
  wake(): void {
    this.#pump();
  }

  /** Ends deliveries and gives up every message. @param reason what waiting calls are told. */
  close(reason: GrpcError): void {
    this.#closedBy = reason;
    this.#stopPush();
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#state.clear();
    // Each consumer finds the subscription closed and ends its call.
    for (const consumer of this.#consumers) consumer.pump();
    this.#consumers = [];
  }

  /** Lets what is due happen, then offers deliveries to the consumers, in turn, until none takes any more. */
  #pump(): void {
    if (this.#isPumping || this.#closedBy) return;
    this.#isPumping = true;
    try {
      const now = this.#context.timing.clock.now();
      this.#counts.expired += this.#state.advance(now);
      this.#buryExhausted(now);
      for (let hasTaken = true; hasTaken;) {
        hasTaken = false;
        for (const consumer of this.#consumers) if (consumer.pump()) hasTaken = true;
      }
    } finally {
      this.#isPumping = false;
    }
    this.#arm();
  }

  #acknowledge(ackId: string): boolean {
    const { name } = this.#settings;
    if (this.#state.isLeased(ackId) && this.#context.faults.take('Acknowledgement', { subscription: name })) {
      this.#state.loseAcknowledgement(ackId);
      return true;
    }
    const isKnown = this.#state.acknowledge(ackId, this.#context.timing.clock.now());
    if (isKnown) this.#counts.acked += 1;
    return isKnown;
  }

  #refuse(ackId: string): boolean {
    const isKnown = this.#state.refuse(ackId, this.#context.timing.clock.now());
    if (isKnown) this.#counts.nacked += 1;
    return isKnown;
  }

  #buryExhausted(now: number): void {
    const { deadLetter, name } = this.#settings;
    for (const entry of this.#state.takeExhausted()) {
      if (deadLetter && this.#context.bury(entry, name, deadLetter.topic)) {
        this.#state.bury(entry);
        this.#counts.deadLettered += 1;
      } else this.#state.revive(entry, now);
    }
  }

  /** Keeps one timer for the earliest thing that is due. */
  #arm(): void {
    const dueAt = this.#state.nextDueAt;
    if (dueAt === undefined || this.#closedBy) return;
    if (this.#timer && this.#timer.dueAt <= dueAt) return;
    this.#timer?.cancel();
    const { clock } = this.#context.timing;
    const cancel = clock.after(Math.ceil(dueAt - clock.now()), () => {
      this.#timer = undefined;
      this.#pump();
    });
    this.#timer = { dueAt, cancel };
  }

  #startPush(): void {
    const { push } = this.#settings;
    if (!push) return;
    const { timing, pushConcurrency } = this.#context;
    this.#push = new PushLoop(this.#pushSource(), push, timing, {
      window: { start: START_WINDOW, cap: pushConcurrency },
      backoff: {
        minMillis: timing.shrink(PUSH_BACKOFF_BOUNDS.minMillis),
        maxMillis: timing.shrink(PUSH_BACKOFF_BOUNDS.maxMillis),
      },
    });
    this.#consumers.push(this.#push);
  }

  #stopPush(): void {
    const push = this.#push;
    if (!push) return;
    this.#push = undefined;
    this.#consumers = this.#consumers.filter((consumer) => consumer !== push);
    push.stop();
  }

  #pushSource(): PushSource {
    return {
      describe: () => ({
        subscription: this.#settings.name,
        ackDeadlineMillis: this.#settings.ackDeadlineMillis,
        showsAttempt: this.#settings.deadLetter !== undefined,
      }),
      take: (allowance) => this.take(allowance, Infinity),
      acknowledge: (ackId) => {
        this.#acknowledge(ackId);
      },
      refuse: (ackId) => {
        this.#refuse(ackId);
      },
      wake: () => {
        this.#pump();
      },
      delayMillis: () => this.#context.faults.take('Push', { subscription: this.#settings.name })?.delayMillis ?? 0,
    };
  }
}
