import { hash } from 'node:crypto';

/** What {@link identityOf} hashes: one record of one message, as one subscription of one pipeline delivers it. */
export interface RecordOrigin {
  readonly pipeline: string;
  /** `projects/p/subscriptions/s`. */
  readonly subscription: string;
  readonly messageId: string;
  /** Position of the record in its message, from 0. */
  readonly recordIndex: number;
}

/**
 * The identity of a record's effect: 128 bits as 32 lowercase hexadecimal digits. Pure. The same at every delivery of
 * the message, so a replay meets its own marker; another for equal data in another message, which is another effect.
 */
export const identityOf = ({ pipeline, subscription, messageId, recordIndex }: RecordOrigin): string =>
  digest('message', pipeline, subscription, messageId, String(recordIndex));

/**
 * The identity of a record whose publisher names it. Pure. Two messages of one id are one effect on their row, whatever
 * they hold; for two rows they are two effects, because the marker is kept in the row. Never equal to an identity of {@link identityOf}: the two are hashed apart.
 */
export const identityOfId = (pipeline: string, id: string): string => digest('id', pipeline, id);

/** Whether a text has the form of an identity. */
export const isIdentity = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);

/** Every field is preceded by its length, so that no two lists of fields are the same bytes. */
function digest(...fields: readonly string[]): string {
  const parts = fields.flatMap((field) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(Buffer.byteLength(field));
    return [length, Buffer.from(field)];
  });
  return hash('sha256', Buffer.concat(parts), 'hex').slice(0, 32);
}
