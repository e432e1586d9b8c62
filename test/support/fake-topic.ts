import type { Clock } from '../../shared/base/clock.ts';
import { readMessage } from '../../shared/emission/messages/wire-message.ts';
import type { PublishAttempt, PublishReply, SendPublish } from '../../shared/emission/ports.ts';
import type { Status, StatusName } from '../../shared/model/status.ts';

/** What becomes of one attempt. Delays are milliseconds of the clock. */
export type TopicEffect =
  | { readonly kind: 'refuse'; readonly status: Status; readonly delayMillis?: number }
  /** Applied, and answered with this status; applied later than it is answered where `appliedAfterMillis` says so. */
  | { readonly kind: 'lose-answer'; readonly status: Status; readonly appliedAfterMillis?: number }
  /** No answer; applied so much later, or never. */
  | { readonly kind: 'silence'; readonly appliedAfterMillis?: number }
  | { readonly kind: 'confirm'; readonly delayMillis?: number };

export interface Published {
  readonly text: string;
  readonly key: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** One attempt as it arrived. */
export interface Attempted {
  readonly texts: readonly string[];
  readonly key: string;
  readonly bytes: number;
  readonly at: number;
}

export const status = (code: StatusName, message = code.toLowerCase()): Status => ({ code, message });

const LATENCY_MILLIS = 1;

/**
 * A topic in memory, on a clock: it takes requests whole or not at all, refuses what the service refuses for its own
 * sake (two ordering keys, a text that begins with `bad`), and does what a test asks for with the next attempts.
 */
export class FakeTopic {
  readonly published: Published[] = [];
  readonly attempts: Attempted[] = [];
  outstanding = 0;
  maxOutstanding = 0;
  /** Chooses what becomes of an attempt, where no test asked for it; undefined: as always. */
  decide: (attempt: Attempted) => TopicEffect | undefined = () => undefined;
  readonly #clock: Clock;
  readonly #next: TopicEffect[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What becomes of the next attempts, in their order. */
  next(...effects: readonly TopicEffect[]): void {
    this.#next.push(...effects);
  }

  get texts(): string[] {
    return this.published.map(({ text }) => text);
  }

  readonly send: SendPublish = (attempt) =>
    new Promise((resolve) => {
      if (attempt.signals.some(({ aborted }) => aborted)) {
        resolve({ kind: 'failed', status: status('CANCELLED'), isUnsent: true });
        return;
      }
      new Answer(attempt, this.#clock, (reply) => {
        this.outstanding -= 1;
        resolve(reply);
      }).follow(this.#receive(attempt), (messages) => {
        this.published.push(...messages);
      });
    });

  #receive({ messages }: PublishAttempt): { readonly effect: TopicEffect; readonly messages: readonly Published[] } {
    this.outstanding += 1;
    this.maxOutstanding = Math.max(this.maxOutstanding, this.outstanding);
    const read = messages.map(readMessage).map(({ data, orderingKey = '', attributes }) => ({
      text: data.toString(),
      key: orderingKey,
      attributes,
    }));
    const keys = new Set(read.map(({ key }) => key));
    const attempted: Attempted = {
      texts: read.map(({ text }) => text),
      key: read[0]?.key ?? '',
      bytes: messages.reduce((sum, { start, end, data }) => sum + end - start + (data?.length ?? 0), 0),
      at: this.#clock.now(),
    };
    this.attempts.push(attempted);
    const isBad = keys.size > 1 || read.some(({ text }) => text.startsWith('bad')) || messages.length > 1000;
    const effect = this.#next.shift() ?? this.decide(attempted) ?? { kind: 'confirm' };
    if (isBad && effect.kind === 'confirm') {
      return { effect: { kind: 'refuse', status: status('INVALID_ARGUMENT') }, messages: read };
    }
    return { effect, messages: read };
  }
}

/** The end of one attempt: its effect's, its deadline, or its cancellation, whichever comes first. */
class Answer {
  readonly #clock: Clock;
  readonly #cancels: (() => void)[] = [];
  readonly #end: (reply: PublishReply) => void;
  #isOver = false;

  constructor({ timeoutMillis, signals }: PublishAttempt, clock: Clock, resolve: (reply: PublishReply) => void) {
    this.#clock = clock;
    this.#end = (reply) => {
      if (this.#isOver) return;
      this.#isOver = true;
      for (const cancel of this.#cancels) cancel();
      resolve(reply);
    };
    this.#after(timeoutMillis, () => {
      this.#fail(status('DEADLINE_EXCEEDED'));
    });
    for (const signal of signals) {
      const cancel = (): void => {
        this.#fail(status('CANCELLED'));
      };
      signal.addEventListener('abort', cancel);
      this.#cancels.push(() => {
        signal.removeEventListener('abort', cancel);
      });
    }
  }

  follow(
    { effect, messages }: { readonly effect: TopicEffect; readonly messages: readonly Published[] },
    apply: (messages: readonly Published[]) => void,
  ): void {
    switch (effect.kind) {
      case 'refuse':
        this.#after(effect.delayMillis ?? LATENCY_MILLIS, () => {
          this.#fail(effect.status);
        });
        return;
      case 'confirm':
        // A request that has arrived is applied, whether its caller still waits or not.
        this.#clock.after(effect.delayMillis ?? LATENCY_MILLIS, () => {
          apply(messages);
          this.#end({ kind: 'confirmed' });
        });
        return;
      case 'lose-answer':
        this.#clock.after(effect.appliedAfterMillis ?? LATENCY_MILLIS, () => {
          apply(messages);
        });
        this.#after(LATENCY_MILLIS, () => {
          this.#fail(effect.status);
        });
        return;
      case 'silence':
        if (effect.appliedAfterMillis !== undefined) {
          this.#clock.after(effect.appliedAfterMillis, () => {
            apply(messages);
          });
        }
    }
  }

  #fail(failure: Status): void {
    this.#end({ kind: 'failed', status: failure, isUnsent: false });
  }

  /** Forgotten when the attempt ends. */
  #after(millis: number, callback: () => void): void {
    this.#cancels.push(this.#clock.after(millis, callback));
  }
}
