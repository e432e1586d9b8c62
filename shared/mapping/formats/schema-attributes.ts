import { RecordError } from '../../base/errors.ts';
import type { ResolvedFormat, WireEncoding } from '../declared/resolved.ts';
import type { PushedMessage } from '../../model/record.ts';

type SchemaFormat = Exclude<ResolvedFormat, { type: 'json' }>;

/**
 * Attributes that Pub/Sub adds to every message of a topic with a schema
 * (https://cloud.google.com/pubsub/docs/validate-schema-messages).
 */
const ENCODING = 'googclient_schemaencoding';
const NAME = 'googclient_schemaname';
const REVISION = 'googclient_schemarevisionid';

export interface SchemaOfMessage {
  readonly encoding: WireEncoding;
  /** The revision that the record was written with, where the mapping lists revisions. */
  readonly revision?: string;
}

/** Which encoding and revision a message has. Throws a `RecordError` where it does not fit the mapping. */
export function schemaOfMessage({ attributes }: PushedMessage, format: SchemaFormat): SchemaOfMessage {
  const name = attribute(attributes, NAME);
  if (format.schemaName !== undefined && name !== undefined && name !== format.schemaName) {
    throw new RecordError(`@attributes.${NAME}: must be the schemaName of the mapping, got another`);
  }
  const encoding = encodingOf(attributes, format);
  if (Object.keys(format.revisions).length === 0) return { encoding };
  const revision = attribute(attributes, REVISION);
  if (revision !== undefined && Object.hasOwn(format.revisions, revision)) return { encoding, revision };
  throw new RecordError(
    `@attributes.${REVISION}: must be one of the revisions of the mapping, got ${revision === undefined ? 'nothing' : 'another'}`,
  );
}

function encodingOf(attributes: PushedMessage['attributes'], format: SchemaFormat): WireEncoding {
  if (format.encoding !== 'attribute') return format.encoding;
  switch (attribute(attributes, ENCODING)) {
    case 'BINARY':
      return 'binary';
    case 'JSON':
      return 'json';
    case undefined:
      throw new RecordError(
        `@attributes.${ENCODING}: must be there, or the mapping must name an encoding; got nothing`,
      );
    default:
      throw new RecordError(`@attributes.${ENCODING}: must be BINARY or JSON, got another text`);
  }
}

const attribute = (attributes: PushedMessage['attributes'], name: string): string | undefined =>
  Object.hasOwn(attributes, name) ? attributes[name] : undefined;
