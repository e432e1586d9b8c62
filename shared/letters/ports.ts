import type { DeadLetter } from './write.ts';

/** The dead-letter topic. Resolves once the publish is confirmed, which is when the letter is durable. */
export interface DeadLetterTopic {
  publish(letter: DeadLetter, signal: AbortSignal): Promise<void>;
  /** Sends what is queued and closes the client, within `shutdownTimeout`. */
  close(): Promise<void>;
}
