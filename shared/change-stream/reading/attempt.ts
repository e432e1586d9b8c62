import type { Clock } from '../../base/clock.ts';
import type { Semaphore } from '../../base/semaphore.ts';
import { ChangeAssembler } from './assemble-change.ts';
import type { ChangeMessage, ChangeMessages, ReadChangeStream, ReadChangeStreamCall, StreamEvent } from './ports.ts';
import { type Ending, SILENCE_MILLIS } from './ending.ts';
import { Watchdog } from './watchdog.ts';
import { ChangeTooLargeError, StreamProtocolError } from './wire-rules.ts';

/** Changes above so many bytes are assembled one at a time in an instance. */
export const LARGE_CHANGE_BYTES = 16 * 1024 * 1024;

/** So long the end of a call is waited for that the service has announced. */
const END_MILLIS = 1000;

export interface AttemptTools {
  readonly readChangeStream: ReadChangeStream;
  /** One permit for the instance. */
  readonly largeChanges: Semaphore;
  readonly clock: Clock;
}

/** One `ReadChangeStream`: its messages, assembled to events. Retries nothing. */
export class Attempt {
  readonly #tools: AttemptTools;
  readonly #signal: AbortSignal;
  readonly #messages: ChangeMessages;
  readonly #assembler: ChangeAssembler;
  readonly #watchdog: Watchdog;
  #leaveGate: (() => void) | undefined;
  /** There as soon as `next` has given undefined. */
  ending: Ending | undefined;

  /** @param signal ends the wait for the turn of a large change; the call has it among its own. */
  constructor(call: ReadChangeStreamCall, maxMutationBytes: number, tools: AttemptTools, signal: AbortSignal) {
    this.#tools = tools;
    this.#signal = signal;
    this.#messages = tools.readChangeStream(call);
    this.#assembler = new ChangeAssembler(maxMutationBytes);
    this.#watchdog = new Watchdog(tools.clock, SILENCE_MILLIS, () => this.#messages.close(true));
  }

  /**
   * The next event; undefined at the end. Asking for more says that the event before is done with: what still holds a
   * large change then has it beside the next one. Rejects with the signal's reason when that aborts in a wait of our own.
   */
  async next(): Promise<StreamEvent | undefined> {
    if (this.#leaveGate && this.#assembler.openBytes <= LARGE_CHANGE_BYTES) this.#passGate();
    while (!this.ending) {
      if (this.#assembler.openBytes > LARGE_CHANGE_BYTES) {
        this.#leaveGate ??= await this.#tools.largeChanges.acquire(this.#signal);
      }
      this.#watchdog.start();
      const reply = await this.#messages.next();
      this.#watchdog.pause();
      const event = this.#accept(reply);
      if (event?.kind === 'close') return (await this.#isEnded()) ? event : undefined;
      if (event) return event;
    }
    return undefined;
  }

  /** Cancels the call unless it has ended, and resolves when it is down. */
  async close(): Promise<void> {
    this.#passGate();
    await this.#watchdog.stop();
    await this.#messages.close();
  }

  #accept(reply: ChangeMessage): StreamEvent | undefined {
    if (reply.kind === 'message') return this.#feed(reply.message);
    if (this.#watchdog.hasBarked) this.ending = { kind: 'silent' };
    else if (reply.kind === 'failed') this.ending = reply;
    else this.#finish();
    return undefined;
  }

  #feed(message: Buffer): StreamEvent | undefined {
    try {
      return this.#assembler.feed(message);
    } catch (error) {
      this.#breakOff(error);
      return undefined;
    }
  }

  /**
   * Whether the close that came holds. The service ends the call right after it, and is let: a call that is cancelled
   * stands in its log. A call that failed instead has told nothing that could be relied on. One that does not end is
   * cancelled, and its close holds.
   */
  async #isEnded(): Promise<boolean> {
    let closing: Promise<void> | undefined;
    const cancel = this.#tools.clock.after(END_MILLIS, () => {
      closing = this.#messages.close();
      // Awaited below: until then its failure is nobody's.
      closing.catch(() => undefined);
    });
    const reply = await this.#messages.next();
    cancel();
    await closing;
    if (closing || reply.kind === 'finished') return true;
    if (reply.kind === 'failed') this.ending = reply;
    else this.#breakOff(new StreamProtocolError('a message came behind a close'));
    return false;
  }

  #finish(): void {
    this.ending = { kind: 'unclosed' };
    try {
      this.#assembler.end();
    } catch (error) {
      this.#breakOff(error);
    }
  }

  #breakOff(error: unknown): void {
    if (!(error instanceof StreamProtocolError || error instanceof ChangeTooLargeError)) throw error;
    this.ending = { kind: 'broken', error };
  }

  #passGate(): void {
    this.#leaveGate?.();
    this.#leaveGate = undefined;
  }
}
