import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../shared/base/clock.ts';
import { type BodyAdmission, BodyRoom } from './admission.ts';
import { announcedBytes, notTaken, UNKNOWN_LENGTH } from './own-bodies.ts';
import type { Refusal } from './refusals.ts';

/** How an instance takes the bodies of its requests. */
export interface Intake {
  readonly admission: BodyAdmission;
  /** Largest body, in bytes. */
  readonly maxBytes: number;
  readonly clock: Clock;
}

/** A whole body, and the room that it holds until {@link release}. */
export class TakenBody {
  readonly room: BodyRoom;
  #bytes: Buffer;

  constructor(bytes: Buffer, room: BodyRoom) {
    this.#bytes = bytes;
    this.room = room;
  }

  /** The bytes, once: what has been read of them is garbage from then on, however long the message takes. */
  take(): Buffer {
    const bytes = this.#bytes;
    this.#bytes = NOTHING;
    return bytes;
  }

  /** Gives the room back. Harmless a second time. */
  release(): void {
    this.room.release();
  }
}

export type Taken = TakenBody | Refusal;

const NOTHING = Buffer.alloc(0);

/** How often a body is looked at that is not whole: nothing came since the last look, or {@link MAX_CHECKS} of them, and it is given up. */
export const STALL_MILLIS = 10_000;
const MAX_CHECKS = 6;

/** What is left of a body that was refused may go by for so long; then its connection is cut. */
export const LINGER_MILLIS = 5_000;

/**
 * Reads the body of a request, within the instance's room for bodies: decided by its length before anything is read, or
 * as its chunks come. Nearly every push is there as a whole, and costs no promise.
 *
 * @throws {Error} where nothing took the headers of the request: see {@link ownBodies}.
 */
export function takeBody(request: IncomingMessage, intake: Intake): Taken | Promise<Taken> {
  const length = announcedBytes(request);
  if (length === undefined) throw new Error(notTaken());
  const room = new BodyRoom(intake.admission, intake.maxBytes);
  const refusal = length === UNKNOWN_LENGTH ? undefined : room.take(length);
  if (refusal !== undefined) return refusal;
  const first = request.read() as Buffer | null;
  if ((first?.length ?? 0) === length) return new TakenBody(first ?? NOTHING, room);
  return new Arrival(request, room, first, length).whole(intake.clock);
}

/** Whether the body is coded in any way; `identity` is none. */
export function hasContentCoding({ headers }: IncomingMessage): boolean {
  const coding = headers['content-encoding'];
  return coding !== undefined && coding.trim().toLowerCase() !== 'identity';
}

/** Lets the rest of a refused body go by, so that its sender gets to read the answer. */
export function discardBody(request: IncomingMessage, clock: Clock): void {
  if (!request.complete) {
    const cancel = clock.after(LINGER_MILLIS, () => request.destroy());
    request.once('close', cancel);
  }
  request.resume();
}

/** A body of which a part is still to come. */
class Arrival {
  readonly #request: IncomingMessage;
  readonly #room: BodyRoom;
  readonly #length: number;
  /** Of a known length: made once, so that no chunk is held beside it. */
  readonly #whole: Buffer | undefined;
  readonly #chunks: Buffer[] = [];
  #received = 0;

  constructor(request: IncomingMessage, room: BodyRoom, first: Buffer | null, length: number) {
    this.#request = request;
    this.#room = room;
    this.#length = length;
    this.#whole = length === UNKNOWN_LENGTH ? undefined : Buffer.allocUnsafeSlow(length);
    this.#chunks = first ? [first] : [];
  }

  /** Resolves with the body, or with the reason that it is not taken, its room given back. */
  whole(clock: Clock): Promise<Taken> {
    return new Promise((resolve) => {
      const request = this.#request;
      const end = (taken: Taken): void => {
        cancel();
        request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
        // What a connection says after that is nobody's.
        request.on('error', () => undefined);
        if (typeof taken === 'string') this.#room.release();
        resolve(taken);
      };
      const onData = (chunk: Buffer): void => {
        const refusal = this.#add(chunk);
        if (refusal !== undefined) end(refusal);
      };
      const onEnd = (): void => {
        end(this.#body());
      };
      const onClose = (): void => {
        end('incomplete');
      };
      let cancel = (): void => undefined;
      const watch = (checks: number, before: number): void => {
        cancel = clock.after(STALL_MILLIS, () => {
          if (checks === MAX_CHECKS || this.#received === before) end('stalled');
          else watch(checks + 1, this.#received);
        });
      };
      const refusal = this.#addFirst();
      if (refusal !== undefined) {
        end(refusal);
        return;
      }
      watch(1, this.#received);
      request.on('data', onData).once('end', onEnd).once('close', onClose).once('error', onClose);
    });
  }

  #addFirst(): Refusal | undefined {
    const first = this.#chunks.pop();
    return first && this.#add(first);
  }

  #add(chunk: Buffer): Refusal | undefined {
    if (this.#whole) chunk.copy(this.#whole, this.#received);
    else {
      const refusal = this.#room.take(chunk.length);
      if (refusal !== undefined) return refusal;
      this.#chunks.push(chunk);
    }
    this.#received += chunk.length;
    return undefined;
  }

  #body(): Taken {
    if (this.#whole && this.#received !== this.#length) return 'incomplete';
    return new TakenBody(this.#whole ?? Buffer.concat(this.#chunks), this.#room);
  }
}
