import { RedeliverError } from '../base/errors.ts';
import { isIdentity } from '../model/identity.ts';
import { LETTER_PAYLOADS, type LetterPayload, type PushedMessage } from '../model/record.ts';
import { parseTableName } from '../model/table-name.ts';
import { CONNECTOR, isScanLetter, LETTER_ATTRIBUTES, LETTER_NAMES } from './attributes.ts';

/** Whose letters a function takes back. */
export interface LetterReader {
  /** The pipeline that it serves. */
  readonly pipeline: string;
  /** Pipelines whose letters it takes over: names that this one had. */
  readonly acceptLettersOf: readonly string[];
  /** What its records become, and so what its letters hold beside records and messages. */
  readonly form: 'entry' | 'request';
  /** The attribute that names a record's table, if one does: a letter's own name for it stays. */
  readonly destinationAttribute?: string;
}

/**
 * The message that first carried the record of a dead letter, made of the letter as it came back. Pure. Throws a
 * {@link RedeliverError} for whatever is no letter of the pipeline, so that it stays where it is until somebody has
 * looked: nothing of it is written, and it is not acknowledged.
 */
export function openLetter(message: PushedMessage, reader: LetterReader): PushedMessage {
  const { attributes } = message;
  const said = (attribute: keyof typeof LETTER_ATTRIBUTES): string =>
    attributes[LETTER_ATTRIBUTES[attribute].name] ?? '';
  if (isScanLetter(attributes)) throw ofScan();
  if (said('connector') === CONNECTOR && said('payload') === 'excerpt')
    throw excerpt(said('messageId'), said('recordIndex'));
  const payload = LETTER_PAYLOADS.find((known) => known === said('payload'));
  if (said('connector') !== CONNECTOR || payload === undefined) throw noLetter();
  const pipeline = said('pipeline');
  checkPipeline(pipeline, reader);
  checkPayload(payload, reader);
  const destination = parseTableName(said('destination'), undefined);
  const identity = said('identity');
  const letter = {
    payload,
    pipeline,
    recordIndex: Number(wellFormed('recordIndex', said('recordIndex'), /^\d{1,9}$/)),
    ...(destination && { destination }),
    // A message holds many records, each with an identity of its own.
    ...(payload !== 'message' && isIdentity(identity) && { identity }),
  };
  return {
    messageId: wellFormed('messageId', said('messageId'), /./),
    publishTimeMicros: BigInt(wellFormed('publishTime', said('publishTime'), /^\d{1,18}$/)),
    data: message.data,
    attributes: ofTheFirstMessage(attributes, reader.destinationAttribute),
    orderingKey: message.orderingKey,
    subscription: message.subscription,
    letter,
  };
}

const noLetter = (): RedeliverError =>
  refusal(
    `not a dead letter of this connector: ${LETTER_ATTRIBUTES.connector.name} must be ${CONNECTOR} and ${LETTER_ATTRIBUTES.payload.name} one of ${LETTER_PAYLOADS.join(', ')}. The topic for replays takes letters as they were filed; publish records to the topic of the pipeline`,
  );

const ofScan = (): RedeliverError =>
  refusal(
    'a dead letter of a scan: it tells of a row that is still in its table and holds no record. Read the row with a new run of the scan',
  );

const excerpt = (messageId: string, recordIndex: string): RedeliverError =>
  refusal(
    `a dead letter that holds no more than the first bytes of record ${recordIndex.slice(0, 20)} of message ${JSON.stringify(messageId.slice(0, 100))}, which fits in no letter: publish the record again from its source`,
  );

function checkPipeline(filedBy: string, { pipeline, acceptLettersOf }: LetterReader): void {
  if (filedBy === pipeline || acceptLettersOf.includes(filedBy)) return;
  throw refusal(
    `a dead letter of the pipeline ${JSON.stringify(filedBy)}, and this function serves ${JSON.stringify(pipeline)}: publish it to the topic for replays of its own pipeline. Where ${JSON.stringify(pipeline)} took over from a pipeline of that name, set deadLetter.acceptLettersOf: [${filedBy}]`,
  );
}

function checkPayload(payload: LetterPayload, { pipeline, form }: LetterReader): void {
  const other = form === 'entry' ? 'request' : 'entry';
  if (payload !== other) return;
  throw refusal(
    `a dead letter that holds ${payload === 'entry' ? 'an' : 'a'} ${payload}, and the records of ${JSON.stringify(pipeline)} become ${form === 'entry' ? 'entries' : 'requests'}: the pipeline was of another kind when it was filed. Publish it to a pipeline of that kind`,
  );
}

/** Without them a letter that is published twice would count twice, or overtake newer records. */
function wellFormed(attribute: keyof typeof LETTER_ATTRIBUTES, text: string, form: RegExp): string {
  if (form.test(text)) return text;
  const { name, meaning } = LETTER_ATTRIBUTES[attribute];
  throw refusal(
    `a dead letter whose ${name} (${meaning}) is ${text === '' ? 'missing' : JSON.stringify(text.slice(0, 100))}: publish letters with their attributes as they were filed`,
  );
}

const refusal = (what: string): RedeliverError =>
  new RedeliverError('letter', `${what}. Nothing is written, and the message is redelivered`);

/** The serializer sees what it saw at first. */
function ofTheFirstMessage(
  attributes: PushedMessage['attributes'],
  exempt: string | undefined,
): PushedMessage['attributes'] {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => name === exempt || !LETTER_NAMES.has(name)));
}
