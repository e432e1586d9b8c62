import type { OutgoingMessage } from '../../model/publishing.ts';
import { EMISSION_ATTRIBUTES } from './attributes.ts';
import { sha256 } from './ordering-key.ts';

/** Kept free in every part for the attributes that tell of it, beside those of the message itself. */
const PART_ENVELOPE_BYTES = 512;

/**
 * The parts of a message that is too large, made one by one: each is a slice of its data with all of its attributes and
 * key. Parts of a message without an ordering key get one of their own, so that they arrive in order where a
 * subscription keeps it. A repetition makes the same parts. Pure.
 *
 * @param overheadBytes what the message's attributes and key take of a message.
 */
export function* partsOf(
  { data, attributes, orderingKey }: OutgoingMessage,
  maxMessageBytes: number,
  overheadBytes: number,
): Generator<OutgoingMessage> {
  const size = maxMessageBytes - overheadBytes - PART_ENVELOPE_BYTES;
  const parts = Math.ceil(data.length / size);
  const { part, parts: total, partOf } = EMISSION_ATTRIBUTES;
  const digest = sha256(data);
  for (let number = 1; number <= parts; number += 1) {
    yield {
      data: data.subarray((number - 1) * size, number * size),
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
