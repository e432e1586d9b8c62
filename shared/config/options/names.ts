import * as z from 'zod';
import { tableNamePartProblem } from '../../model/table-name.ts';
import { pubSubNamePattern, type PubSubCollection } from '../../model/pubsub-name.ts';
import { declare, notBlank, ruled, text } from '../option.ts';

/** Options that are names: of resources, of attributes, of column families. */

/** Limits of Pub/Sub on attributes (https://cloud.google.com/pubsub/quotas#resource_limits). */
const MAX_ATTRIBUTE_KEY_BYTES = 256;

/** One part of a table's address. */
export const tablePart = (about: string) => text(about, tableNamePartProblem, 'not blank, not padded, no "/"');

export function pubSubName(about: string, collection: PubSubCollection) {
  const pattern = pubSubNamePattern(collection);
  const bounds = `an id of 3 to 255 letters, digits and ._~%+- that starts with a letter and not with "goog", or projects/p/${collection}/<id>`;
  const rule = ruled(`must be ${bounds}`);
  return declare(z.string(rule).regex(pattern, rule), about, { type: 'text', bounds, isRequired: true });
}

export const attributeName = (about: string) =>
  text(
    about,
    (value) =>
      notBlank(value) ??
      (Buffer.byteLength(value) > MAX_ATTRIBUTE_KEY_BYTES
        ? `must be at most ${MAX_ATTRIBUTE_KEY_BYTES} bytes of UTF-8`
        : undefined),
    `not blank, at most ${MAX_ATTRIBUTE_KEY_BYTES} bytes`,
  );

/** The column family in which a marker of a write is kept beside what it wrote. */
export const markerFamily = (about: string) => text(about, notBlank, 'not blank');
