import type { OutgoingMessage } from '../model/publishing.ts';
import type { Status } from '../model/status.ts';
import type { EmissionError } from './failure.ts';
import type { WireMessage } from './ports.ts';

/** Whose messages they are. None of the methods throws; each message ends by exactly one of them. */
export interface Owner {
  /** Messages above it may not begin to leave any more: an earlier one failed. Infinity while none did. */
  readonly lastSequence: number;
  confirmed(message: Outbound): void;
  /** The message was not handed on. Undefined: because of the owner's own failure. */
  failed(message: Outbound, failure: EmissionError | undefined): void;
  /**
   * The topic will never take the message as it is. Resolves when it has ended, confirmed or failed; nothing of its
   * ordering key leaves before.
   */
  refused(message: Outbound, problem: string, status: Status | undefined): Promise<void>;
}

/** A message that waits for its turn or is on its way. */
export interface Outbound extends WireMessage {
  readonly message: OutgoingMessage;
  readonly owner: Owner;
  /** Its place among the messages of its owner. */
  readonly sequence: number;
  /** Why it is not even sent, where a look at it told. */
  readonly problem: string | undefined;
}

export const isHeldBack = ({ sequence, owner }: Outbound): boolean => sequence > owner.lastSequence;
