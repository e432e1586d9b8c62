import { abortReason } from '../../shared/base/clock.ts';
import type { DeadLetter } from '../../shared/letters/write.ts';
import type { DeadLetterTopic } from '../../shared/letters/ports.ts';

interface Publish {
  readonly letter: DeadLetter;
  readonly confirm: () => void;
  readonly refuse: (error: Error) => void;
}

/** A topic whose publishes a test confirms or refuses by hand, in the order they were made. Heeds the signal. */
export class FakeDeadLetterTopic implements DeadLetterTopic {
  /** Every letter that was ever handed over. */
  readonly letters: DeadLetter[] = [];
  isClosed = false;
  readonly #open: Publish[] = [];

  /** Publishes that are neither confirmed nor refused nor given up. */
  get open(): number {
    return this.#open.length;
  }

  publish(letter: DeadLetter, signal: AbortSignal): Promise<void> {
    this.letters.push(letter);
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => (): void => {
        signal.removeEventListener('abort', onAbort);
        end();
      };
      const publish: Publish = {
        letter,
        confirm: settle(resolve),
        refuse: (error) => {
          settle(() => {
            reject(error);
          })();
        },
      };
      const onAbort = (): void => {
        this.#open.splice(this.#open.indexOf(publish), 1);
        publish.refuse(abortReason(signal));
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#open.push(publish);
    });
  }

  confirm(count = 1): void {
    for (const publish of this.#open.splice(0, count)) publish.confirm();
  }

  refuse(error: Error, count = 1): void {
    for (const publish of this.#open.splice(0, count)) publish.refuse(error);
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }
}
