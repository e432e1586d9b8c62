import type { Refusal } from './refusals.ts';

/**
 * The bytes of bodies that an instance holds, against their cap. A body holds its room from before its first byte is
 * read until its message is processed, because what it becomes is held as long. Pure.
 *
 * Nobody waits: what finds no room is refused, and Pub/Sub sends it again. A body that is alone always gets in, or one
 * above the cap would never be processed; so the bytes held are at most the cap, or one body.
 */
export class BodyAdmission {
  readonly #maxBytes: number;
  #held = 0;

  /** @param maxBytes of all bodies together. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes of the bodies that are in. */
  get held(): number {
    return this.#held;
  }

  /** Whether a body that holds `own` bytes may hold so many more; if so it does. */
  take(own: number, more: number): boolean {
    const others = this.#held - own;
    if (others > 0 && this.#held + more > this.#maxBytes) return false;
    this.#held += more;
    return true;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }
}

/** The room of one body. */
export class BodyRoom {
  readonly #admission: BodyAdmission;
  readonly #maxBytes: number;
  #held = 0;

  /** @param maxBytes the largest body that is taken. */
  constructor(admission: BodyAdmission, maxBytes: number) {
    this.#admission = admission;
    this.#maxBytes = maxBytes;
  }

  /** Room for `more` bytes; the refusal where there is none, and nothing has changed then. */
  take(more: number): Refusal | undefined {
    if (this.#held + more > this.#maxBytes) return 'too-large';
    if (!this.#admission.take(this.#held, more)) return 'no-room';
    this.#held += more;
    return undefined;
  }

  /** Gives all of it back. Harmless when it was given back before. */
  release(): void {
    this.#admission.give(this.#held);
    this.#held = 0;
  }
}

/** What of an instance's memory bodies may be: a message takes several times its body while it is worked on. */
const SHARE = 1 / 16;

/** What functions are deployed with, where the process knows no limit of its own. */
const DEPLOYED_BYTES = 512 * 1024 * 1024;

/**
 * The cap where none is configured: a sixteenth of the memory that the instance is given.
 *
 * @param constrained the limit of the process; 0, undefined, or more than there is: none.
 * @param total memory of the machine.
 */
export function defaultPushedBytes(constrained: number | undefined, total: number): number {
  const isLimit = constrained !== undefined && constrained > 0 && constrained <= total;
  return Math.floor((isLimit ? constrained : Math.min(total, DEPLOYED_BYTES)) * SHARE);
}
