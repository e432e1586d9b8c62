import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type Taken, TakenBody } from './take-body.ts';

const inflate = promisify(gunzip);

/** What a gzip member begins with; it ends with the length of what it holds, modulo 2^32. */
const MAGIC = 0x1f8b;
const SHORTEST = 18;
const LENGTH_BYTES = 4;

export const isGzip = ({ headers }: IncomingMessage): boolean =>
  headers['content-encoding']?.trim().toLowerCase() === 'gzip';

/**
 * A body in gzip as the bytes that were meant. Room for them is taken before the first is inflated, by the length that
 * the member itself tells, and inflation ends where it says more.
 */
export async function inflated(body: TakenBody): Promise<Taken> {
  const bytes = body.take();
  const { room } = body;
  const refuse = (refusal: Exclude<Taken, TakenBody>): Taken => {
    room.release();
    return refusal;
  };
  if (bytes.length < SHORTEST || bytes.readUInt16BE(0) !== MAGIC) return refuse('not-gzip');
  const length = bytes.readUInt32LE(bytes.length - LENGTH_BYTES);
  const refusal = room.take(length);
  if (refusal !== undefined) return refuse(refusal);
  try {
    // One byte more would be another member, or a member that lies.
    const whole = await inflate(bytes, { maxOutputLength: Math.max(1, length) });
    return whole.length === length ? new TakenBody(whole, room) : refuse('not-gzip');
  } catch {
    return refuse('not-gzip');
  }
}
