/**
 * The attributes of a dead letter. Pure data: whoever writes, reads, publishes back or explains a letter goes by this
 * table, so an attribute is added here alone.
 */
export interface LetterAttribute {
  readonly name: string;
  /** In Markdown, without a full stop. */
  readonly meaning: string;
  /** `taken-off`: describes this one failure, and means nothing to the next delivery. */
  readonly atReplay: 'kept' | 'taken-off';
}

/** What marks a letter as one of this connector. */
export const CONNECTOR = 'bigtable';

export const LETTER_ATTRIBUTES = {
  connector: {
    name: 'dlq-connector',
    meaning: `\`${CONNECTOR}\``,
    atReplay: 'kept',
  },
  pipeline: {
    name: 'dlq-pipeline',
    meaning: "the pipeline's name",
    atReplay: 'kept',
  },
  destination: {
    name: 'dlq-destination',
    meaning: '`project.instance.table`; usable as a `destinationAttribute`',
    atReplay: 'kept',
  },
  reason: {
    name: 'dlq-reason',
    meaning: '`serializer`, `rejected`, `beyond-horizon` or `not-allowed`',
    atReplay: 'taken-off',
  },
  error: {
    name: 'dlq-error',
    meaning: "the serializer's or the service's words, at most 1,024 bytes",
    atReplay: 'taken-off',
  },
  timestamp: {
    name: 'dlq-timestamp',
    meaning: 'when it was filed, RFC 3339',
    atReplay: 'taken-off',
  },
  payload: {
    name: 'dlq-payload',
    meaning:
      'what its data is: `entry`, `request`, `record`, `message` where the frame of a whole message is broken, or `excerpt`: the first bytes of one that fits in no letter',
    atReplay: 'kept',
  },
  bytes: {
    name: 'dlq-original-bytes',
    meaning: 'of an excerpt: how many bytes there were',
    atReplay: 'kept',
  },
  digest: {
    name: 'dlq-original-digest',
    meaning: 'of an excerpt: the SHA-256 of all of them, 64 hexadecimal digits',
    atReplay: 'kept',
  },
  identity: {
    name: 'dlq-identity',
    meaning: 'of a record that counts exactly once: what its effect is known by, 32 hexadecimal digits',
    atReplay: 'kept',
  },
  messageId: {
    name: 'dlq-original-message-id',
    meaning: 'the id of the first message that carried the record',
    atReplay: 'kept',
  },
  recordIndex: {
    name: 'dlq-record-index',
    meaning: "the record's position in that message, from 0",
    atReplay: 'kept',
  },
  publishTime: {
    name: 'dlq-original-publish-time-micros',
    meaning: 'when that message was published, microseconds since the epoch',
    atReplay: 'kept',
  },
  attributesDropped: {
    name: 'dlq-attributes-dropped',
    meaning: "attributes of the message that Pub/Sub's limits left no room for, where there are any",
    atReplay: 'taken-off',
  },
} as const satisfies Readonly<Record<string, LetterAttribute>>;

export const letterAttributes: readonly LetterAttribute[] = Object.values(LETTER_ATTRIBUTES);

const namesOf = (attributes: readonly LetterAttribute[]): ReadonlySet<string> =>
  new Set(attributes.map(({ name }) => name));

/** The names of all. */
export const LETTER_NAMES = namesOf(letterAttributes);

/** The names of those that describe the failure. */
export const FAILURE_NAMES = namesOf(letterAttributes.filter(({ atReplay }) => atReplay === 'taken-off'));

/**
 * The attributes of a letter of a scan source: it tells of a row that is still in its table, so no replay takes it back,
 * and what says how to is not there.
 */
export const SCAN_LETTER_ATTRIBUTES = {
  connector: LETTER_ATTRIBUTES.connector,
  pipeline: LETTER_ATTRIBUTES.pipeline,
  run: { name: 'dlq-run', meaning: 'the id of the run' },
  split: { name: 'dlq-split', meaning: 'the split that the row belongs to' },
  reason: {
    name: LETTER_ATTRIBUTES.reason.name,
    meaning: '`oversized-row`, `oversized-message`, `refused` or `form`',
  },
  problem: { name: LETTER_ATTRIBUTES.error.name, meaning: 'the rule that decided, at most 1,024 bytes' },
  bytes: {
    name: LETTER_ATTRIBUTES.bytes.name,
    meaning: 'how many bytes there were, where the letter holds only the first',
  },
} as const satisfies Readonly<Record<string, Pick<LetterAttribute, 'name' | 'meaning'>>>;

/** A letter of a scan. One of a sink says what its data is, whatever attributes its message had. */
export const isScanLetter = (attributes: Readonly<Record<string, string>>): boolean =>
  attributes[LETTER_ATTRIBUTES.connector.name] === CONNECTOR &&
  attributes[SCAN_LETTER_ATTRIBUTES.run.name] !== undefined &&
  attributes[LETTER_ATTRIBUTES.payload.name] === undefined;
