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
export class Outbound implements WireMessage {
  readonly owner: Owner;
  /** Its place among the messages of its owner. */
  readonly sequence: number;
  /** What it holds of a budget, for its owner to know. */
  held: number;
  /** Of the encoded message, without its frame. */
  bytes = 0;
  slab: OutboundSlab = NOTHING;
  /** Why it is not even sent, where a look at it told. */
  problem: string | undefined = undefined;
  start = 0;
  end = 0;
  data: Buffer | undefined = undefined;
  /** Called when it has ended, and with it every use of its data. */
  release: (() => void) | undefined = undefined;

  constructor(owner: Owner, sequence: number, held: number) {
    this.owner = owner;
    this.sequence = sequence;
    this.held = held;
  }

  confirm(): void {
    this.owner.confirmed(this);
    this.#leaveSlab();
  }

  /** @param failure undefined: its owner's. */
  fail(failure: EmissionError | undefined): void {
    this.owner.failed(this, failure);
    this.#leaveSlab();
  }

  async refuse(problem: string, status: Status | undefined): Promise<void> {
    await this.owner.refused(this, problem, status);
    this.#leaveSlab();
  }

  #leaveSlab(): void {
    const { slab } = this;
    this.slab = NOTHING;
    slab.leave();
    this.release?.();
    this.release = undefined;
  }
}

/** Where it is written down, which is told when the message has ended. */
interface OutboundSlab {
  readonly buffer: Buffer;
  leave(): void;
}

const NOTHING: OutboundSlab = { buffer: Buffer.alloc(0), leave: () => undefined };

export const isHeldBack = ({ sequence, owner }: Outbound): boolean => sequence > owner.lastSequence;
