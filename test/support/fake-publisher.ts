import { abortReason } from '../../shared/base/clock.ts';
import type { OutgoingMessage, Publisher } from '../../shared/model/publishing.ts';

interface Publish {
  readonly message: OutgoingMessage;
  readonly confirm: () => void;
  readonly refuse: (error: Error) => void;
}

/** A topic whose publishes a test confirms or refuses by hand, in the order they were made. Heeds the signal. */
export class FakePublisher implements Publisher {
  /** Every message that was ever handed over. */
  readonly messages: OutgoingMessage[] = [];
  isClosed = false;
  readonly #open: Publish[] = [];

  /** Publishes that are neither confirmed nor refused nor given up. */
  get open(): number {
    return this.#open.length;
  }

  publish(message: OutgoingMessage, signal: AbortSignal): Promise<void> {
    this.messages.push(message);
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => (): void => {
        signal.removeEventListener('abort', onAbort);
        end();
      };
      const publish: Publish = {
        message,
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
