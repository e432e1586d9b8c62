import { onAbort } from '../base/abort.ts';
import { abortReason } from '../base/clock.ts';
import { toError } from '../base/errors.ts';
import type { OutgoingMessage } from '../model/publishing.ts';
import type { Status } from '../model/status.ts';
import type { ByteBudget } from './byte-budget.ts';
import { EmissionError } from './failure.ts';
import type { UnitOptions } from './unit.ts';
import type { Outbound, Owner } from './outbound.ts';
import type { WireMessage } from './ports.ts';
import type { TopicPublisher } from './publishing/topic-publisher.ts';
import { UnitWindow, type WindowEntry } from './unit-window.ts';

interface UnitMessage<Position> extends Outbound {
  readonly entry: WindowEntry<Position>;
}

export interface UnitSurroundings {
  readonly budget: ByteBudget;
  readonly publisher: Pick<TopicPublisher, 'add' | 'dropHeldBack'>;
  /** Ends everything of the slot. */
  readonly signal: AbortSignal;
}

/**
 * The messages of one unit on their way: its window, the bytes they hold of the budget, and how each ends.
 *
 * What must stay true: whatever entered the window ends exactly once, and gives its bytes back then; after a failure
 * nothing behind it begins to leave.
 */
export class UnitMessages<Position> implements Owner {
  readonly window = new UnitWindow<Position>();
  readonly #options: UnitOptions;
  readonly #with: UnitSurroundings;
  readonly #failing = new AbortController();
  readonly #onIdle = new Set<() => void>();
  #failure: EmissionError | undefined;
  #lastSequence = Infinity;

  constructor(options: UnitOptions, surroundings: UnitSurroundings) {
    this.#options = options;
    this.#with = surroundings;
  }

  /** Aborts with the failure. */
  get failing(): AbortSignal {
    return this.#failing.signal;
  }

  get failure(): EmissionError | undefined {
    return this.#failure;
  }

  get lastSequence(): number {
    return this.#lastSequence;
  }

  /**
   * Takes bytes of the budget for what is about to enter the window; undefined where there is nothing to wait for.
   * Rejects with the failure when the unit fails before.
   */
  take(bytes: number): Promise<void> | undefined {
    const { budget } = this.#with;
    if (budget.tryTake(bytes)) return undefined;
    return budget.take(bytes, this.failing).then(() => {
      if (!this.#failure) return;
      budget.give(bytes);
      throw this.#failure;
    });
  }

  /** Hands an entry's message to the publisher. */
  leave(
    entry: WindowEntry<Position>,
    message: OutgoingMessage,
    { fields, bytes }: WireMessage,
    problem?: string,
  ): void {
    const { sequence } = entry;
    const { data } = message;
    const outbound: UnitMessage<Position> = { data, fields, bytes, message, owner: this, sequence, problem, entry };
    this.#with.publisher.add(outbound);
  }

  confirmed(message: Outbound): void {
    const { entry } = message as UnitMessage<Position>;
    if (entry.state !== 'open') return;
    this.window.confirm(entry);
    this.#ended(entry);
  }

  failed(message: Outbound, failure: EmissionError | undefined): void {
    this.failEntry((message as UnitMessage<Position>).entry, failure);
  }

  /** @param failure undefined: an earlier entry's. */
  failEntry(entry: WindowEntry<Position>, failure: EmissionError | undefined): void {
    if (entry.state !== 'open') return;
    const reason = failure ?? this.#failure ?? new EmissionError('ended', 'the unit was given up');
    this.window.fail(entry, reason);
    this.fail(reason, entry.sequence - 1);
    this.#ended(entry);
  }

  async refused(message: Outbound, problem: string, status: Status | undefined): Promise<void> {
    const { failurePolicy, setApart, topic, attributes } = this.#options;
    // What is not even sent is here only to be set apart: under the other policy it failed at once.
    if (message.problem === undefined && failurePolicy === 'fail') {
      this.failed(
        message,
        new EmissionError('refused', `Publish to ${topic} refuses a message: ${problem}`, { status }),
      );
      return;
    }
    const original = message.message;
    try {
      const whole = { ...original, attributes: { ...attributes, ...original.attributes } };
      await setApart({ message: whole, problem, status }, this.#with.signal);
    } catch (thrown) {
      const cause = toError(thrown);
      const text = `a message that ${topic} does not take could not be set apart: ${cause.message}`;
      this.failed(message, new EmissionError('unhandled', text, { status, cause }));
      return;
    }
    this.confirmed(message);
  }

  /** Nothing above `lastSequence` begins to leave any more. The first failure is the unit's. */
  fail(failure: EmissionError, lastSequence: number): void {
    const isFirst = this.#failure === undefined;
    this.#failure ??= failure;
    this.window.poison(failure);
    if (!isFirst && lastSequence >= this.#lastSequence) return;
    this.#lastSequence = lastSequence;
    this.#with.publisher.dropHeldBack();
    if (isFirst) this.#failing.abort(failure);
  }

  /** Resolves when nothing is on its way; rejects with the signal's reason. */
  settled(signal: AbortSignal): Promise<void> {
    if (this.window.isIdle) return Promise.resolve();
    if (signal.aborted) return Promise.reject(abortReason(signal));
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        forget();
        resolve();
      };
      this.#onIdle.add(settle);
      const forget = onAbort(signal, () => {
        this.#onIdle.delete(settle);
        reject(abortReason(signal));
      });
    });
  }

  #ended({ bytes }: WindowEntry<Position>): void {
    this.#with.budget.give(bytes);
    if (!this.window.isIdle) return;
    for (const settle of this.#onIdle) settle();
    this.#onIdle.clear();
  }
}
