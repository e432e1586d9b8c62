import * as z from 'zod';
import { tableIdProblem, tableNamePartProblem } from '../../model/table-name.ts';
import { pubSubNamePattern, type PubSubCollection } from '../../model/pubsub-name.ts';
import { declare, notBlank, ruled, text } from '../option.ts';

/** Options that are names: of resources, of attributes, of column families. */

/** Limits of Pub/Sub on attributes (https://cloud.google.com/pubsub/quotas#resource_limits). */
const MAX_ATTRIBUTE_KEY_BYTES = 256;

/** What Bigtable takes for the name of a family. */
export const FAMILY_NAME = /^[-_.a-zA-Z0-9]{1,64}$/;

/** A project or an instance, as a part of a table's address. */
export const addressPart = (about: string) => text(about, tableNamePartProblem, 'not blank, not padded, no "/"');

/** The id of a table. */
export const tableId = (about: string) => text(about, tableIdProblem, '1 to 50 letters, digits, "_", "-" and "."');

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

const FAMILY_BOUNDS = '1 to 64 letters, digits, "-", "_" and "."';

/** The column family in which a marker of a write is kept beside what it wrote. */
export const markerFamily = (about: string) =>
  text(
    about,
    (value) => notBlank(value) ?? (FAMILY_NAME.test(value) ? undefined : `must be ${FAMILY_BOUNDS}`),
    FAMILY_BOUNDS,
  );
