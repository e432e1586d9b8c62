import { onAbort } from '../base/abort.ts';
import { abortReason } from '../base/clock.ts';
import { toError } from '../base/errors.ts';
import type { Status } from '../model/status.ts';
import type { ByteBudget } from './byte-budget.ts';
import { EmissionError } from './failure.ts';
import type { UnitOptions } from './unit.ts';
import type { OutgoingMessage } from '../model/publishing.ts';
import { Outbound, type Owner } from './outbound.ts';
import type { TopicPublisher } from './publishing/topic-publisher.ts';
import type { PackBuffers } from './messages/pack-buffers.ts';
import { attributeFields, readMessage } from './messages/wire-message.ts';
import { UnitWindow } from './unit-window.ts';

export interface UnitSurroundings {
  readonly budget: ByteBudget;
  readonly packBuffers: PackBuffers;
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
  readonly window: UnitWindow<Position>;
  /** Attributes of every message, encoded. */
  readonly common: Buffer;
  readonly #options: UnitOptions;
  readonly #with: UnitSurroundings;
  readonly #failing = new AbortController();
  readonly #onIdle = new Set<() => void>();
  #failure: EmissionError | undefined;
  #lastSequence = Infinity;

  constructor(options: UnitOptions, surroundings: UnitSurroundings, onConfirmed?: (position: Position) => void) {
    this.window = new UnitWindow(onConfirmed);
    this.common = attributeFields(options.attributes);
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
   * Takes bytes of the budget for what is about to enter the window, and then calls `use`. Rejects with the failure when the unit fails before.
   */
  take(bytes: number, use: () => void): Promise<void> {
    const { budget } = this.#with;
    return budget.take(bytes, this.failing).then(() => {
      if (this.#failure) {
        budget.give(bytes);
        throw this.#failure;
      }
      use();
    });
  }

  /** Takes the bytes if there is nothing to wait for: the path of nearly every message, without a promise. */
  tryTake(bytes: number): boolean {
    return this.#with.budget.tryTake(bytes);
  }

  /** Takes a place in the window for a message whose bytes are taken. What it is made of may come later. */
  enter(held: number): Outbound {
    return new Outbound(this, this.window.enter(), held);
  }

  /**
   * Hands a message over to be published.
   *
   * @param bytes its size as {@link messageSize} tells it.
   */
  leave(outbound: Outbound, message: OutgoingMessage, bytes: number, problem: string | undefined): void {
    outbound.bytes = bytes;
    outbound.problem = problem;
    this.#with.publisher.add(outbound, message, this.common);
  }

  confirmed({ sequence, held }: Outbound): void {
    if (!this.window.isOpen(sequence)) return;
    this.window.confirm(sequence);
    this.#ended(held);
  }

  /** @param failure undefined: an earlier message's. */
  failed({ sequence, held }: Outbound, failure: EmissionError | undefined): void {
    if (!this.window.isOpen(sequence)) return;
    this.window.fail(sequence);
    this.fail(failure ?? this.#failure ?? new EmissionError('ended', 'the unit was given up'), sequence - 1);
    this.#ended(held);
  }

  async refused(message: Outbound, problem: string, status: Status | undefined): Promise<void> {
    const { failurePolicy, setApart, topic } = this.#options;
    // What is not even sent is here only to be set apart: under the other policy it failed at once.
    if (message.problem === undefined && failurePolicy === 'fail') {
      this.failed(
        message,
        new EmissionError('refused', `Publish to ${topic} refuses a message: ${problem}`, { status }),
      );
      return;
    }
    try {
      await setApart({ message: readMessage(message), problem, status }, this.#with.signal);
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
    this.window.poison();
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

  #ended(held: number): void {
    this.#with.budget.give(held);
    if (!this.window.isIdle) return;
    for (const settle of this.#onIdle) settle();
    this.#onIdle.clear();
  }
}
