import { createHash } from 'node:crypto';
import type { LargeData, LargeMessage, OutgoingMessage } from '../../model/publishing.ts';
import { EMISSION_ATTRIBUTES } from './attributes.ts';

/** Kept free in every part for the attributes that tell of it, beside those of the message itself. */
const PART_ENVELOPE_BYTES = 512;

/**
 * The parts of a message that is too large, made one by one: each is a piece of its data with all of its attributes and
 * key. Parts of a message without an ordering key get one of their own, so that they arrive in order where a
 * subscription keeps it. A repetition makes the same parts. Pure.
 *
 * @param overheadBytes what the message's attributes and key take of a message.
 */
export function* partsOf(
  { data, attributes, orderingKey }: OutgoingMessage | LargeMessage,
  maxMessageBytes: number,
  overheadBytes: number,
): Generator<OutgoingMessage> {
  const size = maxMessageBytes - overheadBytes - PART_ENVELOPE_BYTES;
  const { bytes, digest } = summaryOf(data);
  const parts = Math.ceil(bytes / size);
  const { part, parts: total, partOf } = EMISSION_ATTRIBUTES;
  let number = 0;
  for (const slice of slicesOf(data, size, bytes)) {
    number += 1;
    yield {
      data: slice,
      attributes: {
        ...attributes,
        [part.name]: String(number),
        [total.name]: String(parts),
        [partOf.name]: digest,
      },
      orderingKey: orderingKey ?? digest,
    };
  }
}

/** The pieces of the data, made one after the other. */
const piecesOf = (data: Buffer | LargeData): Iterable<Buffer> => (Buffer.isBuffer(data) ? [data] : data.pieces());

function summaryOf(data: Buffer | LargeData): { readonly bytes: number; readonly digest: string } {
  const hash = createHash('sha256');
  let bytes = 0;
  for (const piece of piecesOf(data)) {
    hash.update(piece);
    bytes += piece.length;
  }
  return { bytes, digest: hash.digest('hex') };
}

/** The data in slices of `size` bytes, the last with what is left. Data that is there as a whole is not copied. */
function* slicesOf(data: Buffer | LargeData, size: number, bytes: number): Generator<Buffer> {
  if (Buffer.isBuffer(data)) {
    for (let at = 0; at < bytes; at += size) yield data.subarray(at, at + size);
    return;
  }
  let left = bytes;
  let filled = 0;
  let slice = Buffer.allocUnsafeSlow(Math.min(size, left));
  for (const piece of data.pieces()) {
    for (let at = 0; at < piece.length;) {
      const copied = piece.copy(slice, filled, at);
      at += copied;
      filled += copied;
      if (filled < slice.length) continue;
      yield slice;
      left -= filled;
      filled = 0;
      slice = Buffer.allocUnsafeSlow(Math.min(size, left));
    }
  }
}

/** Data that is to be held as a whole. */
export const wholeOf = (data: LargeData): Buffer => Buffer.concat([...data.pieces()]);

export function largeDataBytes(data: LargeData): number {
  let bytes = 0;
  for (const piece of data.pieces()) bytes += piece.length;
  return bytes;
}
